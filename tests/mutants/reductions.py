"""Rules of functions that reduce, normalise or accumulate."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from hypothesis_jax import array, real

from .entry import Rule

__all__ = ["RULES"]

F = np.float32
X = np.array([0.5, -1.25, 2.0], F)
M = np.array([[0.5, -1.25, 2.0], [1.5, 0.75, -0.5]], F)


def _norm(x):
    total = jnp.sum(x**2)
    return jnp.where(total > 0, jnp.sqrt(jnp.where(total > 0, total, 1)), 0)


def _unit(x):
    size = _norm(x)
    return jnp.where(size > 0, x / jnp.where(size > 0, size, 1), 0)


def _largest(x):
    hit = (x == jnp.max(x)).astype(x.dtype)
    return hit / jnp.sum(hit)


def _tail_sum(c):
    return jnp.cumsum(c[::-1])[::-1]


def _centred(x):
    return x - jnp.mean(x, axis=-1, keepdims=True)


RULES = [
    Rule(
        "mean",
        lambda x: jnp.mean(x),
        (lambda c, x: jnp.full_like(x, c) / x.size,),
        (M,),
        reverse=True,
        slips={
            "sum for mean": (0, lambda c, x: jnp.full_like(x, c)),
            "length of one axis": (0, lambda c, x: jnp.full_like(x, c) / x.shape[1]),
            "sample size less one": (0, lambda c, x: jnp.full_like(x, c) / max(x.size - 1, 1)),
        },
    ),
    Rule(
        "sum of columns",
        lambda x: jnp.sum(x, axis=0),
        (lambda c, x: jnp.broadcast_to(c, x.shape),),
        (M,),
        reverse=True,
        slips={
            "divided by the length": (0, lambda c, x: jnp.broadcast_to(c, x.shape) / x.shape[0]),
            "columns reversed": (0, lambda c, x: jnp.broadcast_to(c[::-1], x.shape)),
            "first row only": (0, lambda c, x: jnp.zeros_like(x).at[:1].set(c)),
        },
    ),
    Rule(
        "max",
        lambda x: jnp.max(x),
        (lambda c, x: c * _largest(x),),
        (X,),
        reverse=True,
        spec=(array(8),),
        slips={
            "each tie in full": (0, lambda c, x: c * (x == jnp.max(x)).astype(x.dtype)),
            "smallest": (0, lambda c, x: c * (x == jnp.min(x)).astype(x.dtype)),
            "largest in size": (0, lambda c, x: c * _largest(jnp.abs(x))),
        },
    ),
    Rule(
        "cumsum",
        jnp.cumsum,
        (lambda c, x: _tail_sum(c),),
        (X,),
        reverse=True,
        slips={
            "not reversed": (0, lambda c, x: jnp.cumsum(c)),
            "exclusive": (0, lambda c, x: _tail_sum(c) - c),
        },
    ),
    Rule(
        "softmax",
        lambda x: jax.nn.softmax(x),
        (lambda c, x: jax.nn.softmax(x) * (c - jnp.sum(c * jax.nn.softmax(x))),),
        (X,),
        reverse=True,
        slips={
            "diagonal only": (0, lambda c, x: c * jax.nn.softmax(x) * (1 - jax.nn.softmax(x))),
            "projection dropped": (0, lambda c, x: jax.nn.softmax(x) * c),
            "mean for inner product": (0, lambda c, x: jax.nn.softmax(x) * (c - jnp.mean(c))),
        },
    ),
    Rule(
        "logsumexp",
        lambda x: jax.nn.logsumexp(x),
        (lambda t, x: jnp.sum(t * jax.nn.softmax(x)),),
        (X,),
        slips={
            "not normalised": (0, lambda t, x: jnp.sum(t * jnp.exp(x - jnp.max(x)))),
            "largest only": (0, lambda t, x: jnp.sum(t * _largest(x))),
        },
    ),
    Rule(
        "norm",
        _norm,
        (lambda t, x: jnp.sum(t * _unit(x)),),
        (X,),
        spec=(array("n", support=real(-1e6, 1e6)),),
        slips={
            "of the squared norm": (0, lambda t, x: jnp.sum(2 * t * x)),
            "0/0 at zero": (0, lambda t, x: jnp.sum(t * x / jnp.sqrt(jnp.sum(x**2)))),
        },
    ),
    Rule(
        "variance",
        lambda x: jnp.mean(_centred(x) ** 2),
        (lambda c, x: 2 * c * _centred(x) / x.size,),
        (X,),
        reverse=True,
        spec=(array("n", support=real(-1e3, 1e3)),),
        slips={
            "not centred": (0, lambda c, x: 2 * c * x / x.size),
            "sample size less one": (0, lambda c, x: 2 * c * _centred(x) / max(x.size - 1, 1)),
        },
    ),
    Rule(
        "layer norm",
        lambda x: _centred(x) / jnp.sqrt(jnp.mean(_centred(x) ** 2, -1, keepdims=True) + 1),
        (lambda c, x: _centred((c - _normed(x) * jnp.mean(c * _normed(x), -1, keepdims=True)) / _spread(x)),),
        (M,),
        reverse=True,
        spec=(array("n d", support=real(-1e2, 1e2)),),
        slips={
            "spread held constant": (0, lambda c, x: _centred(c / _spread(x))),
            "mean held constant": (
                0,
                lambda c, x: (c - _normed(x) * jnp.mean(c * _normed(x), -1, keepdims=True)) / _spread(x),
            ),
            "mean over the batch": (
                0,
                lambda c, x: _centred((c - _normed(x) * jnp.mean(c * _normed(x), 0, keepdims=True)) / _spread(x)),
            ),
        },
    ),
]


def _spread(x):
    return jnp.sqrt(jnp.mean(_centred(x) ** 2, -1, keepdims=True) + 1)


def _normed(x):
    return _centred(x) / _spread(x)
