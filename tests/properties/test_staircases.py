"""Functions that round: differences see the slope of a staircase, derivatives that of a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Violated

F = np.float32

STAIRS = {
    "rint": (jnp.rint, F(1e17)),
    "floor of a large number": (jnp.floor, np.array([0.0, 1e20], F)),
    "fmod": (jnp.fmod, F(1), F(6.3e-21)),
    "divmod": (lambda x, y: sum(jnp.divmod(x, y)), F(1), F(8e-21)),
    "trunc at an integer": (jnp.trunc, np.array([830671940.0], F)),
    "modf": (lambda x: sum(jnp.modf(x)), np.array([0.0, 2865.0], F)),
    "rint of a large number": (jnp.rint, np.array([0.0, 27685440.0], F)),
    "ceil at an integer": (jnp.ceil, np.array([5470.0], F)),
}


@pytest.mark.parametrize("seed", [0, 811, 3080, 3127, 3214])
@pytest.mark.parametrize("name", STAIRS)
def test_staircases_are_not_accused(name: str, seed: int, judge: Callable[..., Any]) -> None:
    """Differences see the slope of the whole staircase, the derivative that of a step."""
    fn, *arguments = STAIRS[name]
    assert not isinstance(judge("numeric", fn, *arguments, seed=seed), Violated)


def test_a_staircase_whose_steps_are_seen(judge: Callable[..., Any]) -> None:
    """A wrong rule of a function with steps is accused where the steps are far apart."""

    @jax.custom_jvp
    def wrong(x: Any) -> Any:
        return x * jnp.floor(x)

    wrong.defjvp(lambda p, t: (wrong(*p), 2 * jnp.floor(p[0]) * t[0]))
    assert isinstance(judge("numeric", wrong, F(2.5)), Violated)
