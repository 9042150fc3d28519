"""The laws and the environment as tables for the screen."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoprop._environment import Environment
from autoprop.properties import Property

__all__ = ["environment_table", "law_page", "law_table"]


def law_table(laws: Mapping[str, Property]) -> RenderableType:
    """
    Return every law with its formula, by group.
    """
    parts: list[RenderableType] = []
    width = max(map(len, laws)) + 2
    for group in dict.fromkeys(law.group for law in laws.values()):
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(min_width=width, no_wrap=True)
        table.add_column(overflow="fold")
        for law in laws.values():
            if law.group == group:
                table.add_row(Text(f"  {law.name}", "cyan"), Text(law.formula.replace("``", "")))
        parts += [Text(group, "bold"), table, Text()]
    parts.append(Text("autoprop laws NAME tells why a law must hold, what it catches and what it does not."))
    return Group(*parts)


def law_page(law: Property) -> RenderableType:
    """
    Return a law's documentation.
    """
    text = inspect.cleandoc(law.doc).replace("**", "").replace("``", "")
    return Group(Text(f"{law.name} ({law.group})", "bold"), Text(), Text(text))


def environment_table(environment: Environment, more: Mapping[str, str]) -> RenderableType:
    """
    Return versions, devices and numeric modes.
    """
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    fields = {
        **{
            name: getattr(environment, name)
            for name in ("autoprop", "jax", "jaxlib", "numpy", "hypothesis", "python", "platform")
        },
        "device": environment.device,
        "x64": "on" if environment.x64 else "off",
        "matmul precision": environment.matmul_precision,
        **more,
    }
    for name, value in fields.items():
        table.add_row(Text(name, "cyan"), Text(value))
    return table
