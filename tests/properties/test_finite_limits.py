"""Infinite derivatives that the dtype cannot hold."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import autoprop
from autoprop import Holds

BEYOND = {
    "exponential": (lambda x: -jnp.expm1(-x), -84.0),
    "square": (lambda x: (x * 1e9) ** 2, 1.8e10),
}


@pytest.mark.parametrize("case", BEYOND)
def test_slopes_beyond_the_dtype_may_be_infinite(case: str) -> None:
    """A tangent of 3.5e38 is inf in float32: that is right."""
    fn, x = BEYOND[case]
    for seed in range(4):
        assert autoprop.properties.finite(fn, np.float32(x), seed=seed) == Holds()
