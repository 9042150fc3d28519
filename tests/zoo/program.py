"""Functions for the laws of the program: `repeatable`, `retrace`, `key_reuse`, `key_determinism`."""

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
KEY = jax.random.key(0)

_calls = itertools.count()
_seen: list[Any] = []
_cache: dict[int, Any] = {}


def counts_its_calls(x: Any) -> Any:
    """A counter that enters the value."""
    return jnp.sum(x**2) + 1e-3 * next(_calls)


def keeps_its_losses(x: Any) -> Any:
    """A history of losses, which under tracing are tracers."""
    loss = jnp.sum(x**2)
    _seen[:] = [loss]
    return loss


def pops_the_bias(params: Any) -> Any:
    """The bias is taken out of the caller's dict."""
    bias = params.pop("bias")
    return jnp.sum(params["w"] ** 2) + bias


def shifts_in_place(x: Any) -> Any:
    """A NumPy argument is centred where it lies."""
    if isinstance(x, np.ndarray):
        x -= x.mean()
        return jnp.sum(jnp.asarray(x) ** 2)
    return jnp.sum((x - jnp.mean(x)) ** 2)


def works_on_copies(params: Any) -> Any:
    """Pops, sorts and collects, but only what is its own; the list of tracers dies with the call."""
    params = dict(params)
    bias = params.pop("bias")
    terms: list[Any] = [jnp.sum(leaf**2) for leaf in params.values()]
    terms.append(terms)  # a cycle, which only garbage collection ends
    return sum(terms[:-1]) + bias


def rule_of_its_own(x: Any) -> Any:
    """A custom rule that is defined anew in every call, and kept by the trace of it."""

    @jax.custom_jvp
    def scaled(y: Any, s: Any) -> Any:
        return y * s

    scaled.defjvp(lambda primals, tangents: (scaled(*primals), tangents[0] * primals[1] + primals[0] * tangents[1]))
    return jnp.sum(scaled(jnp.sin(x), jnp.sum(x)))


def jit_in_every_call(x: Any) -> Any:
    """A new function is compiled in every call."""
    return jnp.sum(jax.jit(lambda y: jnp.sin(y) * y)(x))


class Config:
    """Options without equality: each is its own."""

    def __init__(self, power: int) -> None:
        self.power = power


@functools.partial(jax.jit, static_argnames="config")
def _powers(x: Any, config: Config) -> Any:
    return jnp.sum(x**config.power)


def new_options_in_every_call(x: Any) -> Any:
    """A compiled function is given new static options in every call."""
    return _powers(x, Config(3))


@jax.tree_util.register_pytree_node_class
class Restless:
    """Parameters whose static data are a new object after each round trip."""

    def __init__(self, w: Any) -> None:
        self.w = w

    def tree_flatten(self) -> Any:
        """Give a new object for static data."""
        return (self.w,), object()

    @classmethod
    def tree_unflatten(cls, _: Any, children: Any) -> Any:
        """Make one from its parts."""
        return cls(*children)


def restless_parameters(params: Any) -> Any:
    """A plain loss of parameters that no cache recognises."""
    return jnp.sum(params.w**2)


@jax.jit
def _compiled(x: Any) -> Any:
    return jax.nn.relu(x) * jax.jit(lambda y: y**2)(x)


def compiled_once(x: Any) -> Any:
    """Jit at module level, alone, mapped and differentiated; a jit inside a jit, which is only inlined."""
    rows = jax.vmap(_compiled)(jnp.stack([x, 2 * x]))
    return jnp.sum(_compiled(x)) + jnp.sum(rows) + jnp.sum(jax.grad(lambda y: jnp.sum(_compiled(y)))(x))


def parent_and_child(key: Any, x: Any) -> Any:
    """The parent is drawn from after it was split."""
    key, _ = jax.random.split(key)
    child, _ = jax.random.split(key)
    return jnp.sum(x * jax.random.normal(key, x.shape)) + jnp.sum(jax.random.uniform(child, x.shape))


def same_mask_for_each_layer(key: Any, x: Any) -> Any:
    """Dropout in a loop, with one key for all iterations."""
    return jnp.sum(jax.lax.fori_loop(0, 3, lambda _, y: y * jax.random.bernoulli(key, 0.5, y.shape), x))


