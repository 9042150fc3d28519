"""Functions for the law `descent`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .entry import Planted, Sound

F = np.float32
X3 = np.array([0.5, -1.25, 2.0], F)
PARAMS = {"a": np.array([2.0, 1.0], F), "b": np.array([-0.5, 0.25], F)}
stop = jax.lax.stop_gradient


def bowl(x: Any) -> Any:
    """A plain loss."""
    return jnp.sum(jnp.cosh(x - 1))


def ascending(fn: Any, argnums: Any) -> Any:
    """A transform for maximisation, used for a loss."""
    return lambda *args: jax.tree.map(jnp.negative, jax.grad(fn, argnums)(*args))


def two_leaves(params: Any) -> Any:
    """A loss that one leaf lowers and the other raises."""
    return jnp.sum(params["a"] ** 2) - 3 * jnp.sum(params["b"])


def leaves_swapped(fn: Any, argnums: Any) -> Any:
    """A transform that gives each leaf the gradient of the other."""

    def gradient(*args: Any) -> Any:
        found = jax.grad(fn, argnums)(*args)
        return tuple({"a": g["b"], "b": g["a"]} for g in found)

    return gradient


@jax.custom_jvp
def _energy(x: Any) -> Any:
    return jnp.sum(x**2)


_energy.defjvp(lambda primals, tangents: (_energy(*primals), -2 * jnp.sum(primals[0] * tangents[0])))


def force_for_gradient(x: Any) -> Any:
    """The rule gives the force, which is minus the gradient."""
    return _energy(x)


def clipped(fn: Any, argnums: Any) -> Any:
    """A gradient whose every entry is clipped: shorter and elsewhere, but downhill."""
    return lambda *args: jax.tree.map(lambda g: jnp.clip(g, -0.1, 0.1), jax.grad(fn, argnums)(*args))


def narrow_valley(x: Any) -> Any:
    """Curvatures of 1 and a million: most steps go too far."""
    return x[0] ** 2 + 1e6 * x[1] ** 2 + jnp.abs(x[2]) + jnp.max(x)


def bootstrapped(w: Any, x: Any, y: Any) -> Any:
    """A target that is stopped: the gradient lowers the loss against it, not the loss itself."""
    return jnp.sum((jnp.dot(x, w) - stop(y + 1.5 * jnp.dot(x, w))) ** 2)


FAULTS = [
    Planted("ascending", "descent", bowl, (X3,), contract={"gradient": ascending}),
    Planted("leaves swapped", "descent", two_leaves, (PARAMS,), contract={"gradient": leaves_swapped}),
    Planted("force for gradient", "descent", force_for_gradient, (X3,)),
]
SOUND = [
    Sound("narrow valley", "descent", narrow_valley, (X3,), tricky=(np.array([1, 1e-6, 0], F),)),
    Sound("clipped", "descent", bowl, (X3,), tricky=(1 + 0 * X3,), contract={"gradient": clipped}),
    Sound(
        "bootstrapped",
        "descent",
        bootstrapped,
        (X3, X3 / 2, F(0.5)),
        tricky=(X3, 0 * X3, F(0)),
        contract={"intended": ("stop_gradient",), "argnums": 0},
    ),
]
