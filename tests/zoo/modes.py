"""Functions for the law of the two modes: `adjoint`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import linear_call

from .entry import Planted, Sound

F = np.float32
X3 = np.array([0.5, -1.25, 2.0], F)
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


FAULTS = [
    Planted("matrix not transposed", "adjoint", matrix_not_transposed, (X3,)),
    Planted("scale dropped", "adjoint", scale_dropped, (X3,)),
    Planted("NaN in reverse", "adjoint", nan_in_reverse, (X3,), trigger=(np.array([0.5, -1.5, 1.0], F),)),
]
SOUND = [
    Sound("permuted", "adjoint", permuted, (X3,), tricky=(np.array([1e9, -1e9, 1e-9], F),)),
]
