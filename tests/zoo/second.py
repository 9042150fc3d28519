"""Functions for the laws of second derivatives and of precision: `numeric_second`, `symmetric`, `precision`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .entry import Planted, Sound

F = np.float32
X3 = np.array([0.5, -1.25, 2.0], F)
W = np.array([1.5, 0.75, -0.5], F)


@jax.custom_jvp
def _cube(x: Any) -> Any:
    return x**3


@_cube.defjvp
def _cube_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return _cube(x), 3 * jax.lax.stop_gradient(x**2) * dx


def cut_second(x: Any) -> Any:
    """A right rule whose own derivative is cut."""
    return jnp.sum(_cube(x))


@jax.custom_jvp
def _signed_square(x: Any) -> Any:
    return x * jnp.abs(x) * jnp.abs(x)


@_signed_square.defjvp
def _signed_square_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return _signed_square(x), 3 * x**3 / jnp.where(x == 0, 1, x) * dx + 0 * jnp.sqrt(jnp.abs(x)) * dx


def nan_second(x: Any) -> Any:
    """The derivative of the rule is 0 times infinity at 0."""
    return jnp.sum(_signed_square(x))


@jax.custom_vjp
def _bilinear(x: Any, y: Any) -> Any:
    return jnp.sum(x * jnp.sin(y))


_bilinear.defvjp(
    lambda x, y: (_bilinear(x, y), (x, y)),
    lambda saved, c: (c * jax.lax.stop_gradient(jnp.sin(saved[1])), c * saved[0] * jnp.cos(saved[1])),
)


def one_side_cut(x: Any, y: Any) -> Any:
    """A backward pass that cuts one of two mixed derivatives."""
    return _bilinear(x, y)


@jax.custom_jvp
def _turn(x: Any) -> Any:
    return jnp.stack([x[0] ** 2 / 2, x[1] * x[2]])


@_turn.defjvp
def _turn_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    held = jax.lax.stop_gradient(x)
    return _turn(x), jnp.stack([x[0] * dx[0], held[1] * dx[2] + x[2] * dx[1]])


def stale_mixed(x: Any) -> Any:
    """A rule that holds one factor of a mixed derivative."""
    return jnp.sum(jnp.sin(_turn(x)))


def log_of_difference(x: Any) -> Any:
    """log(1 - tanh²) in the textbook's form."""
    return jnp.sum(jnp.log(1 - jnp.tanh(x) ** 2))


def one_pass_variance(x: Any) -> Any:
    """The mean of squares less the square of the mean."""
    return jnp.log(jnp.mean(x**2) - jnp.mean(x) ** 2 + 1e-3)


def half_sum(x: Any) -> Any:
    """A sum that leaves the range of float16 before it is divided."""
    return jnp.sum(x * x.dtype.type(8000)) / x.dtype.type(60000)


def softplus_and_norm(x: Any, y: Any) -> Any:
    """Stable forms with kinks and edges in their derivatives."""
    size = jnp.sum(x**2)
    guarded = jnp.where(size > 0, jnp.sqrt(jnp.where(size > 0, size, 1)), 0)
    return guarded + jnp.sum(jax.nn.softplus(x) * y) + jnp.sum(jax.nn.relu(y) ** 2)


def smooth(x: Any, y: Any) -> Any:
    """Mixed second derivatives everywhere."""
    return jax.nn.logsumexp(x * y) + jnp.sum(jnp.tanh(x) ** 2 * y)


def small_differences(x: Any) -> Any:
    """Cancellation to a number that is small beside 1."""
    return jnp.sum(1 - jnp.cos(x)) + jnp.var(x)


FAULTS = [
    Planted("cut second", "numeric_second", cut_second, (X3,)),
    Planted("NaN second", "numeric_second", nan_second, (X3,), trigger=(np.array([0.5, 0, 2], F),)),
    Planted("one side cut", "symmetric", one_side_cut, (X3, W)),
    Planted("stale mixed", "symmetric", stale_mixed, (X3,)),
    Planted("log of difference", "precision", log_of_difference, (X3,), trigger=(np.array([0.5, 9.5, 2], F),)),
    Planted("one pass variance", "precision", one_pass_variance, (X3,), trigger=(np.array([900.5, 900.25, 900], F),)),
    Planted("half sum", "precision", half_sum, (X3.astype(np.float16),), trigger=(np.array([8, 8, 8], np.float16),)),
]
SOUND = [
    Sound("softplus and norm", "numeric_second", softplus_and_norm, (X3, W), tricky=(0 * X3, 0 * W)),
    Sound("smooth", "symmetric", smooth, (X3, W), tricky=(np.array([40, 40, -1e-8], F), np.array([2, 2, 1e3], F))),
    Sound("small differences", "precision", small_differences, (X3,), tricky=(np.array([1e-4, 1e-4, 0], F),)),
]
