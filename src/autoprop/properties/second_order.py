"""The laws of second derivatives: they are first derivatives of the gradient, and symmetric."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from .._pairing import paired_on_host, tangents
from .._point import Point
from .._subject import Subject
from .._tolerance import ADJOINT
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ..oracles.gradient import gradient_of, why_no_second
from ..oracles.promoted import Promoted
from ._law import law
from ._rows import Rows
from .adjoint import sides_differ
from .finite import finite, screen_finiteness
from .numeric import applies_to_values, judge_slopes, screen_slopes
from .precision import grossly_off

__all__ = ["numeric_second", "symmetric"]


def _applies(subject: Subject) -> str | None:
    return applies_to_values(subject) or why_no_second(subject)


def _numeric_screen(rows: Rows) -> Any:
    second = rows.second
    if not second.has_derivative:
        return np.full((len(rows), 3), np.nan)
    found = np.concatenate([screen_slopes(second), screen_finiteness(second)[:, None]], 1)
    return np.where((rows.is_finite & second.is_finite)[:, None], found, 0.0)


@law("numeric", applies=_applies, screen=_numeric_screen, numeric=True, order=2)
def numeric_second(subject: Subject, point: Point) -> Verdict:
    """
    ⟨w, H v⟩ = d/ds ⟨w, ∇f(x + s v)⟩ at s = 0, and H v is finite where ∇f and its slope are

    The second derivative is the slope of the gradient, so the laws `finite` and `numeric` are asked of the gradient:
    differences of the gradient, never differences of differences. In the user's own dtype it must not be grossly off
    either, as `precision` asks of first derivatives.

    **Catches** rules that are right once but not differentiable again (their own derivative is wrong, cut or NaN),
    Hessians of guarded functions, cancellation in second derivatives.

    **Does not catch** third derivatives, or faults of the first (`numeric`).
    """
    derived = gradient_of(subject)
    undecided: Undecided | None = None
    for verdict in (finite.judge(derived, point), judge_slopes(derived, point, limits=True)):
        if isinstance(verdict, Violated):
            return verdict
        if isinstance(verdict, Undecided):
            undecided = undecided or verdict
    in_own_dtype = grossly_off(derived, point, ("forward", "reverse"))
    return in_own_dtype if isinstance(in_own_dtype, Violated) else undecided or Holds()


def _symmetric_applies(subject: Subject) -> str | None:
    if "stop_gradient" in subject.target.intended:
        return (
            "stopped values are held fixed (intended=('stop_gradient',)), so the gradient belongs to no single function"
        )
    return _applies(subject)


def _symmetric_screen(rows: Rows) -> Any:
    second, swapped = rows.second, rows.second.swapped
    v, w = second.tangents, second.cotangents
    if second.forward is None:  # Hᵀ w and Hᵀ v
        with_v, with_w = swapped.reverse, second.reverse
    else:
        with_v, with_w = second.forward, swapped.forward
    if with_v is None or with_w is None:
        return np.nan
    (left, left_terms), (right, right_terms) = rows.pair(w, with_v), rows.pair(v, with_w)
    count = _count(rows.tangents) // len(rows)
    apart = sides_differ(left, right, left_terms + right_terms, count, rows.unit, second.underflow)
    meant = rows.is_finite & second.is_finite & np.isfinite(left) & np.isfinite(right)
    return np.where(meant & apart, 1.0, 0.0)


def _count(leaves: Any) -> int:
    return 2 * sum(int(np.prod(jnp.shape(leaf))) for leaf in leaves)


@law("numeric", applies=_symmetric_applies, screen=_symmetric_screen, numeric=True, order=2)
def symmetric(subject: Subject, point: Point) -> Verdict:
    """
    ⟨w, H v⟩ = ⟨v, H w⟩, and H w is the same forward over reverse and reverse over reverse

    The derivative of a gradient is symmetric, whichever modes are nested to compute it. No numeric derivative is
    needed: the bound is rounding alone, in 64 bits.

    **Catches** gradients that are the gradient of nothing, rules that are right in one nesting of modes only.

    **Does not catch** a wrong Hessian that is symmetric (`numeric_second`).
    """
    derived = gradient_of(subject)
    here = Promoted(derived, point)
    if here.error is not None:
        return Undecided(f"the function refuses 64-bit arguments ({type(here.error).__name__})")
    v, w = (tangents(subject, here.moved, point.seed + i) for i in range(2))
    (along_v, back_w), (along_w, back_v) = here.derivatives(v, w), here.derivatives(w, v)
    nested = (
        ("⟨w, H v⟩, forward over reverse", w, along_v),
        ("⟨v, H w⟩, forward over reverse", v, along_w),
        ("⟨H w, v⟩, reverse over reverse", v, back_w),
        ("⟨H v, w⟩, reverse over reverse", w, back_v),
    )
    sides = [(name, *paired_on_host(side, found)) for name, side, found in nested if found is not None]
    if len(sides) < 2:
        return Undecided("only one nesting of modes is there")
    if not all(np.isfinite(side) for _, side, _ in sides):
        return Undecided("the second derivative is not finite; the law `numeric_second` judges that")
    bound = ADJOINT * here.eps * float(np.sqrt(_count(here.moved))) * max(terms for _, _, terms in sides)
    name, left, _ = sides[0]
    other, right, _ = max(sides[1:], key=lambda side: abs(side[1] - left))
    gap = abs(left - right)
    if gap <= bound:
        return Holds()
    if gap <= ADJOINT * here.rounding_of_derivatives(v, w):
        return Undecided("large intermediate values cancel: the difference is within rounding of them")
    routes = ((name, f"{left:.9g}"), (other, f"{right:.9g}"))
    origin = f"{ADJOINT:.0f} · eps · √{_count(here.moved)} · Σ|terms|, in 64 bits"
    return Violated((Mismatch("Hessian", (), routes, gap, bound, origin),))
