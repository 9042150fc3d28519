"""The law `remat`: what is computed again in the backward pass is what was computed."""

from __future__ import annotations

import jax

from .._point import Point
from .._subject import Subject
from .._verdict import Verdict
from ..oracles.bounded import fast
from ._law import law
from ._transformed import derivative, transformed
from .numeric import applies_to_values

__all__ = ["remat"]


@law("transforms", applies=applies_to_values)
def remat(subject: Subject, point: Point) -> Verdict:
    """
    grad(checkpoint(f))(x) = grad f(x), and the value with it, up to rounding

    `jax.checkpoint` keeps no residuals: the backward pass computes the function again. A pure function gives the same
    numbers a second time, so value and gradient are those without it. Where there is no reverse mode, Jv is compared.

    **Catches** state that changes between two traces, callbacks that draw or count, custom rules whose value is not the
    function's own.

    **Does not catch** faults of policies that keep some residuals, or functions that apply `jax.checkpoint` inside
    wrongly in a way that their own gradient shares (`numeric`).
    """
    return transformed(
        subject, point, "remat(f)", lambda: fast(subject, derivative(subject, jax.checkpoint(subject.f)))
    )
