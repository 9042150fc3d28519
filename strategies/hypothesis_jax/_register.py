"""What ``st.from_type(jax.Array)`` means."""

from __future__ import annotations

import jax
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from ._plain import arrays, dtypes

__all__ = ["register"]


def register() -> None:
    """
    Let ``st.from_type(jax.Array)`` draw small arrays of any dtype; without this it cannot draw at all.
    """
    shapes = npst.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=4)
    st.register_type_strategy(jax.Array, arrays(dtypes("fibuc"), shapes))
