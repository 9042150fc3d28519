"""Rules of functions that act on each element alone."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from hypothesis_jax import array, positive, real

from .entry import Rule

__all__ = ["RULES"]

F = np.float32
X = np.array([0.5, -1.25, 2.0], F)
Y = np.array([1.5, 0.75, -0.5], F)
P = np.array([0.5, 1.25, 2.0], F)
Q = np.array([1.5, 0.75, 3.0], F)
N, POSITIVE = array("n"), array("n", support=positive)

RULES = [
    Rule(
        "sin", jnp.sin, (lambda t, x: t * jnp.cos(x),), (X,), slips={"own function": (0, lambda t, x: t * jnp.sin(x))}
    ),
    Rule(
        "exp",
        jnp.exp,
        (lambda t, x: t * jnp.exp(x),),
        (X,),
        slips={
            "first terms of the series": (0, lambda t, x: t * (1 + x + x**2 / 2)),
            "exponential of the size": (0, lambda t, x: t * jnp.exp(jnp.abs(x))),
        },
    ),
    Rule(
        "log",
        jnp.log,
        (lambda c, x: c / x,),
        (P,),
        reverse=True,
        spec=(POSITIVE,),
        slips={"guarded too much": (0, lambda c, x: c / jnp.maximum(x, 0.1))},
    ),
    Rule(
        "sqrt",
        jnp.sqrt,
        (lambda c, x: c / (2 * jnp.sqrt(x)),),
        (P,),
        reverse=True,
        spec=(POSITIVE,),
        slips={
            "half is missing": (0, lambda c, x: c / jnp.sqrt(x)),
            "epsilon in the root": (0, lambda c, x: c / (2 * jnp.sqrt(x + 1e-3))),
        },
    ),
    Rule(
        "tanh",
        jnp.tanh,
        (lambda c, x: c * (1 - jnp.tanh(x) ** 2),),
        (X,),
        reverse=True,
        slips={
            "square is missing": (0, lambda c, x: c * (1 - jnp.tanh(x))),
            "residual of the argument": (0, lambda c, x: c * (1 - x**2)),
        },
    ),
    Rule(
        "cube",
        lambda x: x**3,
        (lambda t, x: 3 * x**2 * t,),
        (X,),
        spec=(array("n", support=real(-1e6, 1e6)),),
        slips={
            "exponent not lowered": (0, lambda t, x: 3 * x**3 * t),
            "size for value": (0, lambda t, x: 3 * x * jnp.abs(x) * t),
        },
    ),
    Rule(
        "reciprocal",
        lambda x: 1 / x,
        (lambda c, x: -c / x**2,),
        (P,),
        reverse=True,
        spec=(array("n", support=real(1e-3, 1e6)),),
        slips={"minus is missing": (0, lambda c, x: c / x**2)},
    ),
    Rule(
        "relu",
        lambda x: jnp.maximum(x, 0),
        (lambda c, x: jnp.where(x > 0, c, 0),),
        (X,),
        reverse=True,
        slips={
            "wrong side": (0, lambda c, x: jnp.where(x < 0, c, 0)),
            "mask of the cotangent": (0, lambda c, x: jnp.where(c > 0, c, 0)),
        },
    ),
    Rule(
        "clip",
        lambda x: jnp.clip(x, -3, 3),
        (lambda c, x: jnp.where(jnp.abs(x) <= 3, c, 0),),
        (X,),
        reverse=True,
        slips={
            "passes beyond the limits": (0, lambda c, x: c),
            "one limit is missing": (0, lambda c, x: jnp.where(x <= 3, c, 0)),
        },
    ),
    Rule(
        "product",
        lambda x, y: x * y,
        (lambda t, x, y: t * y, lambda t, x, y: x * t),
        (X, Y),
        slips={"own factor": (1, lambda t, x, y: y * t)},
    ),
    Rule(
        "quotient",
        lambda x, y: x / y,
        (lambda c, x, y: c / y, lambda c, x, y: -c * x / y**2),
        (X, Q),
        reverse=True,
        spec=(array("n", support=real(-1e3, 1e3)), array("n", support=real(1e-2, 1e3))),
        slips={
            "denominator not squared": (1, lambda c, x, y: -c * x / y),
            "minus is missing": (1, lambda c, x, y: c * x / y**2),
        },
    ),
    Rule(
        "power",
        lambda x, y: x**y,
        (lambda t, x, y: t * y * x ** (y - 1), lambda t, x, y: t * x**y * jnp.log(x)),
        (P, Y),
        spec=(array("n", support=real(1e-2, 1e2)), array("n", support=real(-4.0, 4.0))),
        slips={
            "exponent not lowered": (0, lambda t, x, y: t * y * x**y),
            "logarithm of the exponent": (1, lambda t, x, y: t * x**y * jnp.log(1 + jnp.abs(y))),
        },
    ),
    Rule(
        "multiply-add",
        lambda x, y, z: x * y + z,
        (lambda c, x, y, z: c * y, lambda c, x, y, z: c * x, lambda c, x, y, z: c),
        (X, Y, P),
        reverse=True,
        slips={"sum for product": (2, lambda c, x, y, z: c * (x + y))},
    ),
    Rule(
        "interpolation",
        lambda x, y, w: x + w * (y - x),
        (lambda t, x, y, w: t * (1 - w), lambda t, x, y, w: t * w, lambda t, x, y, w: t * (y - x)),
        (X, Y, np.array([0.25, 0.5, 0.75], F)),
        spec=(N, N, array("n", support=real(0.0, 1.0))),
        slips={
            "weights exchanged": (1, lambda t, x, y, w: t * (1 - w)),
            "difference turned round": (2, lambda t, x, y, w: t * (x - y)),
        },
    ),
]
