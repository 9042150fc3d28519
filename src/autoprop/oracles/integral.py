"""The change of a function along lines against the integral of its automatic derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from .._tolerance import SCREEN, well_known

__all__ = ["NODES", "Line", "line_integral"]

NODES = np.array([0.25, 0.5, 0.75, 1.0])  # of a step, beside its start
BOOLE = np.array([7, 32, 12, 32, 7]) / 90
SIMPSON = np.array([1, 0, 4, 0, 1]) / 6
STEPS = (2.0**-1, 2.0**-3, 2.0**-7, 2.0**-11)
# The step at which rounding and quadrature weigh about the same, by the machine epsilon: the first that is tried.
FIRST = ((1e-3, 2.0**-1), (1e-9, 2.0**-3), (0.0, 2.0**-7))


@attrs.frozen
class Line:
    """
    What the lines through many points say, one number each.

    Attributes:
        ratio: largest distance between change and integral over both sides, in units of its own error.
        isolated: how far the derivative at the point lies outside those of its neighbours, in units of their variation.
    """

    ratio: Any
    isolated: Any


def line_integral(
    evaluate: Callable[[Any, Any], tuple[Any, Any]],
    value: Any,
    slope: Any,
    magnitude: Any,
    sensitivity: Any,
    unit: float,
    tiny: Any = 0.0,
) -> Line:
    """
    Compare φ(h) − φ(0) with ∫₀ʰ φ'(t) dt on both sides of each point.

    Nothing is divided by a small step, so narrow dtypes serve too, and kinks inside the interval are integrable. One
    step is tried at all points, the others where it does not know enough or accuses; the smallest whose resolution is
    within 30 times of the best decides. A derivative that is wrong at the point alone has little weight in an integral:
    it is held against its neighbours on the line as well.

    Source: the rules of Boole and of Simpson on the same nodes; the error of the first from the difference of both as
    in QUADPACK (Piessens et al., 1983), whose exponent 1.5 is that of h⁶ over h⁴.

    Args:
        evaluate: ``evaluate(rows, steps)`` returns φ and φ' of these rows, an index each, at steps of shape (rows, 8).
        value: φ(0) of each point.
        slope: φ'(0) of each point.
        magnitude: Σ|terms| of φ(0), the size against which φ rounds.
        sensitivity: Σ|∂φ/∂x·x|, the size against which rounding of the arguments moves φ.
        unit: machine epsilon of the widest rounding inside.
        tiny: what φ may change by where numbers underflow.
    """
    first = next(step for least, step in FIRST if unit >= least)
    tried = _Steps(value, slope, magnitude, sensitivity, unit, tiny)
    everyone = np.arange(len(value))
    tried.add(first, everyone, _both_sides(evaluate, first, everyone))
    left = np.flatnonzero(~(tried.knows & (tried.ratio() <= SCREEN)))
    others = [step for step in STEPS if step != first]
    if left.size:  # all other steps at once: rows of one program
        found = _both_sides(evaluate, np.repeat(others, left.size)[:, None], np.tile(left, len(others)))
        for step, values, slopes in zip(others, *(np.split(x, len(others)) for x in found), strict=True):
            tried.add(step, left, (values, slopes))
    return Line(tried.ratio(), tried.isolated)


def _both_sides(evaluate: Callable[[Any, Any], tuple[Any, Any]], step: Any, rows: Any) -> tuple[Any, Any]:
    steps = np.concatenate([NODES, -NODES]) * step
    return evaluate(rows, np.broadcast_to(steps, (len(rows), 2 * len(NODES))))


class _Steps:
    """
    The steps that were tried at each point, and what they say so far.
    """

    def __init__(self, value: Any, slope: Any, magnitude: Any, sensitivity: Any, unit: float, tiny: Any) -> None:
        self.own = [np.asarray(x, np.float64) for x in (value, slope, magnitude, sensitivity)]
        self.unit, self.tiny = unit, np.broadcast_to(np.asarray(tiny, np.float64), (len(value),))
        self.found: list[tuple[float, Any, Any]] = []  # step, resolution, ratio
        self.knows = np.zeros(len(value), bool)
        self.isolated = np.full(len(value), -np.inf)

    def add(self, h: float, rows: Any, at: tuple[Any, Any]) -> None:
        """
        Take what the step h says of some points.
        """
        values, slopes = (np.stack([x[:, :4], x[:, 4:]], 1) for x in at)  # (rows, side, node)
        f0, s0, m, s = (x[rows] for x in self.own)
        with np.errstate(all="ignore"):
            nodes = np.concatenate([np.broadcast_to(s0[:, None, None], (len(rows), 2, 1)), slopes], 2)
            mean, simpson, absolute = nodes @ BOOLE, nodes @ SIMPSON, np.abs(nodes) @ BOOLE
            spread, raw = h * (np.abs(nodes - mean[..., None]) @ BOOLE), h * np.abs(mean - simpson)
            scaled = spread * np.minimum(1.0, (200 * raw / np.where(spread > 0, spread, 1)) ** 1.5)
            quadrature = np.maximum(np.where(spread > 0, scaled, raw), raw * 1e-3)
            rounding = self.unit * (2 * m + s)[:, None] + self.unit * 4 * h * absolute + self.tiny[rows][:, None]
            error = quadrature + rounding
            change = values[..., -1] - f0[:, None]
            integral = h * mean * np.array([1.0, -1.0])
            good = np.isfinite(change) & np.isfinite(error)
            ratio = np.where(good, np.abs(change - integral) / np.where(error > 0, error, 1), -np.inf)
            resolution = np.where(good, error / h, np.inf)
            usable = good.any(1)
            known = (good & (error <= well_known(self.unit) * h * absolute)).all(1)
            alone = _isolated(s0, slopes, s, self.unit, self.tiny[rows])
        whole = np.full((2, len(self.knows)), np.inf)
        whole[:, rows] = resolution.min(1), np.where(usable, ratio.max(1), np.inf)
        self.found.append((h, *whole))
        self.knows[rows] |= known
        self.isolated[rows] = np.maximum(self.isolated[rows], alone)

    def ratio(self) -> Any:
        """
        Return what the deciding step says of each point. One at which nothing can be compared has an infinite ratio: it
        is suspicious, and judged alone.
        """
        best = np.min([resolution for _, resolution, _ in self.found], axis=0)
        decided = np.full(len(best), np.inf)
        for _, resolution, ratio in sorted(self.found, key=lambda each: -each[0]):
            fine = np.isfinite(resolution) & (resolution <= 30 * best)
            decided = np.where(fine, ratio, decided)
        return decided


def _isolated(slope: Any, slopes: Any, sensitivity: Any, unit: float, tiny: Any) -> Any:
    near, far = slopes[..., 0], slopes[..., 1]
    outside = np.maximum(slope - near.max(1), near.min(1) - slope)
    around = np.abs(far - near).sum(1)
    score = outside / (4 * around + 64 * unit * (np.abs(slope) + sensitivity) + tiny + np.finfo(np.float64).tiny)
    return np.where(np.isnan(score), -np.inf, score)
