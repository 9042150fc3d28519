"""The law `descent` at its edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Undecided, UsageError, Violated, properties

X = np.array([0.5, -1.25, 2.0], np.float32)


def bowl(x: Any) -> Any:
    """A plain loss."""
    return jnp.sum((x - 1) ** 2)


def scaled(factor: float) -> Callable[..., Any]:
    """
    Return a gradient transform that multiplies.
    """
    return lambda fn, argnums: lambda *args: jax.tree.map(lambda g: factor * g, jax.grad(fn, argnums)(*args))


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
def test_length_does_not_matter(judge: Callable[..., Any], factor: float) -> None:
    """Only the direction of the step is judged."""
    assert judge("descent", bowl, X, gradient=scaled(factor)) == Holds()
    assert isinstance(judge("descent", bowl, X, gradient=scaled(-factor)), Violated)


def test_undecided(judge: Callable[..., Any]) -> None:
    """Where there is no step to take, or nothing to see of it, nothing is said."""
    ones = np.ones(3, np.float32)
    actual = [
        judge("descent", bowl, ones).reason,
        judge("descent", lambda x: jnp.sum(jnp.sqrt(x - 1)), ones).reason,
        judge("descent", lambda x: 1e30 + jnp.sum(x), X).reason,
        judge("descent", lambda x: jnp.sum(jnp.log(x)), X - 3).reason,
    ]
    assert actual == [
        "the gradient is 0: there is no step to take",
        "the gradient is not finite; the law `finite` judges that",
        "a step that is small enough changes the loss by less than its noise",
        "the value is not finite",
    ]


def test_a_subgradient_uphill(judge: Callable[..., Any]) -> None:
    """At a kink a valid derivative may point uphill; that is not held against it."""

    def f(x: Any) -> Any:
        return x + 2 * jnp.abs(x)

    verdict = judge("descent", f, np.float32(0))
    assert isinstance(verdict, Undecided)
    assert "kink" in verdict.reason


def test_a_jump(judge: Callable[..., Any]) -> None:
    """A loss that jumps up behind the point is not judged by the jump."""
    assert not isinstance(judge("descent", lambda x: x + 5.0 * (x < 1), np.float32(1)), Violated)


def test_complex_arguments(judge: Callable[..., Any]) -> None:
    """JAX's gradient of a complex argument is the conjugate of the direction of ascent."""
    z = np.array([0.5 + 2j, -1 - 0.25j], np.complex64)
    assert judge("descent", lambda z: jnp.sum(jnp.abs(z - 1j) ** 2), z) == Holds()


def test_only_the_differentiated_arguments(judge: Callable[..., Any]) -> None:
    """Other arguments stay where they are: what a frozen one would gain is not counted."""

    def f(x: Any, y: Any) -> Any:
        return jnp.sum(x**2) - jnp.sum(y**2)

    assert judge("descent", f, X, X / 2, argnums=0) == Holds()
    assert judge("descent", f, X, X / 2, argnums=(1, 0)) == Holds()


@jax.custom_vjp
def flipped(x: Any) -> Any:
    """The identity, with its cotangent negated."""
    return x


flipped.defvjp(lambda x: (x, None), lambda _, c: (-c,))


def test_intended() -> None:
    """Rules that are meant are left out; the same rule unannounced is not."""
    with pytest.raises(UsageError, match="on purpose"):
        properties.descent(lambda x: bowl(flipped(x)), X, intended=("custom_rules",))
    with pytest.raises(properties.descent.error, match="predicted change"):
        properties.descent(lambda x: bowl(flipped(x)), X)


def test_no_loss() -> None:
    """A function of many values has no descent."""
    with pytest.raises(UsageError, match="the value must be one real scalar"):
        properties.descent(jnp.sin, X)


def test_a_transform_of_another_shape(judge: Callable[..., Any]) -> None:
    """A gradient that does not fit its argument is the business of `structure`."""

    def total(fn: Any, argnums: Any) -> Any:
        return lambda *args: tuple(jnp.sum(g) for g in jax.grad(fn, argnums)(*args))

    assert "`structure` judges that" in judge("descent", bowl, X, gradient=total).reason
