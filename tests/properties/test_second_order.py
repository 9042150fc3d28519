"""Edge cases of the laws of second derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Violated
from autoprop.properties import numeric_second

F = np.float32


def nearest(x: Any, codebook: Any) -> Any:
    """The squared distance to the nearest entry."""
    k = jnp.argmin((x[:, None] - codebook) ** 2, axis=1)
    return jnp.sum((x - codebook[k]) ** 2)


def test_a_choice_at_a_tie(judge: Callable[..., Any]) -> None:
    """Where the gradient is chosen among equals, its derivative may be that of any choice."""
    zero = np.zeros(3, F)
    assert not isinstance(judge("numeric_second", nearest, zero, zero), Violated)


def quantised(z: Any, codebook: Any, w: Any) -> Any:
    """Rows replaced by the nearest of a codebook, straight through, with a loss that draws them together."""
    k = jnp.argmin(jnp.sum((z[:, None] - codebook) ** 2, axis=-1), axis=-1)
    through = z + jax.lax.stop_gradient(codebook[k] - z)
    return jnp.mean((through @ w - 1) ** 2) + jnp.mean((codebook[k] - jax.lax.stop_gradient(z)) ** 2)


@pytest.mark.parametrize("entries", [3, 5, 40])
@pytest.mark.parametrize("seed", [0, 2, 2051])
def test_a_choice_of_rows_at_a_tie(entries: int, seed: int) -> None:
    """A row that wins at a tie has the derivative of winning, which most points nearby do not have."""
    z, codebook, w = np.zeros((3, 3), F), np.zeros((entries, 3), F), np.zeros((3, 3), F)
    numeric_second(quantised, z, codebook, w, seed=seed, intended=("stop_gradient",))


@pytest.mark.parametrize("shape", [(3,), (4, 2)])
def test_a_value_at_zeros_only(shape: tuple[int, ...], judge: Callable[..., Any]) -> None:
    """A second derivative that is wrong where an entry is 0 is no choice, however many entries are 0."""

    @jax.custom_jvp
    def square(x: Any) -> Any:
        return x**2

    square.defjvp(lambda primals, tangents: (square(primals[0]), slope(primals[0]) * tangents[0]))

    @jax.custom_jvp
    def slope(x: Any) -> Any:
        return 2 * x

    slope.defjvp(lambda primals, tangents: (slope(primals[0]), jnp.where(primals[0] == 0, 0, 2) * tangents[0]))
    zero = np.zeros(shape, F)
    assert isinstance(judge("numeric_second", lambda x: jnp.sum(square(x)), zero), Violated)


@pytest.mark.parametrize("at", [85.0, 87.0])
def test_a_tangent_that_overflows_on_the_way(at: float, judge: Callable[..., Any]) -> None:
    """A tangent as large as the argument may overflow where the derivative does not."""

    def scaled(x: Any) -> Any:
        return jnp.exp(x) * jnp.float32(1e-6)

    for law in ("numeric_second", "precision"):
        assert not isinstance(judge(law, scaled, F(at)), Violated)


def test_a_choice_without_ties(judge: Callable[..., Any]) -> None:
    """Elsewhere the law decides."""
    x = np.array([0.5, -1.25, 2.0], F)
    assert judge("numeric_second", nearest, x, np.array([-1, 0.25, 3], F)) == Holds()


def test_a_value_at_one_point_only(judge: Callable[..., Any]) -> None:
    """A second derivative that is wrong at one point, and right all around it, is no limit of others."""

    @jax.custom_jvp
    def cube(x: Any) -> Any:
        return x**3

    cube.defjvp(lambda p, t: (cube(*p), jnp.where(p[0] == 1, 3, 3 * p[0] ** 2) * t[0]))
    assert isinstance(judge("numeric_second", lambda x: jnp.sum(cube(x)), np.array([1.0, 0.25], F)), Violated)


def test_curvature_of_relu_squared(judge: Callable[..., Any]) -> None:
    """A kink of the gradient accepts any value between its sides."""
    assert judge("numeric_second", lambda x: jnp.sum(jnp.maximum(x, 0) ** 2), np.array([0, 0, 1], F)) == Holds()
