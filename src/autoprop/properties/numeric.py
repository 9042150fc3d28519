"""The law `numeric`: automatic derivatives equal the slope of the value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._pairing import tangents
from .._point import Point
from .._subject import Subject
from .._tolerance import CONVICT, KNOWN, RULE_SHARE, SATURATED, SCREEN, SLACK, WIDEN
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ..oracles.difference import Slope, few_bits
from ..oracles.promoted import Promoted
from ._law import law
from ._nearby import automatic, is_limit, is_resolved
from ._rows import Rows

__all__ = ["applies_to_values", "judge_slopes", "numeric", "screen_slopes"]


def applies_to_values(subject: Subject) -> str | None:
    """
    Return why there is no derivative to judge, or None where there is: of a number by a number.
    """
    if not subject.moved_paths:
        return "no floating or complex argument is differentiated"
    return None if subject.inexact_outputs else "the value holds no floating or complex array"


def screen_slopes(rows: Rows) -> Any:
    """
    Hold the derivative against the change of the value along a line, and against its neighbours there.
    """
    if not rows.has_derivative:
        return np.full((len(rows), 2), np.nan)
    scores = np.stack([np.minimum(rows.line.ratio / SCREEN, 1e9), np.minimum(rows.line.isolated, 1e9)], 1) - 1.0
    return np.where(rows.is_finite[:, None], np.where(np.isfinite(rows.slope)[:, None], scores, 1.0), 0.0)


@law("numeric", applies=applies_to_values, screen=screen_slopes, numeric=True, probes="edges")
def numeric(subject: Subject, point: Point) -> Verdict:
    """
    ⟨u, J v⟩ = d/ds ⟨u, f(x + s v)⟩ at s = 0

    The derivative is the slope of the value. The slope is known from differences at 36 steps on each side, in 64 bits,
    with its own error; the law is violated only where automatic differentiation lies outside by twenty errors, for one
    coordinate alone or along a direction in which the value is smooth, and for a second choice of directions too.

    **Catches** wrong custom rules (sign, factor, dropped term, swapped arguments), wrong values at ties and edges,
    stale residuals, gradients cut by accident.

    **Does not catch** rules that are wrong in a narrow dtype only (`precision`), wrong second derivatives
    (`numeric_second`), or errors below the resolution of a function that is itself inexact (undecided).
    """
    return judge_slopes(subject, point)


def judge_slopes(subject: Subject, point: Point, *, limits: bool = False) -> Verdict:
    """
    Judge automatic derivatives by slopes, with a second opinion.

    Args:
        subject: the target, or the gradient of one.
        point: where.
        limits: do not accuse a derivative along tied entries either, where it is the limit of derivatives nearby, and
            look for those also where the leaf at fault moves alone. A gradient that is chosen among several jumps at a
            tie, and its derivative is then that of one choice.
    """
    first = _judge(subject, point, limits)
    if not isinstance(first, Violated):
        return first
    second = _judge(subject, point.replace(seed=point.seed + 1), limits)
    return first if isinstance(second, Violated) else Undecided("a second choice of directions did not confirm it")


def _judge(subject: Subject, point: Point, limits: bool) -> Verdict:
    here = Promoted(subject, point)
    if here.error is not None:
        return Undecided(f"the function refuses 64-bit arguments ({type(here.error).__name__})")
    u, whole = here.cotangents(), list(map(few_bits, tangents(subject, here.moved, point.seed)))
    undecided: Undecided | None = None
    held = False
    for v in [whole, *_alone(whole)]:
        measured = here.slope(v, u)
        for mode in ("forward", "reverse"):
            ad = automatic(here, mode, v, u)
            if ad is None:
                continue
            verdict = _compare(ad, measured, here)
            if isinstance(verdict, Violated):
                verdict = _coordinate(here, v, u, mode, limits)
                if isinstance(verdict, Violated):
                    return verdict
            if isinstance(verdict, Undecided):
                undecided = undecided or verdict
            else:
                held = True
    verdict = _together(here, whole, u, limits)
    if isinstance(verdict, Violated):
        return verdict
    return Holds() if held and undecided is None else undecided or Undecided("there is no derivative here")


def _alone(whole: list[Any]) -> list[list[Any]]:
    """
    The direction restricted to each leaf alone, where there are several, so that a small leaf is seen beside a large
    one.
    """
    live = [i for i, leaf in enumerate(whole) if np.any(leaf != 0)]
    if len(live) < 2:
        return []
    return [[leaf if j == i else np.zeros_like(leaf) for j, leaf in enumerate(whole)] for i in live[:16]]


def _compare(ad: float, measured: Slope, here: Promoted) -> Verdict:
    if measured.kind == "unknown":
        return Undecided(measured.reason)
    if not np.isfinite(ad):
        return Undecided("the derivative is not finite; the law `finite` judges that")
    if measured.kind == "infinite":
        return Undecided("the slope is infinite")
    size = max(measured.scale, abs(ad))
    slack = SLACK * size + WIDEN * measured.error
    if measured.low - slack <= ad <= measured.high + slack:
        if measured.kind == "stairs":
            return Undecided("the value is a staircase at the finest scale")
        known = measured.error <= KNOWN * size or (ad == 0 and (measured.kind == "constant" or measured.error <= 1e-9))
        return Holds() if known else Undecided("noise")
    if measured.scale <= WIDEN * measured.error and max((_largest(x) for x in here.moved), default=0.0) >= SATURATED:
        return Undecided("the value is saturated: it responds to its arguments at no step")
    distance = max(ad - measured.high, measured.low - ad)
    if distance <= CONVICT * measured.error:
        return Undecided("noise")
    if here.stands_for_a_loop and distance <= RULE_SHARE * size:
        return Undecided("a rule differs from its iteration by less than a thousandth, as that of the limit does")
    return Violated((_mismatch("value", (), "automatic", ad, measured),))


def _largest(x: Any) -> float:
    return float(np.max(np.abs(x[np.isfinite(x)]), initial=0.0))


def _mismatch(leaf: str, index: tuple[int, ...], mode: str, ad: float, measured: Slope, paths: str = "") -> Mismatch:
    shown = f"{measured.low:.9g}" if measured.low == measured.high else f"{measured.low:.9g} .. {measured.high:.9g}"
    bound = SLACK * max(measured.scale, abs(ad)) + CONVICT * measured.error
    return Mismatch(
        leaf=leaf,
        index=index,
        routes=((mode, f"{ad:.9g}"), ("numeric", f"{shown} ± {measured.error:.1e}")),
        difference=float(max(ad - measured.high, measured.low - ad)),
        bound=bound,
        origin=f"{CONVICT:.0f} times the error of the numeric slope, in 64 bits{paths}",
    )


def _coordinate(here: Promoted, v: Sequence[Any], u: list[Any], mode: str, limits: bool) -> Verdict:
    """
    Judge again one coordinate at a time: a direction through several kinks can leave the interval though each is fine.
    """
    support = [(i, k) for i, leaf in enumerate(v) for k in np.flatnonzero(np.asarray(leaf).reshape(-1))]
    suspect = _bisect(here, v, u, mode, support)
    for i, k in suspect:
        direction = _only(v, [(i, k)])
        x = np.asarray(here.moved[i])
        step = np.asarray(direction[i]).reshape(-1)[k]
        ad = automatic(here, mode, direction, u)
        if ad is None:
            continue
        measured = here.slope(direction, u)
        if isinstance(_compare(ad, measured, here), Violated):
            if not is_resolved(here, mode, direction, u, ad, measured):
                return Undecided("the derivative varies faster than the smallest step")
            if is_limit(here, mode, direction, u, ad, (i, k) if limits else None):
                return Undecided("the derivative jumps here, and this is the limit of others nearby")
            measured = here.slope(direction, u, careful=True)
            rounding = here.rounding_of_derivatives(direction, u)
            apart = max(ad - measured.high, measured.low - ad) > CONVICT * rounding
            if not apart or not isinstance(_compare(ad, measured, here), Violated):
                return Undecided("large intermediate values cancel: the difference is within rounding of them")
            index = tuple(int(j) for j in np.unravel_index(k, x.shape))
            path = here.subject.moved_paths[i]
            if not np.iscomplexobj(step):  # per unit of the coordinate, so that the number is the gradient's entry
                ad, measured = ad / step, measured.per(float(step))
            return Violated((_mismatch(path, index, mode, ad, measured),))
    return Undecided("several kinks at once: no single coordinate is at fault")


def _bisect(here: Promoted, v: Any, u: Any, mode: str, support: list[Any]) -> list[Any]:
    """
    The coordinates most at fault: halves of the direction are judged until few are left.
    """
    while len(support) > 4:
        halves = support[: len(support) // 2], support[len(support) // 2 :]
        worst = []
        for half in halves:
            direction = _only(v, half)
            ad = automatic(here, mode, direction, u)
            measured = here.slope(direction, u)
            wrong = ad is not None and isinstance(_compare(ad, measured, here), Violated)
            worst.append(max(ad - measured.high, measured.low - ad) if wrong and ad is not None else 0.0)
        if not any(worst):
            return support[:4]
        support = halves[int(worst[1] > worst[0])]
    return support


def _only(v: Sequence[Any], chosen: list[Any]) -> list[Any]:
    direction = [np.zeros_like(np.asarray(leaf)) for leaf in v]
    for i, k in chosen:
        direction[i].reshape(-1)[k] = np.asarray(v[i]).reshape(-1)[k]
    return direction


def _together(here: Promoted, whole: list[Any], u: Any, limits: bool) -> Verdict:
    """
    Judge the direction that moves tied entries together, along which most functions with kinks at ties are smooth.
    """
    tied = _tied(here, whole)
    measured = None if tied is None else here.slope(tied, u)
    if tied is None or measured is None or measured.kind != "smooth":
        return Holds()
    for mode in ("forward", "reverse"):
        ad = automatic(here, mode, tied, u)
        if ad is None or not isinstance(_compare(ad, measured, here), Violated):
            continue
        if limits and is_limit(here, mode, tied, u, ad):
            continue
        careful = here.slope(tied, u, careful=True)  # rounding the derivative itself at random would break the tie
        if is_resolved(here, mode, tied, u, ad, careful) and isinstance(_compare(ad, careful, here), Violated):
            return Violated((_mismatch("the tied entries moved together", (), mode, ad, measured),))
    return Holds()


def _tied(here: Promoted, v: Sequence[Any]) -> list[Any] | None:
    """
    The direction that moves together all entries with one common value other than 0, or None where none are tied.
    """
    flat = np.concatenate([np.real(x).reshape(-1) for x in here.moved]) if here.moved else np.zeros(0)
    usable = np.concatenate([np.asarray(d).reshape(-1) != 0 for d in v]) if here.moved else np.zeros(0, bool)
    values, counts = np.unique(flat[usable & np.isfinite(flat) & (flat != 0)], return_counts=True)
    if not np.any(counts >= 2):
        return None
    common = values[np.argmax(counts)]
    return [
        few_bits(np.where((np.real(x) == common) & (np.asarray(d) != 0), abs(common), 0.0).astype(x.dtype))
        for x, d in zip(here.moved, v, strict=True)
    ]