def key_made_inside(x: Any) -> Any:
    """A key is made, and used for two draws."""
    key = jax.random.key(3)
    return jnp.sum(x * jax.random.normal(key, x.shape)) + jnp.sum(jax.jit(jax.random.uniform)(key))


def keys_by_index(key: Any, x: Any) -> Any:
    """Keys taken from an array by a traced index, chosen by where, folded, cloned, carried by a loop."""
    keys = jax.random.split(key, 4)
    total = jax.lax.fori_loop(0, 2, lambda i, s: s + jax.random.normal(keys[i]), 0.0)
    chosen = jnp.where(True, keys[2], keys[1])
    total += jax.random.normal(chosen) + jax.random.normal(jax.random.fold_in(keys[3], 1))

    def step(carry: Any, _: Any) -> Any:
        k, y = carry
        k, child = jax.random.split(k)
        return (k, y * jax.random.uniform(child, y.shape)), None

    (_, y), _ = jax.lax.scan(step, (jax.random.clone(keys[3]), x), None, length=3)
    return jnp.sum(y) + total


def hidden_generator(key: Any, x: Any) -> Any:
    """NumPy's global generator beside the key."""
    return jnp.sum(x * jax.random.normal(key, x.shape)) + 1e-3 * np.random.default_rng().normal()


def cached_by_identity(key: Any, x: Any) -> Any:
    """Noise is drawn once for each key object: a key with the same bits gets other noise."""
    if isinstance(key, jax.core.Tracer):
        return jnp.sum(x * jax.random.normal(key, x.shape))
    if id(key) not in _cache:
        _cache[id(key)] = (key, np.random.default_rng().normal(size=x.shape))
    return jnp.sum(x * _cache[id(key)][1].astype(F))


def rows_from_one_key(key: Any, x: Any) -> Any:
    """Under vmap every row draws from the first row's key."""

    @jax.custom_batching.custom_vmap
    def noise(k: Any) -> Any:
        return jax.random.normal(k)

    @noise.def_vmap
    def _(size: int, batched: Any, k: Any) -> Any:
        return jnp.broadcast_to(jax.random.normal(k[0]), (size,)), True

    return jnp.sum(x) * noise(key)


def discrete_choices(key: Any, x: Any) -> Any:
    """Samples, permutations and an old key inside: all of them follow from the key."""
    first, second, third = jax.random.split(key, 3)
    sample = jax.random.categorical(first, x)
    order = jax.random.permutation(second, x.shape[0])
    return {"sample": sample, "loss": jnp.sum(x[order] * jnp.arange(3.0)) + jax.random.gamma(third, 2.0)}


FAULTS = [
    Planted("counts its calls", "repeatable", counts_its_calls, (X3,)),
    Planted("keeps its losses", "repeatable", keeps_its_losses, (X3,)),
    Planted("pops the bias", "repeatable", pops_the_bias, ({"w": X3, "bias": F(1)},)),
    Planted("shifts in place", "repeatable", shifts_in_place, (X3,)),
    Planted("jit in every call", "retrace", jit_in_every_call, (X3,)),
    Planted("new options in every call", "retrace", new_options_in_every_call, (X3,)),
    Planted("restless parameters", "retrace", restless_parameters, (Restless(X3),)),
    Planted("parent and child", "key_reuse", parent_and_child, (KEY, X3)),
    Planted("same mask for each layer", "key_reuse", same_mask_for_each_layer, (KEY, X3)),
    Planted("key made inside", "key_reuse", key_made_inside, (X3,)),
    Planted("hidden generator", "key_determinism", hidden_generator, (KEY, X3)),
    Planted("cached by identity", "key_determinism", cached_by_identity, (KEY, X3)),
    Planted("rows from one key", "key_determinism", rows_from_one_key, (KEY, X3)),
]
SOUND = [
    Sound("works on copies", "repeatable", works_on_copies, ({"w": X3, "bias": F(1)},)),
    Sound("rule of its own", "repeatable", rule_of_its_own, (X3,)),
    Sound("compiled once", "retrace", compiled_once, (X3,), tricky=(0 * X3,)),
    Sound("keys by index", "key_reuse", keys_by_index, (KEY, X3), tricky=(KEY, 0 * X3)),
    Sound("discrete choices", "key_determinism", discrete_choices, (KEY, X3), tricky=(KEY, 0 * X3)),
]
