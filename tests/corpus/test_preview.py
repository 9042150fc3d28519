"""The preview of a case is short and decimal."""

from __future__ import annotations

import collections
import enum
from typing import Any, NamedTuple

import attrs
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop.corpus import codec
from autoprop.corpus.preview import preview


class Pair(NamedTuple):
    """
    A namedtuple.
    """

    first: Any
    second: Any


@attrs.frozen
class Params:
    """
    An attrs class.
    """

    w: Any


class Colour(enum.Enum):
    """
    An enum.
    """

    RED = 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array([[0.1, np.nan]], np.float32), "float32[1,2] [0.1, nan]"),
        (np.arange(9), "int64[9] [0, 1, 2, 3, 4, 5, …]"),
        (np.zeros(65), "float64[65]"),
        (jnp.asarray(2.0, jnp.bfloat16), "bfloat16 2"),
        (jax.random.key(1), "key<threefry2x32>[2] [0, 1]"),
        ((1, None, "a", [True]), "(1, None, 'a', [True])"),
        ({"w": 1.5, "b": {}}, "{'w': 1.5, 'b': {}}"),
        ({1: (2, 3)}, "{1: (2, 3)}"),
        (Pair(1, 2), "Pair(1, 2)"),
        (Params(1), "Params(w=1)"),
        (collections.OrderedDict(a=1), "OrderedDict(1)"),
        (Colour.RED, "Colour.RED"),
        (jnp.float32, "float32"),
        (b"\x00", "bytes"),
        (float("inf"), "inf"),
        (2**60, "0x1000000000000000"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values(value: Any, expected: str) -> None:
    """
    Each kind of value has a short form that a person can read.
    """
    assert preview({"x": codec.encode(value)}) == f"x = {expected}"


def test_length() -> None:
    """
    A long preview is cut, and shows that it is.
    """
    text = preview({f"argument_{at}": 1.0 for at in range(50)})
    assert (len(text), text[-1]) == (160, "…")
