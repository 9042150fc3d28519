"""Which function a traced program comes from."""

from __future__ import annotations

from typing import Any

import jax

__all__ = ["is_of_jax", "written_at"]


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
