"""Argument trees written as Python source that can be pasted."""

from __future__ import annotations

import dataclasses
import enum
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import jax
import numpy as np

from ._numerals import array_source, key_source, number, python_number
from ._trees import is_key

__all__ = ["assignments"]

WIDTH = 76  # and four columns of margin
DEPTH = 12


@attrs.frozen
class _Group:
    """
    Something in brackets, which is broken into lines where it does not fit into one.
    """

    opening: str
    items: tuple[tuple[str, _Node], ...]
    closing: str

    @property
    def flat(self) -> str:
        return self.opening + ", ".join(prefix + _flat(item) for prefix, item in self.items) + self.closing


_Node = str | _Group


def _flat(node: _Node) -> str:
    return node if isinstance(node, str) else node.flat


def _lay_out(node: _Node, indent: int, used: int) -> str:
    """
    Write a node whose first line starts behind ``used`` characters and whose other lines are indented.
    """
    flat = _flat(node)
    if isinstance(node, str) or used + len(flat) <= WIDTH or not node.items:
        return flat
    if len(node.items) == 1 and not node.items[0][0] and isinstance(node.items[0][1], _Group):
        inner = _lay_out(node.items[0][1], indent, used + len(node.opening + node.closing))
        return node.opening + inner + node.closing
    inside = indent + 4
    margin = "\n" + " " * inside
    lines: list[str] = []
    for prefix, item in node.items:
        text = prefix + _lay_out(item, inside, inside + len(prefix))
        simple = isinstance(item, str) and not prefix
        if simple and lines and "\n" not in lines[-1] and inside + len(lines[-1]) + len(text) + 3 <= WIDTH:
            lines[-1] += f" {text},"
        else:
            lines.append(f"{text},")
    closing = node.closing.removeprefix(",")
    return node.opening + margin + margin.join(lines) + "\n" + " " * indent + closing


def _elements(nested: list[Any] | str) -> _Node:
    return nested if isinstance(nested, str) else _Group("[", tuple(("", _elements(row)) for row in nested), "]")


class _Writer:
    """
    Turns a tree into nodes; ``remarks`` says what the source leaves out.
    """

    def __init__(self) -> None:
        self.remarks: list[str] = []

    def remark(self, path: str, text: str) -> None:
        if text:
            self.remarks.append(f"{path}: {text}")

    def write(self, value: Any, path: str, depth: int = 0) -> _Node:
        """
        Return the node of a value.
        """
        if depth > DEPTH:
            self.remark(path, "nested too deeply to be shown")
            return "..."
        if value is None or isinstance(value, enum.Enum):
            return str(value)
        if type(value) in (bool, int, str, bytes):
            return repr(value)
        if type(value) in (float, complex):
            return python_number(value)
        if isinstance(value, np.generic):
            return self.scalar(value, path)
        if is_key(value):
            return self.array(key_source(value), path)
        if isinstance(value, (jax.Array, np.ndarray)):
            return self.array(array_source(value), path)
        return self.container(value, path, depth + 1)

    def scalar(self, value: np.generic, path: str) -> _Node:
        before, nested, after, remark = array_source(np.asarray(value))
        self.remark(path, remark)
        if nested is None:
            return before
        if type(value).__module__ == "numpy":
            return f"np.{value.dtype.name.replace('bool', 'bool_')}({number(value)})"
        return f"np.array({number(value)}{after}[()]"

    def array(self, parts: tuple[str, Any, str, str], path: str) -> _Node:
        before, nested, after, remark = parts
        self.remark(path, remark)
        return before if nested is None else _Group(before, (("", _elements(nested)),), after)

    def container(self, value: Any, path: str, depth: int) -> _Node:
        """
        Return the node of a container or of an object that is no array.
        """
        name = type(value).__qualname__
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return self.fields(value, name, [(field, field) for field in value._fields], path, depth)
        if isinstance(value, (list, tuple)):
            items = tuple(("", self.write(item, f"{path}[{i}]", depth)) for i, item in enumerate(value))
            brackets = ("[", "]") if isinstance(value, list) else ("(", ",)" if len(value) == 1 else ")")
            return _Group(brackets[0], items, brackets[1])
        if isinstance(value, Mapping):
            pairs = tuple((f"{key!r}: ", self.write(item, f"{path}[{key!r}]", depth)) for key, item in value.items())
            return _Group("{", pairs, "}") if type(value) is dict else _Group(f"{name}({{", pairs, "})")
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = [(field.name, field.name) for field in dataclasses.fields(value)]
            return self.fields(value, name, names, path, depth)
        if attrs.has(type(value)):
            return self.fields(
                value, name, [(field.name, field.alias) for field in attrs.fields(type(value))], path, depth
            )
        if callable(value):
            called = getattr(value, "__qualname__", "<")
            if "<" not in called:
                return f"{value.__module__}.{called}"
        self.remark(path, f"a {type(value).__module__}.{name}")
        return "..."

    def fields(self, value: Any, name: str, names: Sequence[tuple[str, str]], path: str, depth: int) -> _Node:
        shown = [(field, alias) for field, alias in names if hasattr(value, field)]
        items = tuple(
            (f"{alias}=", self.write(getattr(value, field), f"{path}.{field}", depth)) for field, alias in shown
        )
        try:
            accepted = set(inspect.signature(type(value)).parameters)
        except (TypeError, ValueError):  # a class whose constructor has no signature
            accepted = set()
        if not {alias for _, alias in shown} <= accepted:
            self.remark(path, f"the fields of {name}; its constructor takes other arguments")
        return _Group(f"{name}(", items, ")")


def assignments(names: Sequence[str], values: Sequence[Any]) -> list[str]:
    """
    Write one assignment per argument.

    What the source does not say (an array too long to be shown, an object that has no literal) stands in a comment
    in front of it.

    Args:
        names: name of each argument; one that is no identifier, such as ``args[0]``, becomes ``arg0``.
        values: the arguments.

    Returns:
        One text for each argument; a long one has several lines.
    """
    written = []
    for i, value in enumerate(values):
        name = names[i] if i < len(names) and names[i].isidentifier() else f"arg{i}"
        writer = _Writer()
        node = writer.write(value, name)
        text = f"{name} = " + _lay_out(node, 0, len(name) + 3)
        written.append("".join(f"# {remark}\n" for remark in writer.remarks) + text)
    return written
