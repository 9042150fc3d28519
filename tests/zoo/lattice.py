"""Functions for the law of stacks of transforms: `lattice`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap

from .entry import Planted, Sound

F = np.float32
X3 = np.array([0.5, -1.25, 2.0], F)


@jax.custom_vjp
def cotangent_stopped(x: Any) -> Any:
    """The backward rule stops its cotangent, so that nothing can be differentiated through it."""
    return jnp.tanh(x)


cotangent_stopped.defvjp(lambda x: (jnp.tanh(x), x), lambda x, c: (jax.lax.stop_gradient(c) * (1 - jnp.tanh(x) ** 2),))


@custom_vmap
def _doubled_sine(x: Any) -> Any:
    return 2 * jnp.sin(x)


@_doubled_sine.def_vmap
def _doubled_sine_rule(axis_size: int, in_batched: Any, x: Any) -> Any:
    return 2 * jax.lax.stop_gradient(jnp.sin(x)), True


def batch_cut_off(x: Any) -> Any:
    """A batching rule computes the right value, cut off from the gradient."""
    return jnp.sum(_doubled_sine(x))


def rule_closes_over(x: Any, scale: Any) -> Any:
    """A custom rule closes over another argument of the function."""

    @jax.custom_jvp
    def scaled(y: Any) -> Any:
        return y * scale

    scaled.defjvp(lambda primals, tangents: (primals[0] * scale, tangents[0] * scale))
    return jnp.sum(scaled(jnp.sin(x)))


def _iterate(step: Callable[[Any], Any], start: Any) -> Any:
    return jax.lax.while_loop(lambda z: jnp.max(jnp.abs(z - step(z))) > 1e-6, step, start)


@jax.custom_vjp
def fixed_point(a: Any) -> Any:
    """A fixed point, differentiated implicitly by a second loop."""
    return _iterate(lambda z: a + 0.25 * jnp.cos(z), a)


def _fixed_point_forward(a: Any) -> tuple[Any, Any]:
    z = fixed_point(a)
    return z, z


fixed_point.defvjp(_fixed_point_forward, lambda z, c: (_iterate(lambda w: c - 0.25 * jnp.sin(z) * w, c),))


@custom_vmap
def _centred(x: Any) -> Any:
    return x - jnp.mean(x)


@_centred.def_vmap
def _centred_rule(axis_size: int, in_batched: Any, x: Any) -> Any:
    return x - jnp.mean(x, axis=1, keepdims=True), True


def own_batching(x: Any) -> Any:
    """A function with a batching rule of its own."""
    return _centred(jnp.sin(x))


FAULTS = [
    Planted("cotangent stopped", "lattice", cotangent_stopped, (X3,)),
    Planted("batch cut off", "lattice", batch_cut_off, (X3,)),
    Planted("rule closes over", "lattice", rule_closes_over, (X3, F(2)), contract={"argnums": 0}),
]
SOUND = [
    Sound("fixed point", "lattice", fixed_point, (X3 / 4,), tricky=(0 * X3,)),
    Sound("own batching", "lattice", own_batching, (X3,), tricky=(1e9 * X3,)),
]
