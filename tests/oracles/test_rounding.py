"""The spread under random rounding: it sees cancellation that inputs and outputs do not show."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from autoprop.oracles.rounding import perturbed, spread

EPS = 2.0**-23


def spreads(f: Any, *values: float) -> list[float]:
    """Return the spread of each scalar of a function of float32 numbers."""
    with jax.enable_x64(True):  # the random numbers are drawn in 64 bits
        leaves = [jnp.float32(value) for value in values]
        return spread(perturbed(lambda x: f(*x), leaves), leaves, EPS)


def of(f: Any, *values: float) -> float:
    """Return the spread of a scalar function."""
    return spreads(lambda *x: [f(*x)], *values)[0]


def test_no_arithmetic_no_spread() -> None:
    """What is not computed does not round."""
    assert of(lambda x: x, 3.0) == 0


def test_one_rounding() -> None:
    """One operation rounds once."""
    assert 0 < of(lambda x, y: x * y, 3.0, 5.0) <= 16 * EPS


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: jnp.where(x == jnp.max(jnp.stack([x, y])), x, 0),
        lambda x, y: jnp.sort(jnp.stack([-x, y]))[0],
        lambda x, y: jnp.clip(jnp.pad(jnp.abs(x)[None], 1)[::-1].reshape(3, 1).T[0, 1], 0, 9),
        lambda x, y: jnp.where(2 * x == jnp.round(x * 2), x, y),
    ],
    ids=["tie", "sort", "movement", "doubling"],
)
def test_exact_operations_do_not_round(f: Any) -> None:
    """Selecting, ordering and moving elements is exact, and so are comparisons of what they give."""
    assert of(f, 5.0, 3.0) == 0


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: (x + y) - y,
        lambda x, y: jax.jit(lambda a, b: (a + b) - b)(x, y),
        lambda x, y: jax.checkpoint(lambda a, b: (a + b) - b)(x, y),
    ],
    ids=["plain", "jit", "checkpoint"],
)
def test_cancellation(f: Any) -> None:
    """Terms of 1e6 that cancel leave their rounding behind, in inner programs too."""
    assert 1e5 * EPS < of(f, 1.0, 1e6) < 4e6 * EPS


def test_cancellation_of_all_digits() -> None:
    """Terms of 1e30 leave nothing of a 1, and the spread says so; a plain sum of the same numbers rounds once."""
    assert of(lambda x, y: (x + y) - y, 1.0, 1e30) > 1e20
    assert of(lambda x, y: x + y, 1.0, 2.0) <= 4 * EPS


def test_several_scalars() -> None:
    """Each scalar has its own spread."""
    quiet, loud = spreads(lambda x: [x, (x + 1e6) - 1e6], 1.0)
    assert quiet == 0
    assert loud > 1e5 * EPS


def test_it_repeats() -> None:
    """The same program has the same spread each time."""
    assert of(jnp.sin, 0.5) == of(jnp.sin, 0.5)
