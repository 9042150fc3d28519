"""The law `precision`: the user's dtype suffices for the value and its gradient at ordinary arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._dtypes import all_finite, double, eps, finfo
from .._jaxprs import draws_random_numbers
from .._pairing import cotangents, shortened, tangents
from .._point import Point
from .._subject import Subject
from .._tolerance import GROSS, HALF, MODERATE, NEARBY, UNEXPLAINED, WRONG_BITS
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ..oracles.own import value_and_derivatives
from ..oracles.promoted import Promoted
from ._compare import number
from ._law import law
from ._rows import Rows
from .numeric import applies_to_values

__all__ = ["grossly_off", "precision"]

PERTURBATIONS = 6


def _applies(subject: Subject) -> str | None:
    reason = applies_to_values(subject)
    if reason is not None:
        return reason
    if all(finfo(x.dtype).bits == 64 for x in subject.inexact_outputs):
        return "the value is in 64 bits, the widest dtype there is"
    return None


def _screen(rows: Rows) -> Any:
    return np.where(rows.all_finite([*rows.value, *(rows.reverse or [])]), 0.0, 1.0)


@law("numeric", applies=_applies, screen=_screen, finite_value=False, probes="all")
def precision(subject: Subject, point: Point) -> Verdict:
    """
    f(x) and ∇f(x) in the user's dtype ≈ the same in 64 bits, as far as x determines them

    At ordinary arguments (magnitudes between 1e-6 and 1e3, 2⁻⁷ and 16 in float16) a dtype must not turn a number that
    it can hold into NaN or infinity, nor be off by a tenth of the result where that is more than 2⁸ roundings explain:
    of the arguments, and of a number as large as 1, the arguments or the result. That is much in bfloat16 and float16,
    so a derivative is also held there to what rounding each operation to the dtype explains, if it is off by half of
    the largest entry; the function must do the same operations in both dtypes, and no loops.

    **Catches** overflow and cancellation of intermediate values: log(1 − tanh²), unguarded exponentials, float16 sums.

    **Does not catch** faults at extreme arguments, or losses below a tenth; functions that draw random numbers, which
    differ between dtypes, are undecided, and so are finite results in bfloat16 and float16 where rounding decides a
    comparison: numbers that sum to 1 there do not in 64 bits.
    """
    return grossly_off(subject, point)


def grossly_off(subject: Subject, point: Point, parts: Sequence[str] = ("value", "forward", "reverse")) -> Verdict:
    """
    Judge value and derivatives in the user's dtype by those in 64 bits.

    Args:
        subject: the target at the point's signature.
        point: where.
        parts: which of ``value``, ``forward`` and ``reverse`` are judged.
    """
    moved, held = subject.split(point.primals)
    if not _moderate([*moved, *held]):
        return Undecided("the arguments are not of ordinary magnitude")
    if _random(subject, moved, held):
        return Undecided("random numbers differ between dtypes")
    here = Promoted(subject, point)
    if here.error is not None:
        return Undecided(f"the function refuses 64-bit arguments ({type(here.error).__name__})")
    u, v = cotangents(subject, point.seed), tangents(subject, moved, point.seed)
    value, forward, reverse = value_and_derivatives(subject, moved, held, v, u)
    if forward is not None and not all_finite(forward):
        v = shortened(v)
        value, forward, reverse = value_and_derivatives(subject, moved, held, v, u)
    unit = max(eps(x) for x in [*moved, *value])
    if here.eps > 1e-3 * unit:
        return Undecided("computes in a narrow dtype inside, whatever its arguments are")
    along = [np.asarray(t).astype(x.dtype) for t, x in zip(v, here.moved, strict=True)]
    back = [np.asarray(c).astype(w.dtype) for c, w in zip(u, here.cotangents(), strict=True)]
    wide = here.value_and_derivatives(along, back)
    paths = {"value": subject.output_paths, "forward": subject.output_paths, "reverse": subject.moved_paths}
    narrow = {name: found or [] for name, found in zip(paths, (value, forward, reverse), strict=True)}
    trusted = {name: found or [] for name, found in zip(paths, wide, strict=True)}
    if "value" not in parts and not all_finite(value):
        return Undecided("the value is not finite in the user's dtype")
    suspects = [
        (name, i)
        for name in parts
        for i, (leaf, reliable) in enumerate(zip(narrow[name], trusted[name], strict=False))
        if np.any(_gross(double(leaf), double(reliable), jnp.result_type(leaf)))
    ]
    if not suspects:
        if not all_finite(trusted["value"]):
            return Undecided("the value is not finite")
        return Holds()
    near = [
        dict(
            zip(
                paths, here.perturbed(min(WRONG_BITS * unit, NEARBY), i).value_and_derivatives(along, back), strict=True
            )
        )
        for i in range(PERTURBATIONS)
    ]
    narrowest = max((jnp.result_type(x) for x in [*moved, *value]), key=lambda d: float(finfo(d).eps))
    very_narrow = WRONG_BITS * unit >= GROSS
    for name, i in suspects:
        found = _worst(narrow[name][i], trusted[name][i], [(other[name] or [])[i] for other in near], unit, here.moved)
        if found is not None:
            index, routes, gap, bound = found
            if very_narrow and np.isfinite(gap) and here.decides_otherwise(narrowest):
                return Undecided("a comparison comes out otherwise where operations are rounded to the dtype")
            shown = tuple(zip((f"{name} in {jnp.result_type(narrow[name][i])}", "in 64 bits"), routes, strict=True))
            origin = f"what {WRONG_BITS:.0f} roundings of the arguments, and of numbers as large as they, explain"
            leaf = paths[name][i]
            return Violated((Mismatch(leaf, index, shown, gap if np.isfinite(gap) else None, bound, origin),))
    derivatives = [(name, i) for name, i in suspects if name != "value"]
    if derivatives and very_narrow:
        runs = here.in_narrow(narrowest, along, back)
        mismatch = runs and _unexplained(narrow, trusted, [dict(zip(paths, r, strict=True)) for r in runs], derivatives)
        if mismatch:
            name, i, (index, routes, gap, bound) = mismatch
            shown = tuple(zip((f"{name} in {narrowest}", "in 64 bits"), routes, strict=True))
            origin = f"what rounding each operation to {narrowest} explains, as it explains the value"
            return Violated((Mismatch(paths[name][i], index, shown, gap, bound, origin),))
    return Undecided("the result depends on its arguments beyond their rounding here")


def _unexplained(
    narrow: dict[str, list[Any]],
    trusted: dict[str, list[Any]],
    runs: list[dict[str, list[Any]]],
    suspects: list[tuple[str, int]],
) -> Any:
    """
    Return a derivative in a very narrow dtype that rounding each operation to it does not explain, if it explains the
    value: a function that computes something else in that dtype has another derivative too.
    """

    def explained(name: str, i: int) -> Any:
        wide = double(trusted[name][i])
        gaps = [np.max(np.abs(double(run[name][i]) - wide), initial=0.0) for run in runs]
        return UNEXPLAINED * np.max(gaps)  # NaN or infinite where some run is, and then nothing exceeds it

    def gap(name: str, i: int) -> Any:
        return np.abs(double(narrow[name][i]) - double(trusted[name][i]))

    with np.errstate(all="ignore"):
        if not all(np.all(gap("value", i) <= explained("value", i)) for i in range(len(narrow["value"]))):
            return None
        for name, i in suspects:
            n, w = narrow[name][i], trusted[name][i]
            bound = explained(name, i) + HALF * np.max(np.abs(double(w))) + float(finfo(jnp.result_type(n)).tiny)
            bad = _gross(double(n), double(w), jnp.result_type(n)) & (gap(name, i) > bound)
            if np.any(bad):
                return name, i, _at_worst(n, w, bad, gap(name, i), bound)
    return None


def _moderate(leaves: Sequence[Any]) -> bool:
    for leaf in leaves:
        if not jnp.issubdtype(jnp.result_type(leaf), jnp.inexact):
            continue
        size, limits = np.abs(double(leaf)), finfo(jnp.result_type(leaf))
        low, high = MODERATE
        low, high = max(low, float(limits.tiny) ** 0.5), min(high, float(limits.max) ** 0.25)
        if not np.all((size == 0) | ((size >= low) & (size <= high))):
            return False
    return True


def _random(subject: Subject, moved: Any, held: Any) -> bool:
    # traced again where it cannot be, for what is raised then says why the law cannot decide
    return draws_random_numbers(subject.traced or jax.make_jaxpr(subject.f)(moved, held))


def _gross(narrow: Any, wide: Any, dtype: Any) -> Any:
    """
    Say for each element whether the narrow one is off by more than a tenth of the wide one, which the dtype can hold.
    """
    with np.errstate(all="ignore"):
        size = np.abs(wide)
        holds = np.isfinite(size) & (size <= float(finfo(dtype).max) / 8)
        gap = np.abs(narrow - wide)
        floor = np.max(np.where(holds, size, 0), initial=0.0)
        return holds & (~np.isfinite(narrow) | (gap > GROSS * np.maximum(size, GROSS * floor)))


def _worst(narrow: Any, wide: Any, near: list[Any], unit: float, moved: Sequence[Any]) -> Any:
    n, w = double(narrow), double(wide)
    with np.errstate(all="ignore"):
        spread = np.max([np.abs(double(other) - w) for other in near], axis=0)
        scale = max(1.0, *(float(np.max(np.abs(x[np.isfinite(x)]), initial=0.0)) for x in [*moved, w]))
        bound = spread + WRONG_BITS * unit * scale
        gap = np.where(np.isfinite(n), np.abs(n - w), np.inf)
        steady = np.isfinite(spread) & (spread <= GROSS * np.abs(w) + float(finfo(np.float64).tiny))
        bad = _gross(n, w, jnp.result_type(narrow)) & (gap > bound) & (np.isfinite(n) | steady)
    return _at_worst(narrow, wide, bad, gap, bound) if np.any(bad) else None


def _at_worst(narrow: Any, wide: Any, bad: Any, gap: Any, bound: Any) -> Any:
    at = np.unravel_index(int(np.argmax(np.where(bad, gap, -1.0))), gap.shape)
    index = tuple(int(i) for i in at)
    routes = number(np.asarray(narrow)[index]), number(np.asarray(wide)[index])
    return index, routes, float(gap[index]), float(np.broadcast_to(bound, gap.shape)[index])
