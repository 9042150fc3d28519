"""Functions for the laws of the contract: `structure`, `finite`, `rejects`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .entry import Planted, Sound

F = np.float32
X3 = np.array([0.5, -1.25, 2.0], F)
TREE = {"w": X3, "b": (F(0.25),)}


@jax.custom_vjp
def _summed(x: Any) -> Any:
    return jnp.sum(x) ** 2


_summed.defvjp(lambda x: (_summed(x), x), lambda x, c: (2 * c * jnp.sum(x),))


def gradient_not_broadcast(x: Any) -> Any:
    """The backward pass returns the gradient of the sum, a scalar, for a vector."""
    return _summed(x)


@jax.custom_vjp
def _cubed(x: Any) -> Any:
    return jnp.sum(x**3)


def _cubed_backward(residual: Any, c: Any) -> Any:
    raise KeyError("residual")


_cubed.defvjp(lambda x: (_cubed(x), x), _cubed_backward)


def backward_raises(x: Any) -> Any:
    """The backward pass cannot run at all."""
    return _cubed(x)


def tree_loss(params: Any) -> Any:
    """A plain loss of a tree."""
    return jnp.sum(params["w"] ** 2) + params["b"][0] ** 2


def flattening_gradient(fn: Any, argnums: Any) -> Any:
    """A gradient transform that gives the leaves of the gradient without their tree."""
    return lambda *args: jax.tree.map(jax.tree.leaves, jax.grad(fn, argnums)(*args), is_leaf=lambda t: t is not args)


def integers_in_the_tree(params: Any) -> Any:
    """A tree that holds an integer array and no number at one place: float0 and None are right there."""
    return jnp.sum(params["table"][params["index"]] ** 2) * params["scale"]


def where_outside(x: Any) -> Any:
    """The mask comes after the dangerous operation: 0 · NaN in the backward pass below 1."""
    return jnp.sum(jnp.where(x > 1, jnp.sqrt(x - 1), 0))


def norm_squared(x: Any) -> Any:
    """A smooth function through the square root, whose derivative at 0 is infinite."""
    return jnp.sqrt(jnp.sum(x**2)) ** 2


def naive_sigmoid(x: Any) -> Any:
    """Inf / inf in float32 only, for very negative arguments."""
    return jnp.sum(1 / (1 + jnp.exp(-x)))


def square_of_masked(x: Any) -> Any:
    """A mean that ignores NaN, but whose zero cotangent meets 2·NaN."""
    return jnp.nanmean(x**2)


def safe_norm(x: Any) -> Any:
    """The square root never sees 0: value 0 and gradient 0 at the zero vector."""
    total = jnp.sum(x**2)
    zero = total == 0
    return jnp.where(zero, 0, jnp.sqrt(jnp.where(zero, 1, total)))


def root(x: Any) -> Any:
    """The slope at 0 is infinite, and so is the derivative."""
    return jnp.sum(jnp.sqrt(x))


def masked_logits(x: Any) -> Any:
    """Minus infinity among logits: the value and its gradient stay finite."""
    return jax.nn.logsumexp(jnp.where(jnp.isneginf(x), -jnp.inf, x))


def nan_mean(x: Any) -> Any:
    """NaN entries are taken out before anything is done with them."""
    return jnp.nanmean(x)


def mean_squared(prediction: Any, target: Any) -> Any:
    """No check of shapes: (n,) against (n, 1) broadcasts to (n, n)."""
    return jnp.mean((prediction - target) ** 2)


def assertive(x: Any) -> Any:
    """Refuses a matrix with another error than it declares."""
    assert jnp.ndim(x) == 1
    return jnp.sum(x**2)


def checked_squared(prediction: Any, target: Any) -> Any:
    """Refuses shapes that differ."""
    if prediction.shape != target.shape:
        raise ValueError(f"shapes differ: {prediction.shape} and {target.shape}")
    return jnp.mean((prediction - target) ** 2)


_COLUMN = (np.zeros(3, F), np.zeros((3, 1), F))

FAULTS = [
    Planted("gradient not broadcast", "structure", gradient_not_broadcast, (X3,)),
    Planted("backward raises", "structure", backward_raises, (X3,)),
    Planted("gradient without tree", "structure", tree_loss, (TREE,), contract={"gradient": flattening_gradient}),
    Planted("where outside", "finite", where_outside, (X3 + 4,), trigger=(X3,)),
    Planted("norm squared", "finite", norm_squared, (X3,), trigger=(np.zeros(3, F),)),
    Planted("naive sigmoid", "finite", naive_sigmoid, (X3,), trigger=(np.array([0.5, -100.0, 2.0], F),)),
    Planted("square of masked", "finite", square_of_masked, (X3,), trigger=(np.array([0.5, np.nan, 2.0], F),)),
    Planted(
        "broadcasts",
        "rejects",
        mean_squared,
        (X3, X3 / 2),
        contract={"rejects": ((_COLUMN, ValueError),)},
    ),
    Planted(
        "asserts",
        "rejects",
        assertive,
        (X3,),
        contract={"rejects": (((np.zeros((2, 2), F),), ValueError),)},
    ),
]
SOUND = [
    Sound(
        "integers in the tree",
        "structure",
        integers_in_the_tree,
        ({"table": X3, "index": np.array([2, 0]), "scale": F(1.5), "spare": None},),
        tricky=({"table": X3, "index": np.array([1, 1]), "scale": F(0), "spare": None},),
    ),
    Sound("safe norm", "finite", safe_norm, (X3,), tricky=(np.zeros(3, F),)),
    Sound("root", "finite", root, (np.abs(X3),), tricky=(np.array([0, 1e-20, 4], F),)),
    Sound("masked logits", "finite", masked_logits, (X3,), tricky=(np.array([-np.inf, 0, 1e3], F),)),
    Sound("nan mean", "finite", nan_mean, (X3,), tricky=(np.array([np.nan, 0, 1e3], F),)),
    Sound(
        "checked shapes",
        "rejects",
        checked_squared,
        (X3, X3 / 2),
        tricky=(X3, X3),
        contract={"rejects": ((_COLUMN, ValueError),)},
    ),
]
