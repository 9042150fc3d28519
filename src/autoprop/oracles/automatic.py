"""Automatic derivatives in both modes, where a function has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import jaxpr_as_fun

from .._jaxprs import lacks_forward_mode
from .._subject import Subject

__all__ = ["both_modes", "forward_mode", "missing_mode", "reverse_mode"]

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
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError):
        return _eagerly(push, moved, v)
    except Exception:  # noqa: BLE001  whatever a rule under test raises
        return None


def _eagerly(push: Callable[[Any, Any], Any], moved: Any, v: Any) -> list[Any] | None:
    """
    The tangents of a function that asks for its values, which a trace does not know; None inside of a trace.
    """
    try:
        return list(push(moved, v))
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


def missing_mode(subject: Subject) -> dict[str, bool]:
    """
    Say for ``forward`` and ``reverse`` whether a subject lacks that mode of differentiation; nothing is compiled.
    """
    if "missing modes" not in subject.memo:
        moved, held = subject.split(jax.tree.unflatten(subject.treedef, subject.leaves))

        def f(m: Any) -> list[Any]:
            return subject.f(m, held)

        found: dict[str, bool] = {}

        def trace(m: Any, v: Any, u: Any) -> None:
            found["forward"] = forward_mode(f, m, v) is None
            found["reverse"] = reverse_mode(f, m, u) is None

        try:
            if subject.is_traceable:
                jax.eval_shape(trace, moved, moved, subject.inexact_outputs)
            else:
                trace(moved, moved, [jnp.zeros(y.shape, y.dtype) for y in subject.inexact_outputs])
        except Exception:  # noqa: BLE001  a function that cannot be traced has no derivative either
            found = {"forward": True, "reverse": True}
        subject.memo["missing modes"] = found
    modes: dict[str, bool] = subject.memo["missing modes"]
    return modes


def both_modes(f: Function, moved: Any, v: Any, u: Any) -> tuple[list[Any], list[Any] | None, list[Any] | None]:
    """
    Return f(moved), J·v and Jᵀ·u; None for a mode that is not there.
    """
    return f(moved), forward_mode(f, moved, v), reverse_mode(f, moved, u)
