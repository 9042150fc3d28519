"""The law `numeric`: automatic derivatives equal the slope of the value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import jax
import jax.numpy as jnp
import numpy as np

from .._pairing import pair, tangents
from .._point import Point
from .._subject import Subject
from .._tolerance import CONVICT, KNOWN, SATURATED, SCREEN, SLACK, WIDEN
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ..oracles.difference import Slope
from ..oracles.promoted import Promoted
from ._compare import number
from ._law import law
from ._row import Row

__all__ = ["numeric"]

# Gauss-Kronrod 7-15 on [0, 1]: nodes, Kronrod weights, Gauss weights (0 at the other nodes). Source: QUADPACK, qk15.
_X = np.array(
    [0.991455371120812639206854697526329, 0.949107912342758524526189684047851, 0.864864423359769072789712788640926,
     0.741531185599394439863864773280788, 0.586087235467691130294144691258818, 0.405845151377397166906606412076961,
     0.207784955007898467600689403773245, 0.0]
)  # fmt: skip
_K = np.array(
    [0.022935322010529224963732008058970, 0.063092092629978553290700663189204, 0.104790010322250183839876322541518,
     0.140653259715525918745189590510238, 0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
     0.204432940075298892414161999234649, 0.209482141084727828012999174891714]
)  # fmt: skip
_G = np.array(
    [0.0, 0.129484966168869693270611432679082, 0.0, 0.279705391489276667901467771423780,
     0.0, 0.381830050505118944950369775488975, 0.0, 0.417959183673469387755102040816327]
)  # fmt: skip
NODES = np.concatenate([(1 - _X) / 2, (1 + _X[-2::-1]) / 2])
KRONROD = np.concatenate([_K, _K[-2::-1]]) / 2
GAUSS = np.concatenate([_G, _G[-2::-1]]) / 2
DEPTH = 4  # steps 0.5, 0.125, 0.031, 0.008


def _applies(subject: Subject) -> str | None:
    if not subject.moved_paths:
        return "no floating or complex argument is differentiated"
    return None if subject.inexact_outputs else "the value holds no floating or complex array"


def _screen(row: Row) -> Any:
    """
    The line integral: f(x + hv) − f(x) = ∫₀ʰ J(x + tv)v dt, by Gauss–Kronrod on automatic derivatives, both sides; and
    the derivative at the point itself against its neighbours on the line, for faults at that point alone.
    """
    if not row.has_derivative:
        return jnp.zeros(2)
    real = jnp.float64 if row.cotangents[0].dtype in (jnp.float64, jnp.complex128) else jnp.float32
    unit = max(float(jnp.finfo(y.dtype).eps) for y in [*row.moved, *row.value])
    steps = jnp.asarray(np.array([s * 0.5 * 4.0**-k for k in range(DEPTH) for s in (1, -1)]), real)
    f0, slope0 = row.along(0.0), row.slope_along(0.0)
    ends = jax.vmap(row.along)(steps)
    slopes = jax.vmap(row.slope_along)((steps[:, None] * NODES.astype(real)).reshape(-1)).reshape(len(steps), 15)
    h = jnp.abs(steps)
    kronrod, gauss = steps * (slopes @ KRONROD.astype(real)), steps * (slopes @ GAUSS.astype(real))
    absolute = h * (jnp.abs(slopes) @ KRONROD.astype(real))
    spread = h * (jnp.abs(slopes - (slopes @ KRONROD.astype(real))[:, None]) @ KRONROD.astype(real))
    raw = jnp.abs(kronrod - gauss)
    quadrature = jnp.where(spread > 0, spread * jnp.minimum(1.0, (200 * raw / jnp.where(spread > 0, spread, 1)) ** 1.5), raw)
    rounding = unit * (2 * row.magnitude + row.sensitivity + 4 * absolute)
    error = jnp.maximum(quadrature, raw * 1e-3) + rounding
    usable = jnp.isfinite(ends) & jnp.isfinite(error)
    resolution = jnp.where(usable, error / h, jnp.inf)
    fine = resolution <= 30 * jnp.min(resolution)
    smallest = jnp.min(jnp.where(fine & usable, h, jnp.inf))
    ratio = jnp.abs(ends - f0 - kronrod) / jnp.where(error > 0, error, 1)
    judged = usable & (h == smallest)
    integral = jnp.max(jnp.where(judged, ratio, 0.0)) / SCREEN
    right, left = slopes[-2, :2], slopes[-1, :2]
    outside = jnp.maximum(slope0 - jnp.maximum(right[0], left[0]), jnp.minimum(right[0], left[0]) - slope0)
    around = jnp.abs(right[1] - right[0]) + jnp.abs(left[1] - left[0])
    isolated = outside / (4 * around + 64 * unit * (jnp.abs(slope0) + row.sensitivity) + jnp.finfo(real).tiny)
    ok = row.is_finite & jnp.isfinite(slope0)
    return jnp.where(ok, jnp.stack([integral, jnp.where(jnp.isfinite(isolated), isolated, 0.0)]) - 1.0, 0.0)


@law("numeric", applies=_applies, screen=_screen, numeric=True)
def numeric(subject: Subject, point: Point) -> Verdict:
    """
    ⟨u, J v⟩ = d/ds ⟨u, f(x + s v)⟩ at s = 0

    The derivative is the slope of the value. The slope is known from differences at 36 steps on each side, in 64 bits,
    with its own error; the law is violated only where automatic differentiation lies outside by twenty errors, for one
    coordinate alone or along a direction in which the value is smooth, and for a second choice of directions too.

    **Catches** wrong custom rules (sign, factor, dropped term, swapped arguments), wrong values at ties and edges, stale
    residuals, gradients cut by accident.

    **Does not catch** rules that are wrong in a narrow dtype only (`precision`), wrong second derivatives
    (`numeric_second`), or errors below the resolution of a function that is itself inexact (undecided).
    """
    first = _judge(subject, point)
    if not isinstance(first, Violated):
        return first
    second = _judge(subject, point.replace(seed=point.seed + 1))
    return first if isinstance(second, Violated) else Undecided("a second choice of directions did not confirm it")


def _judge(subject: Subject, point: Point) -> Verdict:
    here = Promoted(subject, point)
    if here.error is not None:
        return Undecided(f"the function refuses 64-bit arguments ({type(here.error).__name__})")
    u, whole = here.cotangents(), tangents(subject, here.moved, point.seed)
    reverse = here.reverse(u)
    undecided: Undecided | None = None
    held = False
    for v in [whole, *_alone(whole)]:
        forward = here.forward(v)
        if isinstance(forward, str) and isinstance(reverse, str):
            return Undecided(f"there is no derivative: {reverse}")
        measured = here.slope(v, u)
        for mode, ad in (("forward", _paired_value(u, forward)), ("reverse", _paired_value(reverse, v))):
            if ad is None:
                continue
            verdict = _compare(ad, measured, here)
            if isinstance(verdict, Violated):
                verdict = _coordinate(here, v, u, mode, reverse)
                if isinstance(verdict, Violated):
                    return verdict
            if isinstance(verdict, Undecided):
                undecided = undecided or verdict
            else:
                held = True
    return Holds() if held and undecided is None else undecided or Undecided("there is no derivative here")


def _alone(whole: list[Any]) -> list[list[Any]]:
    """
    The direction restricted to each leaf alone, where there are several, so that a small leaf is seen beside a large one.
    """
    live = [i for i, leaf in enumerate(whole) if np.any(leaf != 0)]
    if len(live) < 2:
        return []
    return [[leaf if j == i else np.zeros_like(leaf) for j, leaf in enumerate(whole)] for i in live[:16]]


def _paired_value(left: Any, right: Any) -> float | None:
    if isinstance(left, str) or isinstance(right, str):
        return None
    with jax.enable_x64(True), np.errstate(all="ignore"):
        # 0·NaN must not enter: a direction is 0 at non-finite entries
        cleared = [np.where(np.asarray(b) == 0, 0, np.asarray(a)) for a, b in zip(left, right, strict=True)]
        return float(pair(cleared, right))


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
        known = measured.error <= KNOWN * size or (measured.error <= 1e-9 and ad == 0)
        return Holds() if known or measured.kind == "constant" else Undecided("noise")
    if measured.kind == "constant" and max((_largest(x) for x in here.moved), default=0.0) >= SATURATED:
        return Undecided("the value is saturated: it responds to its arguments at no step")
    distance = max(ad - measured.high, measured.low - ad)
    if distance <= CONVICT * measured.error:
        return Undecided("noise")
    return Violated((_mismatch("value", (), "automatic", ad, measured),))


def _largest(x: Any) -> float:
    finite = np.abs(x[np.isfinite(x)])
    return float(finite.max()) if finite.size else 0.0


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


def _coordinate(here: Promoted, v: Sequence[Any], u: list[Any], mode: str, reverse: Any) -> Verdict:
    """
    Judge again one coordinate at a time: a direction through several kinks can leave the interval though each is fine.
    """
    support = [(i, k) for i, leaf in enumerate(v) for k in np.flatnonzero(np.asarray(leaf).reshape(-1))]
    suspect = _bisect(here, v, u, mode, reverse, support)
    for i, k in suspect:
        direction = _only(v, [(i, k)])
        x = np.asarray(here.moved[i])
        step = np.asarray(direction[i]).reshape(-1)[k]
        ad = _paired_value(reverse, direction) if mode == "reverse" else _paired_value(u, here.forward(direction))
        if ad is None:
            continue
        measured = here.slope(direction, u)
        if isinstance(_compare(ad, measured, here), Violated):
            index = tuple(int(j) for j in np.unravel_index(k, x.shape))
            path = here.subject.moved_paths[i]
            if not np.iscomplexobj(step):  # per unit of the coordinate, so that the number is the gradient's entry
                ad, measured = ad / step, _scaled(measured, float(step))
            return Violated((_mismatch(path, index, mode, ad, measured),))
    tied = _tied(here, v)
    if tied is not None:
        ad = _paired_value(reverse, tied) if mode == "reverse" else _paired_value(u, here.forward(tied))
        measured = here.slope(tied, u)
        if ad is not None and measured.kind == "smooth" and isinstance(_compare(ad, measured, here), Violated):
            return Violated((_mismatch("the tied entries moved together", (), mode, ad, measured),))
    return Undecided("several kinks at once: no single coordinate is at fault")


def _bisect(here: Promoted, v: Any, u: Any, mode: str, reverse: Any, support: list[Any]) -> list[Any]:
    """
    The coordinates most at fault: halves of the direction are judged until few are left.
    """
    while len(support) > 4:
        halves = support[: len(support) // 2], support[len(support) // 2 :]
        worst = []
        for half in halves:
            direction = _only(v, half)
            ad = _paired_value(reverse, direction) if mode == "reverse" else _paired_value(u, here.forward(direction))
            measured = here.slope(direction, u)
            wrong = ad is not None and isinstance(_compare(ad, measured, here), Violated)
            worst.append(wrong and max(ad - measured.high, measured.low - ad))  # type: ignore[operator]
        if not any(worst):
            return support[:4]
        support = halves[int(worst[1] > worst[0])]
    return support


def _only(v: Sequence[Any], chosen: list[Any]) -> list[Any]:
    direction = [np.zeros_like(np.asarray(leaf)) for leaf in v]
    for i, k in chosen:
        direction[i].reshape(-1)[k] = np.asarray(v[i]).reshape(-1)[k]
    return direction


def _scaled(measured: Slope, step: float) -> Slope:
    ends = sorted((measured.low / step, measured.high / step))
    return attrs.evolve(measured, low=ends[0], high=ends[1], error=measured.error / abs(step))


def _tied(here: Promoted, v: Sequence[Any]) -> list[Any] | None:
    """
    The direction that moves together all entries with one common value other than 0, or None where none are tied.
    """
    flat = np.concatenate([np.real(x).reshape(-1) for x in here.moved]) if here.moved else np.zeros(0)
    usable = np.concatenate([np.asarray(d).reshape(-1) != 0 for d in v]) if here.moved else np.zeros(0, bool)
    values, counts = np.unique(flat[usable & np.isfinite(flat) & (flat != 0)], return_counts=True)
    if not counts.size or counts.max() < 2:
        return None
    common = values[np.argmax(counts)]
    return [
        np.where((np.real(x) == common) & (np.asarray(d) != 0), abs(common), 0.0).astype(x.dtype)
        for x, d in zip(here.moved, v, strict=True)
    ]
