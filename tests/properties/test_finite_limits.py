"""Infinite derivatives that the dtype cannot hold."""

from __future__ import annotations

from typing import Any

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


@pytest.mark.parametrize("seed", range(2773, 2777))
def test_a_tangent_as_large_as_the_data_overflows(seed: int) -> None:
    """J·v may overflow for a direction as large as the data; J itself does not, and nothing is wrong."""

    def masked(mask: Any) -> Any:
        s = -1e30 * (1.0 - mask)
        return s - jnp.max(s)

    assert autoprop.properties.finite(masked, np.full(1, 302473200.0, np.float32), seed=seed) == Holds()


@pytest.mark.parametrize("seed", range(6))
def test_an_entry_beyond_the_dtype(seed: int) -> None:
    """Where one entry of a Hessian is larger than float32 can hold, what follows in another is no fault."""

    def mixture(probs: Any, logits: Any) -> Any:
        return jnp.log(jnp.sum(probs * jnp.exp(logits)))

    probs = np.array([2.3948246e-20, 5.928935e-21], np.float32)
    autoprop.properties.numeric_second(mixture, probs, np.zeros(2, np.float32), seed=2619 + seed)
