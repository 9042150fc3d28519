"""The law `export`: a function that is exported and read back is the function."""

from __future__ import annotations

import importlib.util
from typing import Any

import jax
from jax import export as jax_export

from .._point import Point
from .._subject import Subject
from .._verdict import Verdict
from ..oracles.automatic import missing_mode
from ..oracles.bounded import fast
from ._law import law
from ._transformed import Function, derivative, transformed
from .numeric import applies_to_values

__all__ = ["export"]


@law("transforms", applies=applies_to_values, once=True)
def export(subject: Subject, point: Point) -> Verdict:
    """
    deserialize(serialize(export(f)))(x) = f(x), and the gradient with it, up to rounding

    An exported function is a program that runs without its Python code, and so is its gradient. Bytes are written and
    read where the package flatbuffers is installed, which `jax.export` needs for it; else the exported program is
    called as it is. Where there is no reverse mode, only the value is compared. What JAX does not export (host
    callbacks, custom calls without a promise of stability) is undecided, with JAX's reason.

    **Catches** values and gradients that depend on when the function is traced: counters, schedules and tables that
    change from one trace to the next.

    **Does not catch** faults on another platform or at another shape than those of the point.
    """
    modes = () if missing_mode(subject)["reverse"] else ("reverse",)

    def build() -> Any:
        under = _read_back(subject.f, len(modes))
        if modes:
            return fast(subject, derivative(subject, under))
        return fast(subject, lambda moved, held, v, u: under(moved, held))

    return transformed(subject, point, "exported(f)", build, modes)


def _read_back(function: Function, order: int) -> Function:
    """
    Return the function as it is after an export, with its first ``order`` derivatives.

    Raises:
        NotImplementedError: from the function, where JAX does not export it.
    """

    def under(moved: Any, held: Any) -> list[Any]:
        shapes = jax.tree.map(_shape, (moved, held))
        try:
            exported = jax_export.export(jax.jit(function))(*shapes)
            if importlib.util.find_spec("flatbuffers") is not None:
                exported = jax_export.deserialize(exported.serialize(vjp_order=order))
            elif order:
                exported.vjp()  # raises here what it would raise inside of the backward pass
        except Exception as error:
            lines = str(error).strip().splitlines() or [""]
            raise NotImplementedError(f"it is not exported: {type(error).__name__}: {lines[0]}") from error
        found: list[Any] = exported.call(moved, held)  # type: ignore[no-untyped-call]
        return found

    return under


def _shape(x: Any) -> Any:
    known = jax.typeof(x)
    return jax.ShapeDtypeStruct(known.shape, known.dtype, weak_type=known.weak_type)  # type: ignore[no-untyped-call]
