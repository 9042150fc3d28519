"""Functions and gradient transforms for the laws of argnums: `argnums_order`, `value_and_grad`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .entry import Planted, Sound

F = np.float32
X3 = np.array([0.5, -1.25, 2.0], F)
W = np.array([1.5, 0.75, -0.5], F)


def two_sided(a: Any, b: Any) -> Any:
    """A loss that treats its two arguments differently."""
    return jnp.sum(jnp.sin(a) * b**2)


def sorting(fn: Any, argnums: Any) -> Any:
    """A gradient transform that sorts its argnums."""
    return jax.grad(fn, argnums if isinstance(argnums, int) else tuple(sorted(argnums)))


def no_negative(fn: Any, argnums: Any) -> Any:
    """A gradient transform that refuses to count from the end."""
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if min(numbers) < 0:
        raise ValueError(f"argnums={argnums} must not be negative")
    return jax.grad(fn, argnums)


def unwrapping(fn: Any, argnums: Any) -> Any:
    """A gradient transform that takes a tuple of one for its only element."""
    one = not isinstance(argnums, int) and len(argnums) == 1
    return jax.grad(fn, argnums[0] if one else argnums)


@jax.custom_vjp
def _shifted(x: Any) -> Any:
    return jnp.sum(x**2)


_shifted.defvjp(lambda x: (jnp.sum(x**2) + 1, x), lambda x, c: (2 * c * x,))


def forward_pass_shifts(x: Any) -> Any:
    """The forward pass of the rule returns another value than the function."""
    return _shifted(x)


@jax.custom_jvp
def _exact(x: Any) -> Any:
    return jnp.sum(jnp.tanh(x))


@_exact.defjvp
def _exact_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return jnp.sum(x - x**3 / 3), jnp.sum(t * (1 - jnp.tanh(x) ** 2))


def primal_approximated(x: Any) -> Any:
    """The JVP rule returns a cheap approximation as its primal."""
    return _exact(x)


def of_trees(a: Any, b: Any, c: Any) -> Any:
    """Arguments with trees of their own, one of them empty."""
    return jnp.sum(a["w"] * b[0]) + jnp.sum(a["w"] ** 2) * c


def rematerialised(x: Any, y: Any) -> Any:
    """A loss whose forward pass is computed twice."""
    return jax.checkpoint(lambda p, q: jnp.sum(jnp.tanh(p) * q))(x, y)


_TREES = ({"w": X3, "none": {}}, (W,), F(0.5))
_AT_ZERO = ({"w": 0 * X3, "none": {}}, (W,), F(0))

FAULTS = [
    Planted("sorted argnums", "argnums_order", two_sided, (X3, W), contract={"gradient": sorting}),
    Planted("negative argnums", "argnums_order", two_sided, (X3, W), contract={"gradient": no_negative}),
    Planted("tuple of one", "argnums_order", two_sided, (X3, W), contract={"gradient": unwrapping}),
    Planted("forward pass shifts", "value_and_grad", forward_pass_shifts, (X3,)),
    Planted("primal approximated", "value_and_grad", primal_approximated, (X3,)),
]
SOUND = [
    Sound("trees", "argnums_order", of_trees, _TREES, tricky=_AT_ZERO),
    Sound("rematerialised", "value_and_grad", rematerialised, (X3, W), tricky=(100 * X3, 1e-9 * W)),
]
