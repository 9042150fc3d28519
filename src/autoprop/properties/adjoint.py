"""The law `adjoint`: reverse mode is the transpose of forward mode."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from .._dtypes import all_finite, eps
from .._pairing import cotangents, paired_on_host, tangents
from .._point import Point
from .._subject import Subject
from .._tolerance import ADJOINT, ADJOINT_SCREEN
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ..oracles.automatic import missing_mode
from ..oracles.own import value_and_derivatives
from ..oracles.promoted import Promoted
from ._law import law
from ._rows import Rows
from .numeric import applies_to_values

__all__ = ["adjoint", "both_modes_exist", "sides_differ"]


def both_modes_exist(subject: Subject) -> str | None:
    """
    Return which mode of differentiation a subject lacks, or None where it has both.
    """
    reason = applies_to_values(subject)
    if reason is not None:
        return reason
    absent = [mode for mode, missing in missing_mode(subject).items() if missing]
    return f"the function has no {' and no '.join(absent)} mode of differentiation" if absent else None


def _count(*leaves: Any) -> int:
    return sum(int(np.prod(jnp.shape(leaf))) for group in leaves for leaf in group)


def _screen(rows: Rows) -> Any:
    if rows.forward is None or rows.reverse is None:
        return np.nan
    forward, forward_terms = rows.pair(rows.cotangents, rows.forward)
    reverse, reverse_terms = rows.pair(rows.reverse, rows.tangents)
    count = sum(int(np.prod(leaf.shape[1:])) for leaf in [*rows.tangents, *rows.value])
    apart = sides_differ(forward, reverse, forward_terms + reverse_terms, count, rows.unit, rows.underflow)
    bad = apart | (np.isfinite(forward) != np.isfinite(reverse))
    return np.where(rows.is_finite & bad, 1.0, 0.0)


def sides_differ(left: Any, right: Any, terms: Any, count: int, unit: float, underflow: Any) -> Any:
    """
    Say for each point of the screen whether two pairings that should be equal differ by more than rounding.

    Args:
        left: one pairing.
        right: the other.
        terms: Σ|terms| of both.
        count: how many terms there are.
        unit: machine epsilon of the widest rounding inside.
        underflow: what they may differ by where numbers underflow.
    """
    with np.errstate(all="ignore"):
        bound = ADJOINT * unit * np.sqrt(count) * terms + underflow
        if unit >= eps(np.float32(0)):
            bound = np.maximum(bound, ADJOINT_SCREEN * np.maximum(np.abs(left), np.abs(right)))
        return np.abs(left - right) > bound


@law("modes", applies=both_modes_exist, screen=_screen)
def adjoint(subject: Subject, point: Point) -> Verdict:
    """
    ⟨u, J v⟩ = ⟨Jᵀ u, v⟩

    Forward mode applies the Jacobian, reverse mode its transpose; the two scalars are sums of the same terms. No
    numeric derivative is needed, so the bound is rounding alone: 64·eps·√n·Σ|terms|, and the difference must persist
    in 64 bits.

    **Catches** transpose rules that disagree with their JVP, one mode that is NaN or zero where the other is not.

    **Does not catch** a rule that is wrong in both modes alike (`numeric`), or functions with one mode only.
    """
    moved, held = subject.split(point.primals)
    u, v = cotangents(subject, point.seed), tangents(subject, moved, point.seed)
    value, forward, reverse = value_and_derivatives(subject, moved, held, v, u)
    if reverse is None or forward is None:
        return Undecided("only one mode of differentiation is there")
    if not all_finite(value):
        return Undecided("the value is not finite")
    unit = max(eps(x) for x in [*moved, *value])
    count = _count(moved, value)
    left, right, bound = _sides(u, v, forward, reverse, unit, count)
    if _close(left, right, bound):
        return Holds()
    here = Promoted(subject, point)
    if here.error is not None:
        return Undecided(f"the function refuses 64-bit arguments ({type(here.error).__name__})")
    v64, u64 = tangents(subject, here.moved, point.seed), here.cotangents()
    wide_forward, wide_reverse = here.derivatives(v64, u64)
    if wide_forward is None or wide_reverse is None:
        return Undecided("only one mode of differentiation is there in 64 bits")
    sides = _sides(u64, v64, wide_forward, wide_reverse, here.eps, count)
    if _close(*sides):
        return Undecided("the difference is there in the narrow dtype only")
    left, right, bound = sides
    gap = abs(left - right)
    routes = (("⟨u, J v⟩", f"{left:.9g}"), ("⟨Jᵀ u, v⟩", f"{right:.9g}"))
    origin = f"{ADJOINT:.0f} · eps · √{count} · Σ|terms|, in 64 bits"
    if not np.isfinite(gap):
        leaf = next(
            (p for p, g in zip(subject.moved_paths, wide_reverse, strict=True) if not np.all(np.isfinite(g))), "value"
        )
        return Violated((Mismatch(leaf, (), routes, None, None, "one mode is finite and the other is not"),))
    if gap <= ADJOINT * here.rounding_of_derivatives(v64, u64):
        return Undecided("large intermediate values cancel: the difference is within rounding of them")
    return Violated((Mismatch("value", (), routes, gap, bound, origin),))


def _sides(u: Any, v: Any, forward: Any, reverse: Any, unit: float, count: int) -> tuple[float, float, float]:
    left, forward_terms = paired_on_host(u, forward)
    right, reverse_terms = paired_on_host(reverse, v)
    terms = forward_terms + reverse_terms
    return left, right, ADJOINT * unit * float(np.sqrt(count)) * terms


def _close(left: float, right: float, bound: float) -> bool:
    if not np.isfinite(left) or not np.isfinite(right):
        return not np.isfinite(left) and not np.isfinite(right)
    return abs(left - right) <= bound
