"""The slope of a function of one variable from differences at many steps, with its own error."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from .._tolerance import EVALUATION

__all__ = ["OFFSETS", "STEPS", "Slope", "few_bits", "slope"]

Array = np.ndarray[Any, Any]

STEPS = 2.0 ** -np.arange(3.0, 39.0)
_ULPS = np.arange(1.0, 5.0) * 2.0**-50
# Where the function is to be evaluated: at 0, at ±STEPS, and at ±4 points a few units in the last place apart.
OFFSETS = np.concatenate([[0.0], STEPS, -STEPS, _ULPS, -_ULPS])

_N = len(STEPS)
BITS = 2**8
ROUGH = 1e-3  # a value may miss its line at small steps by this share of the change that the estimate rests on
JUMP = 1e3  # so many times the variation on either side is no noise
JUMP_GROWTH = 1.9  # quotients of a jump double when the step halves; those of |x|^p grow by 2^(1-p)
_TINY = 1e-300


@attrs.frozen
class Slope:
    """
    What is known of a slope: every value in ``[low, high]`` is a valid directional derivative, up to ``error``.

    Attributes:
        kind: ``smooth``, ``kink`` (left and right differ), ``edge`` (one side only is in the domain), ``infinite``,
            ``stairs`` (flat on the finest scale, sloping on the coarse one), ``constant`` (no response at any step) or
            ``unknown``.
        low: lower end, in units of the function per unit step.
        high: upper end.
        error: its own error, same units.
        reason: why nothing is known, where ``kind`` is ``unknown``.
    """

    kind: str
    low: float = np.nan
    high: float = np.nan
    error: float = np.inf
    reason: str = ""

    def per(self, step: float) -> Slope:
        """
        Return the slope per unit of a step.
        """
        low, high = sorted((self.low / step, self.high / step))
        return attrs.evolve(self, low=low, high=high, error=self.error / abs(step))

    @property
    def scale(self) -> float:
        """
        The size of the slope.
        """
        return max(abs(self.low), abs(self.high))


def few_bits(v: Array) -> Array:
    """
    Return a direction rounded to eight bits, so that x + s·v is exact for every step s where x has no more than 32
    bits. The rounding of x + s·v is otherwise the same at many small steps, and passes for a slope.

    Args:
        v: tangents of one leaf.
    """
    if np.iscomplexobj(v):
        return (few_bits(v.real) + 1j * few_bits(v.imag)).astype(v.dtype)
    mantissa, exponent = np.frexp(v)
    return np.ldexp(np.round(mantissa * BITS) / BITS, exponent).astype(v.dtype)


def slope(values: Array, magnitude: float, eps: float) -> Slope:
    """
    Return the slope at 0 of the function whose values at `OFFSETS` are given.

    Source: Richardson extrapolation over halved steps; the noise after Moré and Wild, "Estimating derivatives of noisy
    simulations" (2012).

    Args:
        values: the function's values at `OFFSETS`, float64.
        magnitude: Σ|terms| of the projection that made the function scalar, the size against which it rounds.
        eps: machine epsilon of the narrowest dtype that the function computes in.
    """
    if not np.isfinite(values[0]):
        return Slope("unknown", reason="the value is not finite")
    with np.errstate(all="ignore"):  # points outside the domain are inf or NaN, and say so
        return _slope(values, float(values[0]), magnitude, eps)


def _slope(values: Array, f0: float, magnitude: float, eps: float) -> Slope:
    plus, minus = values[1 : 1 + _N], values[1 + _N : 1 + 2 * _N]
    near = np.concatenate([values[: 2 * _N : -1][:4], [f0], values[1 + 2 * _N : 5 + 2 * _N]])
    noise = max(EVALUATION * eps * max(magnitude, abs(f0), _TINY), _measured_noise(near))
    differences = np.concatenate([plus, minus]) - f0
    if np.all(differences == 0):
        return Slope("constant", 0.0, 0.0, 6 * noise / STEPS[0])
    right_quotients, right, right_error = _side(plus, f0, 1, noise)
    left_quotients, left, left_error = _side(minus, f0, -1, noise)
    steepest = 10 * max((abs(x) for x in (right, left) if np.isfinite(x)), default=0.0)
    if any(_jumps(side, f0, noise, steepest) for side in (plus, minus)):
        return Slope("unknown", reason="the function jumps here")
    growth = max(_growth(right_quotients), _growth(left_quotients))
    if _logarithmic(right_quotients, noise) or _logarithmic(left_quotients, noise):
        return Slope("infinite", -np.inf, np.inf)
    if growth >= JUMP_GROWTH:
        return Slope("unknown", reason="the function jumps here")
    if growth > 1:
        return Slope("infinite", -np.inf, np.inf)
    sides = [(v, e) for v, e in ((right, right_error), (left, left_error)) if np.isfinite(v)]
    if not sides:
        return Slope("unknown", reason="no side of the point is in the domain")
    low, high = min(v for v, _ in sides), max(v for v, _ in sides)
    error = max(e for _, e in sides)
    stairs = _stairs(plus - f0, minus - f0, right_quotients, left_quotients, noise)
    if stairs is not None:
        return Slope("stairs", min(0.0, low, stairs[0]), max(0.0, high, stairs[1]), stairs[1] - stairs[0])
    if len(sides) == 1:
        return Slope("edge", low, high, error)
    return Slope("smooth" if high - low <= 8 * error else "kink", low, high, error)


def _measured_noise(near: Array) -> float:
    """
    Noise from third differences of nine points a few ulps apart, of each side alone where the function jumps at the
    point; 0 where they are not finite.
    """
    if not np.all(np.isfinite(near)):
        return 0.0
    left, right = near[:4], near[-4:]
    within, across = max(np.ptp(left), np.ptp(right)), np.max(np.abs(near[[3, -4]] - near[4]))
    jumps = across > JUMP * within
    third = np.diff([left, right], 3).reshape(-1) if jumps else np.diff(near, 3)
    scale = float(np.max(np.abs(third))) or 1.0
    return float(4 * scale * np.sqrt(np.mean((third / scale) ** 2) / 20))


def _side(values: Array, f0: float, sign: int, noise: float) -> tuple[Array, float, float]:
    """
    Difference quotients on one side, the slope there and its error.
    """
    with np.errstate(all="ignore"):
        quotients = sign * (values - f0) / STEPS
        first = 2 * quotients[1:] - quotients[:-1]
        second = (4 * first[1:] - first[:-1]) / 3
        candidates = [
            _plateau(first, noise),
            _plateau(second, noise),
            _plateau(quotients, noise),
        ]
    value, error = min(candidates, key=lambda c: c[1])
    return quotients, value, error


def _plateau(values: Array, noise: float) -> tuple[float, float]:
    """
    Estimate and error from three consecutive agreeing values; among good runs the one at the smallest steps wins, for
    a plateau at large steps can be a coincidence.

    Args:
        values: a column of the Richardson table; its last entries belong to the smallest steps.
        noise: of one value of the function.
    """
    steps = STEPS[len(STEPS) - len(values) :]
    low, mid, high = values[:-2], values[1:-1], values[2:]
    spread = np.maximum(np.abs(low - mid), np.abs(mid - high))
    floor = noise / steps[2:]
    error = np.where(np.isfinite(spread), spread + 6 * floor, np.inf)
    best = int(np.argmin(error))
    if not np.isfinite(error[best]):
        return np.nan, np.inf
    size = np.maximum(np.abs(mid), _TINY)
    good = np.flatnonzero((floor <= 1e-3 * size) & (error <= 1e-5 * size + 200 * floor))
    if good.size:
        breaks = np.flatnonzero(np.diff(good) != 1)
        run = good[breaks[-1] + 1 :] if breaks.size else good
        best = int(run[np.argmin(error[run])])
    return _borne_out(
        float(mid[best]), float(error[best]), values[best + 3 :], steps[best + 3 :], float(steps[best + 2]), noise
    )


def _borne_out(
    value: float, error: float, smaller: Array, steps: Array, step: float, noise: float
) -> tuple[float, float]:
    """
    Hold an estimate against the smaller steps: what the line through the point misses there is the function's own
    roughness (an iteration's tolerance, say), which widens the error, or too large for the estimate to mean anything.
    """
    missed = np.abs(smaller - value) * steps
    missed = missed[np.isfinite(missed)]
    rough = float(np.max(missed, initial=0.0))
    if rough > ROUGH * abs(value) * step + 60 * noise:
        return np.nan, np.inf
    return value, error + (6 * rough / step if rough > 60 * noise else 0.0)


def _jumps(values: Array, f0: float, noise: float, steepest: float) -> bool:
    step = np.abs(values[-3:] - f0)
    if not np.all(np.isfinite(step)):
        return False
    return bool(np.all(step > 100 * noise + steepest * STEPS[-3:]) and step.min() > step.max() / 2)


def _growth(quotients: Array) -> float:
    """
    By how much the quotients grow when the step halves, if they grow steadily without bound, else 0: the square root of
    two for a square root, two for a jump.
    """
    size = np.abs(quotients[8:28])
    if not (np.all(np.isfinite(size)) and np.all(size > 0)):
        return 0.0
    ratios = size[1:] / size[:-1]
    return float(np.median(ratios)) if np.all(ratios > 1.02) and size[-1] > 100 * size[0] else 0.0


def _logarithmic(quotients: Array, noise: float) -> bool:
    """
    Whether the quotients grow by the same amount each time that the step halves, as those of x·log x at 0 do. Those of
    a smooth function, or of a kink, change by half as much each time.
    """
    growth = np.diff(quotients[4:24])
    if not np.all(np.isfinite(growth)) or np.min(np.abs(growth)) <= 100 * noise / STEPS[24]:
        return False
    return bool(np.all(growth > 0) or np.all(growth < 0)) and bool(
        np.max(np.abs(growth)) < 1.5 * np.min(np.abs(growth))
    )


def _stairs(
    right: Array, left: Array, right_quotients: Array, left_quotients: Array, noise: float
) -> tuple[float, float] | None:
    """
    Lowest and highest coarse quotient if the function is exactly flat at the smallest steps of both sides, and its last
    change before is more than noise: an iteration that stops at a tolerance, or arithmetic narrower than it seems. At
    an extremum of a smooth function the last change is noise.
    """
    coarse = []
    last = 0.0
    for differences, quotients in ((right, right_quotients), (left, left_quotients)):
        moving = np.flatnonzero(np.isfinite(differences) & (differences != 0))
        if moving.size == 0 or np.any(differences[-6:] != 0):
            return None
        coarse += [float(q) for q in quotients[moving[: max(2, moving.size // 2)]]]
        last = max(last, float(np.abs(differences[moving[-1]])))
    if last <= 8 * noise:
        return None
    return min(coarse), max(coarse)
