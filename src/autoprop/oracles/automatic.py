"""Automatic derivatives in both modes, where a function has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import jaxpr_as_fun

from .._jaxprs import lacks_forward_mode

__all__ = ["both_modes", "forward_mode", "reverse_mode"]

Function = Callable[[Any], list[Any]]


def forward_mode(f: Function, moved: Any, v: Any) -> list[Any] | None:
    """
    Return J·v, or None where there is no forward mode: JAX refuses it, or a rule raises, which `structure` reports.
    """

    def push(m: Any, t: Any) -> Any:
        return jax.jvp(f, (m,), (t,))[1]

    try:
        closed = jax.make_jaxpr(push)(moved, v)
        # a custom_vjp function refuses forward mode only when it is compiled, too late to be caught here
        if lacks_forward_mode(closed):
            return None
        return list(jaxpr_as_fun(closed)(*jax.tree.leaves((moved, v))))
    except Exception:  # noqa: BLE001  whatever a rule under test raises
        return None


def reverse_mode(f: Function, moved: Any, u: Any) -> list[Any] | None:
    """
    Return Jᵀ·u, or None where the function has no reverse mode: JAX refuses it, or a rule raises.
    """
    try:
        found: list[Any] = jax.vjp(f, moved)[1](u)[0]
    except Exception:  # noqa: BLE001  whatever a rule under test raises
        return None
    return found


def both_modes(f: Function, moved: Any, v: Any, u: Any) -> tuple[list[Any], list[Any] | None, list[Any] | None]:
    """
    Return f(moved), J·v and Jᵀ·u; None for a mode that is not there.
    """
    return f(moved), forward_mode(f, moved, v), reverse_mode(f, moved, u)
