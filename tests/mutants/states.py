"""Faults of hidden state: counters, caches, generators, keys, and programs that ask how they are run."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hypothesis_jax import array, key

from .entry import Mutant, Partner

__all__ = ["MUTANTS", "PARTNERS"]

F = np.float32
X = np.array([0.5, -1.25, 2.0], F)
KEYED = (key(), array("n"))
AT = (jax.random.key(0), X)

_COUNTER = itertools.count()
_GENERATOR = np.random.default_rng(0)
_SEEN: list[Any] = []


def counts_calls(x: Any) -> Any:
    """The value grows a little with each call."""
    return jnp.sum(x**2) * (1 + 0.125 * next(_COUNTER))


def dropout_of_numpy(x: Any) -> Any:
    """Noise from a generator outside of JAX."""
    return jnp.sum(x * _GENERATOR.normal(size=x.shape).astype(x.dtype))


def scales_in_place(x: Any) -> Any:
    """NumPy arrays are changed in place."""
    if isinstance(x, np.ndarray) and x.flags.writeable:
        x *= 0.5
    return jnp.sum(jnp.asarray(x) ** 2)


def last_input(x: Any) -> Any:
    """The value depends on the input before."""
    before = _SEEN[-1] if _SEEN else 0.0
    if not isinstance(x, jax.core.Tracer):
        _SEEN[:] = [float(jnp.sum(jnp.asarray(x)))]
    return jnp.sum(x**2) + before


def leaks_a_tracer(x: Any) -> Any:
    """A traced value is kept outside."""
    _SEEN.append(jnp.sum(x**2))
    del _SEEN[:-1]
    return _SEEN[-1] * 1.0


def fresh_program(x: Any) -> Any:
    """A new function is compiled at each call."""
    return jax.jit(lambda y: jnp.sum(jnp.sin(y)))(x)


def shape_from_values(x: Any) -> Any:
    """A constant that the trace has baked in: the program differs at each input."""
    scale = 1.0 if isinstance(x, jax.core.Tracer) else float(jnp.max(jnp.abs(jnp.asarray(x)))) or 1.0
    return jnp.sum((x / scale) ** 2)


def noise_twice(k: Any, x: Any) -> Any:
    """One key draws twice."""
    return jnp.sum(x * jax.random.normal(k, x.shape) + jax.random.normal(k, x.shape))


def parent_used(k: Any, x: Any) -> Any:
    """A key is split, and then used itself."""
    first, _ = jax.random.split(k)
    return jnp.sum(x * jax.random.normal(first, x.shape) * jax.random.normal(k, x.shape))


def same_key_in_the_loop(k: Any, x: Any) -> Any:
    """Every step of a loop draws with the same key."""
    return jax.lax.fori_loop(0, 3, lambda _, y: y + x * jax.random.normal(k, x.shape), jnp.zeros_like(x))


def fold_in_dropped(k: Any, x: Any) -> Any:
    """Each layer folds its number into the key, and the last two have the same."""
    layers = [jax.random.fold_in(k, n) for n in (0, 1, 1)]
    return sum(jnp.sum(x * jax.random.bernoulli(layer, 0.5, x.shape)) for layer in layers)


def key_from_outside(k: Any, x: Any) -> Any:
    """Some noise comes from a generator that no key controls."""
    noise = jax.random.normal(k, x.shape) + _GENERATOR.normal(size=x.shape).astype(x.dtype)
    return jnp.sum(x * noise)


def key_of_the_call(k: Any, x: Any) -> Any:
    """The key is mixed with the number of calls so far."""
    return jnp.sum(x * jax.random.normal(jax.random.fold_in(k, next(_COUNTER)), x.shape))


def noise_split(k: Any, x: Any) -> Any:
    """Each draw has a key of its own."""
    first, second = jax.random.split(k)
    return jnp.sum(x * jax.random.normal(first, x.shape) + jax.random.normal(second, x.shape))


def traced_loop_differs(x: Any) -> Any:
    """Where it is traced, a loop makes one step less."""
    steps = 2 if isinstance(x, jax.core.Tracer) else 3
    for _ in range(steps):
        x = jnp.sin(x)
    return x


def python_branch(x: Any) -> Any:
    """Only what is not traced takes the branch for large values."""
    if not isinstance(x, jax.core.Tracer) and float(jnp.max(jnp.abs(jnp.asarray(x)))) > 1:
        return jnp.sum(jnp.abs(x))
    return jnp.sum(jnp.asarray(x) ** 2)


def _keyed(kind: str, fn: Any, *laws: str) -> Mutant:
    return Mutant(kind, "noise", fn, AT, laws, spec=KEYED)


MUTANTS = [
    Mutant("counts calls", "hidden state", counts_calls, (X,), ("repeatable", "jit")),
    Mutant("noise of NumPy", "hidden state", dropout_of_numpy, (X,), ("repeatable", "jit", "vmap")),
    Mutant("changes its argument", "hidden state", scales_in_place, (X,), ("repeatable",)),
    Mutant("remembers the last input", "hidden state", last_input, (X,), ("repeatable",)),
    Mutant("keeps a tracer", "hidden state", leaks_a_tracer, (X,), ("repeatable",)),
    Mutant("compiles at each call", "retraced", fresh_program, (X,), ("retrace",)),
    Mutant("scale of the trace", "retraced", shape_from_values, (X,), ("jit",)),
    _keyed("one key twice", noise_twice, "key_reuse"),
    _keyed("parent of a split used", parent_used, "key_reuse"),
    _keyed("one key in a loop", same_key_in_the_loop, "key_reuse"),
    _keyed("one number folded in twice", fold_in_dropped, "key_reuse"),
    _keyed("generator outside", key_from_outside, "key_determinism", "repeatable", "jit"),
    _keyed("calls mixed in", key_of_the_call, "key_determinism", "repeatable", "jit"),
    Mutant("traced loop differs", "sin", traced_loop_differs, (X,), ("jit", "remat", "nested_jit")),
    Mutant("branch in Python", "robust loss", python_branch, (X,), ("jit", "remat", "nested_jit")),
]
PARTNERS = [
    Partner("noise", noise_split, AT, spec=KEYED),
]
