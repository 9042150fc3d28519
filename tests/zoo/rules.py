"""Functions for the law `custom_rule`: wrong rules that hide, and rules that are better than their body."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .entry import Planted, Sound

F = np.float32
X3 = np.array([0.5, -1.25, 2.0], F)


@jax.custom_jvp
def _tanh(x: Any) -> Any:
    return jnp.tanh(x)


_tanh.defjvp(lambda primals, tangents: (_tanh(*primals), tangents[0] * (1 - jnp.tanh(primals[0]))))


def behind_a_zero(x: Any) -> Any:
    """A term that is weighted with 0 at first, with the square missing in its derivative."""
    return jnp.sum(x**2) + 0.0 * jnp.sum(_tanh(x))


def behind_a_stop(x: Any) -> Any:
    """The same in a statistic that is only shown, inside of jit and scan."""
    step = jax.jit(lambda carry, v: (carry + _tanh(v), None))
    shown, _ = jax.lax.scan(step, jnp.zeros_like(x[0]), x)
    return jnp.sum(jnp.cos(x)) + jax.lax.stop_gradient(shown) * 0


@jax.custom_vjp
def _weighted(x: Any, y: Any) -> Any:
    return jnp.sum(x**2 * y)


_weighted.defvjp(lambda x, y: (jnp.sum(x**2 * y), (x, y)), lambda r, c: (c * r[0] ** 2, 2 * c * r[0] * r[1]))


def swapped_but_symmetric(x: Any) -> Any:
    """The two cotangents change places, which their sum does not show."""
    return _weighted(x, x)


@jax.custom_vjp
def _entropy(p: Any) -> Any:
    return -jnp.sum(p * jnp.log(p) - p)


_entropy.defvjp(lambda p: (-jnp.sum(p * jnp.log(p)), p), lambda p, c: (-c * jnp.log(p),))


def another_value_forward(p: Any) -> Any:
    """The forward pass of the rule leaves out what the body adds."""
    return _entropy(p)


@jax.custom_jvp
def _norm(x: Any) -> Any:
    return jnp.sqrt(jnp.sum(x**2))


@_norm.defjvp
def _norm_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    size = _norm(x)
    return size, jnp.sum(x * t) / jnp.where(size == 0, 1, size)


@jax.custom_vjp
def _log_sum(x: Any) -> Any:
    top = jnp.max(x)
    return jnp.log(jnp.sum(jnp.exp(x - top))) + top


_log_sum.defvjp(lambda x: (_log_sum(x), x), lambda x, c: (c * jax.nn.softmax(x),))


def better_than_the_body(x: Any) -> Any:
    """Rules where the body's own derivative is NaN or cancels: at 0, at ties, for large arguments."""
    return _norm(x) + _log_sum(x) + jnp.sum(jax.nn.relu(x)) + jnp.sum(jax.nn.relu6(x) * jax.nn.silu(x))


def taylor_terms(x: Any) -> Any:
    """The slope of sinc: one of JAX's rules stands for a Taylor term, of which its body holds only the value at 0."""
    return jnp.sum(jax.vmap(jax.grad(jnp.sinc))(x))


FAULTS = [
    Planted("behind a zero", "custom_rule", behind_a_zero, (X3,)),
    Planted("behind a stop", "custom_rule", behind_a_stop, (X3,), contract={"intended": ("stop_gradient",)}),
    Planted("swapped but symmetric", "custom_rule", swapped_but_symmetric, (X3,)),
    Planted("another value forward", "custom_rule", another_value_forward, (np.abs(X3),)),
]
SOUND = [
    Sound("better than the body", "custom_rule", better_than_the_body, (X3,), tricky=(np.zeros(3, F),)),
    Sound("better than the body, far out", "custom_rule", better_than_the_body, (X3,), tricky=(1e3 * X3,)),
    Sound("Taylor terms", "numeric", taylor_terms, (X3,), tricky=(np.array([0, 0.5, 1e-3], F),)),
]
