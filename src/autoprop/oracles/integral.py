"""The change of a function along a line against the integral of its automatic derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import jax
import jax.numpy as jnp
import numpy as np

from .._dtypes import finfo

__all__ = ["DEPTH", "Line", "line_integral"]

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


@attrs.frozen
class Line:
    """
    What the line says; traced values.

    Attributes:
        slope: the automatic derivative at the point itself.
        ratio: largest distance between change and integral over both sides, in units of its own error.
        isolated: how far the derivative at the point lies outside those of its neighbours, in units of their variation.
    """

    slope: Any
    ratio: Any
    isolated: Any


def line_integral(
    along: Callable[[Any], Any],
    slope_along: Callable[[Any], Any],
    magnitude: Any,
    sensitivity: Any,
    unit: float,
    real: Any,
) -> Line:
    """
    Compare φ(h) − φ(0) with ∫₀ʰ φ'(t) dt for h = ±0.5·4^-k; traced.

    No stencil truncates and nothing is divided by a small step, so narrow dtypes serve too, and kinks inside the
    interval are integrable. The smallest step whose resolution is within 30 times of the best decides. A derivative
    that is wrong at the point alone has no weight in an integral: it is held against its neighbours on the line
    instead.

    Source: Gauss–Kronrod 7–15 with the error estimate of QUADPACK (Piessens et al., 1983).

    Args:
        along: φ.
        slope_along: φ' by automatic differentiation.
        magnitude: Σ|terms| of φ(0), the size against which φ rounds.
        sensitivity: Σ|∂φ/∂x·x|, the size against which rounding of the arguments moves φ.
        unit: machine epsilon of the widest rounding inside.
        real: dtype of the steps.
    """
    steps = jnp.asarray(np.array([s * 0.5 * 4.0**-k for k in range(DEPTH) for s in (1, -1)]), real)
    f0, slope0 = along(jnp.zeros((), real)), slope_along(jnp.zeros((), real))
    ends = jax.vmap(along)(steps)
    slopes = jax.vmap(slope_along)((steps[:, None] * NODES.astype(real)).reshape(-1)).reshape(len(steps), 15)
    h, mean = jnp.abs(steps), slopes @ KRONROD.astype(real)
    integral, gauss = steps * mean, steps * (slopes @ GAUSS.astype(real))
    absolute = h * (jnp.abs(slopes) @ KRONROD.astype(real))
    spread = h * (jnp.abs(slopes - mean[:, None]) @ KRONROD.astype(real))
    raw = jnp.abs(integral - gauss)
    scaled = spread * jnp.minimum(1.0, (200 * raw / jnp.where(spread > 0, spread, 1)) ** 1.5)
    quadrature = jnp.where(spread > 0, scaled, raw)
    error = jnp.maximum(quadrature, raw * 1e-3) + unit * (2 * magnitude + sensitivity + 4 * absolute)
    usable = jnp.isfinite(ends) & jnp.isfinite(error)
    resolution = jnp.where(usable, error / h, jnp.inf)
    fine = usable & (resolution <= 30 * jnp.min(resolution))
    smallest = jnp.min(jnp.where(fine, h, jnp.inf))
    ratio = jnp.abs(ends - f0 - integral) / jnp.where(error > 0, error, 1)
    right, left = slopes[-2, :2], slopes[-1, :2]
    outside = jnp.maximum(slope0 - jnp.maximum(right[0], left[0]), jnp.minimum(right[0], left[0]) - slope0)
    around = jnp.abs(right[1] - right[0]) + jnp.abs(left[1] - left[0])
    rounding = 64 * unit * (jnp.abs(slope0) + sensitivity) + float(finfo(real).tiny)
    worst = jnp.max(jnp.where(usable & (h == smallest), ratio, 0.0))
    # a line on which nothing can be compared is suspicious: the point is judged alone
    return Line(slope0, jnp.where(jnp.any(usable), worst, jnp.inf), outside / (4 * around + rounding))
