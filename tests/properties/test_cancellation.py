"""Values whose large intermediate terms cancel: their rounding is no slope."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autoprop

F = np.float32


def relative_entropy(p: Any, q: Any) -> Any:
    """P log p − p log q, terms of 1e-36 that cancel to 1e-45 where p and q are neighbours."""
    return jnp.sum(p * jnp.log(p) - p * jnp.log(q))


def divergence(x: Any, t: Any) -> Any:
    """exp(x) − t − t·(x − log t), terms of 1 that cancel to 1e-19 near x = 0, t = 1."""
    return jnp.sum(jnp.exp(x) - t - t * (x - jnp.log(t)))


CANCELLING = {
    "relative entropy": (relative_entropy, F(1.1754945e-38), F(1.1754944e-38)),
    "divergence": (divergence, F(4.5213183e-10), F(1.0)),
}


@pytest.mark.parametrize("seed", [0, 1, 14, 10034])
@pytest.mark.parametrize("case", CANCELLING)
def test_rounding_is_no_slope(case: str, seed: int) -> None:
    """A right derivative is not accused where the value is mostly rounding."""
    fn, *arguments = CANCELLING[case]
    autoprop.properties.numeric(fn, *arguments, seed=seed)
