"""Both modes of automatic differentiation, where a function has them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Target
from autoprop._subject import Subject
from autoprop.oracles.automatic import both_modes, forward_mode, missing_mode, reverse_mode

X = jnp.array([0.5, -1.25])


def test_both() -> None:
    """Value, J·v and Jᵀ·u."""
    value, forward, reverse = both_modes(lambda m: [m[0] ** 2], [X], [jnp.array([1.0, 2.0])], [jnp.array([3.0, 4.0])])
    assert forward is not None
    assert reverse is not None
    np.testing.assert_allclose(value[0], X**2)
    np.testing.assert_allclose(forward[0], 2 * X * jnp.array([1.0, 2.0]))
    np.testing.assert_allclose(reverse[0], 2 * X * jnp.array([3.0, 4.0]))


def test_no_forward_mode_under_jit() -> None:
    """A custom_vjp function has no forward mode, inside a jitted function either."""

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return x

    f.defvjp(lambda x: (x, None), lambda _, c: (c,))
    assert forward_mode(lambda m: [jax.jit(f)(m[0])], [X], [X]) is None


def test_no_reverse_mode() -> None:
    """A while loop has no reverse mode."""

    def f(m: Any) -> Any:
        return [jax.lax.while_loop(lambda v: v[0] < 9, lambda v: v * 2, m[0])]

    assert reverse_mode(f, [X], [X]) is None
    assert forward_mode(f, [X], [X]) is not None


@jax.custom_vjp
def ruled(x: Any) -> Any:
    """The identity, with a backward rule of its own."""
    return x


ruled.defvjp(lambda x: (x, None), lambda _, c: (c,))


@pytest.mark.parametrize(
    ("fn", "missing"),
    [
        (jnp.sin, {"forward": False, "reverse": False}),
        (ruled, {"forward": True, "reverse": False}),
        (
            lambda x: jax.lax.while_loop(lambda v: v[0] < 9, lambda v: v * 2, x),
            {"forward": False, "reverse": True},
        ),
    ],
    ids=["both", "no forward", "no reverse"],
)
def test_missing_mode(fn: Any, missing: dict[str, bool]) -> None:
    """Each mode is said to be missing exactly where JAX does not have it."""
    assert missing_mode(Subject(Target(fn, (X,)), (X,))) == missing
