"""Functions for the law of exported programs: `export`."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .entry import Planted, Sound

F = np.float32
X3 = np.array([0.5, -1.25, 2.0], F)

_STEPS = itertools.count(1)


@jax.custom_vjp
def annealed(x: Any) -> Any:
    """The backward rule divides by a temperature of a schedule that advances whenever it is traced."""
    return jnp.tanh(x)


annealed.defvjp(lambda x: (jnp.tanh(x), x), lambda x, c: (c * (1 - jnp.tanh(x) ** 2) / next(_STEPS),))

_MEAN = np.zeros((), F)


def running_mean(x: Any) -> Any:
    """A running mean of the host moves whenever the function is traced, and the program holds its value by then."""
    _MEAN[...] += F(0.125)
    return jnp.sum((x - _MEAN.copy()) ** 2)


@functools.cache
def _window(size: int) -> Any:
    return np.hanning(size + 2)[1:-1].astype(F)


def kept_table(x: Any, key: Any) -> Any:
    """A table of the host that is computed once, noise, and custom calls whose stability is promised."""
    noise = jax.random.uniform(key, x.shape, x.dtype)
    matrix = jnp.eye(x.size, dtype=x.dtype) * (2 + jnp.sum(jnp.cos(x))) ** 2
    return jnp.linalg.cholesky(matrix) @ (x * _window(x.size) + noise)


FAULTS = [
    Planted("annealed", "export", annealed, (X3,)),
    Planted("running mean", "export", running_mean, (X3,)),
]
SOUND = [
    Sound("kept table", "export", kept_table, (X3, jax.random.key(0)), tricky=(0 * X3, jax.random.key(1))),
]
