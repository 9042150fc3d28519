"""Functions for the laws of the two modes: `adjoint`, `linear`, `modes`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import linear_call

from .entry import Planted, Sound

F = np.float32
X3 = np.array([0.5, -1.25, 2.0], F)
H3 = X3.astype(np.float16)
A = np.arange(9, dtype=F).reshape(3, 3) / 8


def matrix_not_transposed(x: Any) -> Any:
    """The transpose of a matrix product applies the matrix itself."""
    return jnp.sin(linear_call(lambda m, v: m @ v, lambda m, c: m @ c, jnp.asarray(A), x))


def scale_dropped(x: Any) -> Any:
    """The transpose of a scaling forgets the scale."""
    return linear_call(lambda s, v: s * v, lambda s, c: c, jnp.float32(3), jnp.tanh(x))


def nan_in_reverse(x: Any) -> Any:
    """The transpose divides by the sum, which may be 0."""
    total = jax.lax.stop_gradient(jnp.sum(x))
    return linear_call(lambda s, v: s * v, lambda s, c: c * s * s / s, total, x)


def permuted(x: Any) -> Any:
    """Linear pieces with intricate transposes, and a part of size 0."""
    order = jnp.argsort(x)
    return jnp.cumsum(jnp.sin(x)[order]), jnp.zeros(5, x.dtype).at[order + 1].add(x), x[:0]


def small_entry(x: Any) -> Any:
    """The transpose forgets an entry that is small beside the others."""
    weights = jnp.asarray([1e6, 1.0, 1e-3], x.dtype)
    kept = jnp.asarray([1.0, 1.0, 0.0], x.dtype)
    return linear_call(lambda w, v: w * v, lambda w, c: w * kept * c, weights, jnp.sin(x))


def _transposed_scale(s: Any, c: Any) -> Any:
    return jnp.where(jnp.arange(3) == jnp.argmax(s), 0, s) * c


def largest_dropped(x: Any) -> Any:
    """The transpose of a scaling by x drops the largest factor."""
    return linear_call(lambda s, v: s * v, _transposed_scale, jax.lax.stop_gradient(x), x)


@jax.custom_vjp
def _clipped(x: Any) -> Any:
    return jnp.sin(x)


_clipped.defvjp(lambda x: (jnp.sin(x), x), lambda x, c: (jnp.clip(c, -1, 1) * jnp.cos(x),))


def clips_cotangents(x: Any) -> Any:
    """A backward pass that clips, undeclared."""
    return jnp.sum(_clipped(x) ** 2)


@jax.custom_jvp
def _threshold(x: Any) -> Any:
    return jnp.exp(x)


@_threshold.defjvp
def _threshold_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return jnp.exp(x), jnp.exp(x) * dx + 0.1 * jnp.abs(dx)


def absolute_tangent(x: Any) -> Any:
    """A rule that adds the magnitude of the tangent."""
    return jnp.sum(_threshold(x))


def nested_branches(x: Any) -> Any:
    """Branches that do not depend on the tangent, and a derivative of 0."""
    size = jnp.max(jnp.abs(x))
    return jnp.where(size > 1, x / jnp.where(size > 1, size, 1), x), jnp.round(x)


FAULTS = [
    Planted("matrix not transposed", "adjoint", matrix_not_transposed, (X3,)),
    Planted("scale dropped", "adjoint", scale_dropped, (X3,)),
    Planted("NaN in reverse", "adjoint", nan_in_reverse, (X3,), trigger=(np.array([0.5, -1.5, 1.0], F),)),
    Planted("small entry", "modes", small_entry, (X3,)),
    Planted("largest dropped", "modes", largest_dropped, (X3,)),
    Planted("clips cotangents", "linear", clips_cotangents, (X3,)),
    Planted("absolute tangent", "linear", absolute_tangent, (X3,)),
]
SOUND = [
    Sound("nested branches", "linear", nested_branches, (X3,), tricky=(np.array([1, 1, -1], F),)),
    Sound(
        "widened",
        "modes",
        lambda x: jnp.exp(x.astype(F)),
        (X3.astype(np.float16),),
        tricky=(0 * X3.astype(np.float16),),
    ),
    Sound("a small matrix", "modes", lambda x: jnp.linalg.inv(jnp.outer(x, x) + jnp.eye(3)), (X3,), tricky=(0 * X3,)),
    Sound("permuted", "adjoint", permuted, (X3,), tricky=(np.array([1e9, -1e9, 1e-9], F),)),
]
