"""Directions that are the same for ever, and points."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Point
from autoprop._point import direction


def test_directions_never_change() -> None:
    """The numbers are part of the corpus: the same in every version."""
    assert direction(0, "tangent:x", (3,)).tolist() == [-0.6875, 1.0, 1.0]
    assert direction(1, "tangent:x", (3,)).tolist() == [0.9375, 0.625, 0.6875]


def test_range() -> None:
    """Each number lies in [0.5, 1.4375] by magnitude, of either sign."""
    found = direction(3, "x", (40, 50))
    assert (np.abs(found).min(), np.abs(found).max()) == (0.5, 1.4375)
    assert 0.4 < np.mean(found > 0) < 0.6


def test_bfloat16_holds_them() -> None:
    """The narrowest of the common dtypes rounds none of them."""
    found = direction(0, "x", (64,))
    np.testing.assert_array_equal(found.astype(jnp.bfloat16).astype(np.float64), found)


@pytest.mark.parametrize(("seed", "path"), [(1, "x"), (0, "y")])
def test_seed_and_path_matter(seed: int, path: str) -> None:
    """Another seed or another leaf has another direction."""
    assert direction(seed, path, (8,)).tolist() != direction(0, "x", (8,)).tolist()


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (2, 3)])
def test_shapes(shape: tuple[int, ...]) -> None:
    """A direction has its leaf's shape, scalars and empty leaves included."""
    assert direction(0, "x", shape).shape == shape


def test_replace() -> None:
    """A changed copy leaves the point as it was."""
    point = Point((1.0,), 3, "zeros")
    moved = point.replace(primals=(2.0,))
    assert (moved.primals, moved.seed, moved.family) == ((2.0,), 3, "zeros")
    assert point.primals == (1.0,)
