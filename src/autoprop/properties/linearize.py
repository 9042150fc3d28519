"""The law `linearize`: the linear function of a linearisation is the Jacobian, and its transpose is reverse mode."""

from __future__ import annotations

from typing import Any

import jax

from .._point import Point
from .._subject import Subject
from .._verdict import Verdict
from ..oracles.automatic import missing_mode
from ..oracles.bounded import fast
from ._law import law
from ._transformed import Program, at, transformed
from .numeric import applies_to_values

__all__ = ["linearize"]


def _forward(subject: Subject) -> str | None:
    reason = applies_to_values(subject)
    if reason is not None:
        return reason
    return "the function has no forward mode of differentiation" if missing_mode(subject)["forward"] else None


@law("transforms", applies=_forward)
def linearize(subject: Subject, point: Point) -> Verdict:
    """
    linearize(f)(x) = (f(x), v ↦ J v), and the transpose of v ↦ J v is u ↦ Jᵀ u, up to rounding

    Linearising computes the value once and keeps a linear function; `jax.jvp` computes both at once and `jax.vjp` the
    transpose. All are the same derivative, taken apart at another place.

    **Catches** rules that treat a tangent which is not known yet otherwise, JVP rules whose value is not the
    function's own.

    **Does not catch** functions that have reverse mode only (they cannot be linearised), or faults that all share.
    """
    reverse = not missing_mode(subject)["reverse"]

    def build() -> Program:
        def program(moved: Any, held: Any, v: Any, u: Any) -> Any:
            value, linear = jax.linearize(at(subject.f, held), moved)
            forward = linear(v)
            return (value, jax.linear_transpose(linear, moved)(u), forward) if reverse else (value, forward)

        return fast(subject, program)

    return transformed(subject, point, "linearize(f)", build, ("reverse", "forward") if reverse else ("forward",))
