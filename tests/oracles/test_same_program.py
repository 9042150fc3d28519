"""Programs that are the same expressions are known to be; those that may differ are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from autoprop import Target
from autoprop._subject import Subject
from autoprop.oracles.same_program import Numbering, expressions

X = np.arange(1, 4, dtype=np.float32)


def same(left: Callable[..., Any], right: Callable[..., Any], *args: Any) -> bool:
    """Say whether two functions have the same numbers, each having one."""
    subject = Subject(Target(left, args), args)
    numbers = [expressions(subject, i, f, *args) for i, f in enumerate((left, right))]
    return numbers[0] is not None and numbers[0] == numbers[1]


def loss(x: Any) -> Any:
    """Return a scalar by way of a softmax, which is a program of its own, and a draw."""
    return jnp.sum(jax.nn.softmax(x) * x) + jax.random.normal(jax.random.key(3))


@jax.custom_jvp
def ruled(x: Any) -> Any:
    """Return x² with a rule of its own."""
    return x * x


ruled.defjvp(lambda x, t: (x[0] * x[0], 3 * x[0] * t[0]))


@pytest.mark.parametrize("f", [loss, lambda x: jnp.sum(ruled(x))], ids=["loss", "ruled"])
def test_gradients(f: Any) -> None:
    """A gradient is the same program under jit and remat; with anything added to it, it is another one."""
    assert same(jax.grad(f), jax.grad(jax.jit(f)), X)
    assert same(jax.grad(f), jax.jit(jax.grad(jax.checkpoint(f))), X)
    assert not same(jax.grad(f), jax.grad(lambda x: f(x + 0)), X)


def test_rules() -> None:
    """Functions of one value with different rules are the same until they are differentiated."""
    assert same(ruled, lambda x: x * x, X)
    assert not same(jax.grad(lambda x: jnp.sum(ruled(x))), jax.grad(lambda x: jnp.sum(x * x)), X)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (lambda x: x + 2 * x, lambda x: 2 * x + x, True),
        (lambda x: x - 2 * x, lambda x: 2 * x - x, False),
        (lambda x: x + 1, lambda x: x + 2, False),
        (lambda x: x + jnp.asarray([1.0, 2.0, 3.0]), lambda x: x + jnp.asarray([1.0, 2.0, 3.0]), True),
        (lambda x: x + jnp.asarray([1.0, 2.0, 3.0]), lambda x: x + jnp.asarray([1.0, 2.0, 3.5]), False),
        (lambda x: x * 0.0, lambda x: x * -0.0, False),
        (lambda x: x[:2], lambda x: x[1:], False),
        (
            lambda x: lax.scan(lambda c, t: (c + t, c), 0.0, x),
            lambda x: lax.scan(lambda c, t: (c + t, c), 0.0, x),
            True,
        ),
        (
            lambda x: lax.scan(lambda c, t: (c + t, c), 0.0, x),
            lambda x: lax.scan(lambda c, t: (c - t, c), 0.0, x),
            False,
        ),
        (lambda x: lax.stop_gradient(x) * x, lambda x: x * x, True),
        (lambda x: (x, x * x), lambda x: (x * x, x), False),
    ],
)
def test_expressions(left: Any, right: Any, expected: bool) -> None:
    """Operands may be swapped where their order is no matter; constants, slices and bodies of loops count."""
    assert same(left, right, X) is expected


def test_two_arguments() -> None:
    """Inputs of one shape are told apart."""
    assert not same(lambda x, y: x * jnp.sin(y), lambda x, y: y * jnp.sin(x), X, X)


def test_callbacks() -> None:
    """What calls back into Python is not even the same as itself, at any depth."""
    f = lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), x.dtype), x)  # noqa: E731
    assert not same(lambda x: f(x[0]), lambda x: f(x[0]), X)
    looped = lambda x: lax.scan(lambda c, t: (c, f(t)), 0.0, x)  # noqa: E731
    assert not same(looped, looped, X)
    assert not same(lambda x: jax.debug.print("{}", x), lambda x: jax.debug.print("{}", x), X)


def test_what_cannot_be_traced() -> None:
    """A program that raises has no numbers."""
    subject = Subject(Target(jnp.sum, (X,)), (X,))
    assert expressions(subject, "f", lambda x: float(x[0]), X) is None


def test_inputs_at_a_point() -> None:
    """Where the inputs are known by their bits, a constant with those bits is the input."""
    numbering = Numbering()
    traced, baked = (
        jax.make_jaxpr(lambda x, y: x * jnp.sin(y))(X, X + 1),
        jax.make_jaxpr(lambda x: x * jnp.sin(jnp.asarray(X + 1)))(X),
    )
    left = numbering.outputs(traced, [numbering.constant(X), numbering.constant(X + 1)])
    assert left == numbering.outputs(baked, [numbering.constant(X)])
    assert left != numbering.outputs(baked, [numbering.constant(X + 2)])
