"""Rules of functions that move, select and scatter elements, or step through them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from hypothesis_jax import array, labels, mask, real

from .entry import Rule

__all__ = ["RULES"]

F = np.float32
X = np.array([0.5, -1.25, 2.0], F)
Y = np.array([1.5, 0.75, -0.5], F)
M = np.array([[0.5, -1.25, 2.0], [1.5, 0.75, -0.5]], F)
IDS = np.array([2, 0, 2, 1], np.int32)
V4 = np.array([0.5, -1.25, 2.0, 1.0], F)
SEGMENTS = 3


def _states(x, a):
    """h_t = tanh(a h_{t-1} + x_t), h_{-1} = 0: every state."""

    def step(h, x_t):
        h = jnp.tanh(a * h + x_t)
        return h, h

    return jax.lax.scan(step, jnp.zeros_like(a), x)[1]


def _before(h):
    """The state before each step."""
    return jnp.concatenate([jnp.zeros_like(h[:1]), h[:-1]])


def _adjoints(c, h, a):
    """The cotangent of each pre-activation of the recurrence."""

    def step(later, at):
        c_t, h_t = at
        d = (c_t + later) * (1 - h_t**2)
        return d * a, d

    return jax.lax.scan(step, jnp.zeros_like(a), (c, h), reverse=True)[1]


def _adjoints_forgotten(c, h, a):
    return c * (1 - h**2)


def _decay(x, a):
    """y_t = a y_{t-1} + x_t."""
    return jax.lax.scan(lambda y, x_t: (a * y + x_t,) * 2, jnp.zeros_like(a), x)[1]


RULES = [
    Rule(
        "take",
        lambda x, i: x[i],
        (lambda c, x, i: jnp.zeros_like(x).at[i].add(c), None),
        (X, IDS),
        reverse=True,
        spec=(array("n"), labels("m", below="n")),
        slips={
            "duplicates overwritten": (0, lambda c, x, i: jnp.zeros_like(x).at[i].set(c)),
            "next entry": (0, lambda c, x, i: jnp.zeros_like(x).at[i - 1].add(c)),
        },
    ),
    Rule(
        "segment sum",
        lambda x, i: jax.ops.segment_sum(x, i, SEGMENTS),
        (lambda c, x, i: c[i], None),
        (V4, IDS),
        reverse=True,
        spec=(array("m"), labels("m", below=3)),
        slips={
            "next segment": (0, lambda c, x, i: c[(i + 1) % SEGMENTS]),
            "mean of the segment": (0, lambda c, x, i: c[i] / jnp.bincount(i, length=SEGMENTS)[i]),
        },
    ),
    Rule(
        "where",
        lambda m, x, y: jnp.where(m, x, y),
        (None, lambda c, m, x, y: jnp.where(m, c, 0), lambda c, m, x, y: jnp.where(m, 0, c)),
        (np.array([True, False, True]), X, Y),
        reverse=True,
        spec=(array("n", bool, support=mask), array("n"), array("n")),
        slips={"mask not negated": (2, lambda c, m, x, y: jnp.where(m, c, 0))},
    ),
    Rule(
        "transpose",
        lambda x: x.T,
        (lambda c, x: c.T,),
        (M,),
        reverse=True,
        slips={"reshaped": (0, lambda c, x: c.reshape(x.shape))},
    ),
    Rule(
        "reshape",
        lambda x: x.reshape(-1),
        (lambda c, x: c.reshape(x.shape),),
        (M,),
        reverse=True,
        slips={"column by column": (0, lambda c, x: c.reshape(x.shape[::-1]).T)},
    ),
    Rule(
        "concatenation",
        lambda x, y: jnp.concatenate([x, y]),
        (lambda c, x, y: c[: x.size], lambda c, x, y: c[x.size :]),
        (X, V4),
        reverse=True,
        slips={"first for last": (1, lambda c, x, y: c[: y.size])},
    ),
    Rule(
        "sort",
        jnp.sort,
        (lambda c, x: c[jnp.argsort(jnp.argsort(x))],),
        (X,),
        reverse=True,
        slips={"permutation not inverted": (0, lambda c, x: c[jnp.argsort(x)])},
    ),
    Rule(
        "difference",
        jnp.diff,
        (lambda c, x: jnp.pad(c, (1, 0)) - jnp.pad(c, (0, 1)),),
        (X,),
        reverse=True,
        spec=(array(4),),
        slips={"border dropped": (0, lambda c, x: (jnp.pad(c, (1, 0)) - jnp.pad(c, (0, 1))).at[-1].set(0))},
    ),
    Rule(
        "recurrence",
        _states,
        (
            lambda c, x, a: _adjoints(c, _states(x, a), a),
            lambda c, x, a: jnp.sum(_adjoints(c, _states(x, a), a) * _before(_states(x, a))),
        ),
        (X, F(0.75)),
        reverse=True,
        slips={
            "state of the same step": (1, lambda c, x, a: jnp.sum(_adjoints(c, _states(x, a), a) * _states(x, a))),
            "slope of the step before": (0, lambda c, x, a: _adjoints(c, _before(_states(x, a)), a)),
            "cut after one step": (0, lambda c, x, a: _adjoints_forgotten(c, _states(x, a), a)),
            "last step only": (1, lambda c, x, a: (_adjoints(c, _states(x, a), a) * _before(_states(x, a)))[-1]),
        },
    ),
    Rule(
        "decay",
        _decay,
        (
            lambda t, x, a: _decay(t, a),
            lambda t, x, a: t * _decay(_before(_decay(x, a)), a),
        ),
        (X, F(0.75)),
        spec=(array("n"), array("", support=real(-1.0, 1.0))),
        slips={
            "state held constant": (1, lambda t, x, a: t * _before(_decay(x, a))),
            "state of the same step": (1, lambda t, x, a: t * _decay(_decay(x, a), a)),
        },
    ),
]
