"""Edge cases of the laws of second derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autoprop import Holds, Violated

F = np.float32


def nearest(x: Any, codebook: Any) -> Any:
    """The squared distance to the nearest entry."""
    k = jnp.argmin((x[:, None] - codebook) ** 2, axis=1)
    return jnp.sum((x - codebook[k]) ** 2)


def test_a_choice_at_a_tie(judge: Callable[..., Any]) -> None:
    """Where the gradient is chosen among equals, its derivative may be that of any choice."""
    zero = np.zeros(3, F)
    assert not isinstance(judge("numeric_second", nearest, zero, zero), Violated)


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
