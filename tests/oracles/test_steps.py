"""Staircases finer than any difference are known from the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Target
from autoprop._point import Point
from autoprop._subject import Subject
from autoprop.oracles.promoted import Promoted
from autoprop.oracles.steps import takes_other_steps

F = np.float32
OFFSET = 2.0**-38


def there(fn: Callable[..., Any], *arguments: Any) -> bool:
    """Say what is said along a direction as large as the first argument."""
    here = Promoted(Subject(Target(fn, arguments), arguments), Point(arguments, 0))
    v = [np.asarray(here.moved[0]), *(np.zeros_like(x) for x in here.moved[1:])]
    return takes_other_steps(here, v, OFFSET)


@pytest.mark.parametrize(
    ("fn", "arguments", "expected"),
    [
        (jnp.rint, (F(1e17),), True),
        (jnp.rint, (F(1e6),), False),
        (jax.jit(jnp.floor), (F(1e17),), True),
        (jnp.floor, (F(3),), False),  # on one side only: the function jumps here
        (lambda x: jnp.float32(x.astype(jnp.int64)) * 0.5, (F(1e15),), True),
        (jnp.fmod, (F(1), F(1e-20)), True),
        (jnp.fmod, (F(5), F(3)), False),
        (jax.grad(lambda x: x * jnp.rint(x)), (F(1e17),), True),
        (jnp.sin, (F(1e17),), False),
    ],
)
def test_steps(fn: Callable[..., Any], arguments: Any, expected: bool) -> None:
    """Rounding, remainders and conversions to integers count where they take other steps on both sides."""
    assert there(fn, *arguments) == expected
