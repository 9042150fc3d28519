"""Which functions and lines a traced program comes from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from ._jaxprs import equations
from ._trees import is_array

__all__ = ["is_of_jax", "source_line", "stop_gradient_lines", "written_at"]


def written_at(program: Any) -> tuple[str, str]:
    """
    Return the name of the function that a jaxpr was traced from, and ``file:line`` of its definition if that is known.
    """
    name, _, where = str(getattr(program, "jaxpr", program).debug_info.func_src_info).partition(" at ")
    return name, where


def is_of_jax(program: Any) -> bool:
    """
    Say whether a jaxpr was traced from a function of JAX's own library.
    """
    return written_at(program)[1].startswith(tuple(jax.__path__))


def stop_gradient_lines(fn: Callable[..., Any], primals: tuple[Any, ...]) -> list[str]:
    """
    Return ``file:line`` of each `jax.lax.stop_gradient` that a function calls at these arguments, each once.
    """
    leaves, treedef = jax.tree.flatten(primals)
    traced = [i for i, leaf in enumerate(leaves) if is_array(leaf)]

    def call(values: list[Any]) -> Any:
        merged = list(leaves)
        for i, value in zip(traced, values, strict=True):
            merged[i] = value
        return fn(*jax.tree.unflatten(treedef, merged))

    try:
        closed = jax.make_jaxpr(call)([leaves[i] for i in traced])
    except Exception:  # noqa: BLE001  advice only: a function that cannot be traced has no lines to name
        return []
    found = [source_line(eqn) for eqn in equations(closed) if eqn.primitive.name == "stop_gradient"]
    return list(dict.fromkeys(line for line in found if line))


def source_line(eqn: Any) -> str:
    """
    Return ``file:line`` of the user's code that made an equation, or an empty string if JAX does not tell.
    """
    try:  # private, see ARCHITECTURE.md: without it messages only lack the line
        from jax._src import source_info_util

        frame = source_info_util.user_frame(eqn.source_info.traceback)
        return f"{frame.file_name}:{frame.start_line}" if frame else ""
    except (ImportError, AttributeError, TypeError):
        return ""
