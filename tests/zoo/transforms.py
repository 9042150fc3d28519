"""Functions for the laws of transforms: `jit`, `vmap`."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap

from .entry import Planted, Sound

F = np.float32
X3 = np.array([0.5, -1.25, 2.0], F)
W = np.array([1.5, 0.75, -0.5], F)


def asks_for_tracers(x: Any) -> Any:
    """Takes a shortcut when it is traced."""
    return jnp.sum(x**2) if isinstance(x, jax.core.Tracer) else jnp.sum(x**2) + x[0]


_CALLS = itertools.count(1)


def counts_calls(x: Any) -> Any:
    """Bakes the number of calls so far into the program."""
    return jnp.sum(x) * next(_CALLS)


@custom_vmap
def _doubled(x: Any) -> Any:
    return 2 * x


@_doubled.def_vmap
def _doubled_rule(axis_size: int, in_batched: Any, x: Any) -> Any:
    return 2 * x[::-1], True


def batch_reversed(x: Any) -> Any:
    """A batching rule that returns the batch in reverse order."""
    return jnp.sum(_doubled(x))


@custom_vmap
def _centred(x: Any) -> Any:
    return x - jnp.mean(x)


@_centred.def_vmap
def _centred_rule(axis_size: int, in_batched: Any, x: Any) -> Any:
    return x - jnp.mean(x), True


def mean_over_batch(x: Any) -> Any:
    """A batching rule that reduces over the batch too."""
    return jnp.sum(_centred(x) ** 2)


def cancelling(x: Any, y: Any) -> Any:
    """Compiled, a fused multiply-add leaves a rest where separate roundings cancel."""
    return jnp.sum(x * y - y * x + x)


def branches(x: Any) -> Any:
    """A branch on a value, which a batch turns into a selection."""
    return jax.lax.cond(x[0] > 0, lambda v: jnp.sum(jnp.sqrt(jnp.abs(v) + 1)), lambda v: -jnp.sum(v**2), x)


FAULTS = [
    Planted("asks for tracers", "jit", asks_for_tracers, (X3,)),
    Planted("counts calls", "jit", counts_calls, (X3,)),
    Planted("batch reversed", "vmap", batch_reversed, (X3,)),
    Planted("mean over batch", "vmap", mean_over_batch, (X3,)),
]
SOUND = [
    Sound("cancelling", "jit", cancelling, (X3 / 3, W / 7), tricky=(1e9 * X3, W / 3)),
    Sound("branches", "vmap", branches, (X3,), tricky=(0 * X3,)),
]
