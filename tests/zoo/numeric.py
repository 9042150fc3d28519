"""Functions for the laws of numbers: `numeric`, `reference`, `expected_grad`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .entry import Planted, Sound

F = np.float32
X3 = np.array([0.5, -1.25, 2.0], F)
W = np.array([1.5, 0.75, -0.5], F)
stop = jax.lax.stop_gradient


@jax.custom_jvp
def _product(x: Any, y: Any) -> Any:
    return jnp.sin(x) * y


@_product.defjvp
def _product_jvp(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    return _product(x, y), jnp.cos(x) * y * dx - jnp.sin(x) * dy


def wrong_sign(x: Any, y: Any) -> Any:
    """A rule with a minus in its second term."""
    return jnp.sum(_product(x, y))


@jax.custom_vjp
def _cosine(x: Any, y: Any) -> Any:
    return jnp.sum(x * y) / jnp.sqrt(jnp.sum(x**2) + 1)


def _cosine_backward(residual: Any, c: Any) -> Any:
    x, y = residual
    size = jnp.sqrt(jnp.sum(x**2) + 1)
    return c * y / size, c * x / size


_cosine.defvjp(lambda x, y: (_cosine(x, y), (x, y)), _cosine_backward)


def dropped_term(x: Any, y: Any) -> Any:
    """A backward pass that takes the denominator for a constant."""
    return _cosine(x, y)


@jax.custom_jvp
def _largest(x: Any) -> Any:
    return jnp.max(x)


@_largest.defjvp
def _largest_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return _largest(x), jnp.sum(jnp.where(x == jnp.max(x), t, 0))


def wrong_at_ties(x: Any) -> Any:
    """Each of several equal maxima gets the whole gradient."""
    return _largest(x)


@jax.custom_jvp
def _root(x: Any) -> Any:
    return jnp.sqrt(1 + x**2)


@_root.defjvp
def _root_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return _root(x), jnp.where(x > 1e3, -1.0, 1.0).astype(x.dtype) * x / jnp.sqrt(1 + x**2) * t


def wrong_when_large(x: Any) -> Any:
    """The wrong sign, beyond 1000 only."""
    return jnp.sum(_root(x))


def rectifiers(x: Any) -> Any:
    """Kinks at 0 and at ties, each with a derivative between its two slopes."""
    return jnp.sum(jax.nn.relu(x)) + jnp.sum(jnp.abs(x)) + jnp.max(x) + jnp.sum(jnp.sort(x) * W)


def quantised(x: Any, codebook: Any) -> Any:
    """A vector quantiser: three stops, each of them meant."""
    nearest = codebook[jnp.argmin((x[:, None] - codebook) ** 2, axis=1)]
    passed = x + stop(nearest - x)
    return jnp.sum(passed**2) + jnp.sum((stop(x) - nearest) ** 2) + jnp.sum((x - stop(nearest)) ** 2) / 4


@jax.custom_vjp
def _reversed(x: Any) -> Any:
    return x


_reversed.defvjp(lambda x: (x, None), lambda _, c: (-c,))


def gradient_reversal(x: Any) -> Any:
    """The derivative is another one than the value's, on purpose."""
    return jnp.sum(jnp.tanh(_reversed(x)))


def softplus_cut(x: Any) -> Any:
    """A softplus that is cut to 0 too early."""
    return jnp.sum(jnp.where(x < -5, 0.0, jnp.logaddexp(x, 0.0)))


@jax.custom_vjp
def _squares(x: Any) -> Any:
    return jnp.sum(x**2)


_squares.defvjp(lambda x: (jnp.sum(x**2), x), lambda x, c: (c * x,))


def half_gradient(x: Any) -> Any:
    """The right value with half the gradient."""
    return _squares(x)


def softplus(x: Any) -> Any:
    """A softplus, written out."""
    return jnp.sum(jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x))))


def plain_softplus(x: Any) -> Any:
    """A softplus, as JAX has it."""
    return jnp.sum(jax.nn.softplus(x))


def squared_error(x: Any, y: Any) -> Any:
    """Half the factor that its author thinks it has."""
    return jnp.sum((x - y) ** 2) / 2


def pseudo_loss(x: Any, y: Any) -> Any:
    """A loss whose gradient, not whose value, is meant."""
    return jnp.sum(stop(x - y) * x)


FAULTS = [
    Planted("wrong sign", "numeric", wrong_sign, (X3, W)),
    Planted("dropped term", "numeric", dropped_term, (X3, W)),
    Planted("wrong at ties", "numeric", wrong_at_ties, (X3,), trigger=(np.array([-1, 2, 2], F),)),
    Planted("wrong when large", "numeric", wrong_when_large, (X3,), trigger=(np.array([0.5, 2e3, 1], F),)),
    Planted(
        "softplus cut",
        "reference",
        softplus_cut,
        (X3,),
        trigger=(np.array([0.5, -6, 2], F),),
        contract={"reference": plain_softplus},
    ),
    Planted("half gradient", "reference", half_gradient, (X3,), contract={"reference": lambda x: jnp.sum(x * x)}),
    Planted(
        "half the factor",
        "expected_grad",
        squared_error,
        (X3, W),
        contract={"expected_grad": lambda x, y: 2 * (x - y), "argnums": 0},
    ),
    Planted(
        "sign of the update",
        "expected_grad",
        squared_error,
        (X3, W),
        contract={"expected_grad": lambda x, y: y - x, "argnums": 0},
    ),
]
SOUND = [
    Sound("rectifiers", "numeric", rectifiers, (X3,), tricky=(np.array([0, 0, -1], F),)),
    Sound(
        "quantised",
        "numeric",
        quantised,
        (X3, np.array([-1, 0.25, 3], F)),
        tricky=(np.array([-1, 0.25, 3], F), np.array([-1, 0.25, 3], F)),
        contract={"intended": ("stop_gradient",)},
    ),
    Sound(
        "gradient reversal",
        "expected_grad",
        gradient_reversal,
        (X3,),
        tricky=(0 * X3,),
        contract={"intended": ("custom_rules",), "expected_grad": lambda x: jnp.tanh(x) ** 2 - 1},
    ),
    Sound(
        "softplus",
        "reference",
        softplus,
        (X3,),
        tricky=(np.array([30, -30, 1e-9], F),),
        contract={"reference": plain_softplus},
    ),
    Sound(
        "pseudo loss",
        "expected_grad",
        pseudo_loss,
        (X3, W),
        tricky=(X3, X3),
        contract={"intended": ("stop_gradient",), "expected_grad": lambda x, y: x - y, "argnums": 0},
    ),
]
