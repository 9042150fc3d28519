"""How the elements of an array are drawn by Hypothesis, one choice per number, so that any array can be drawn again."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from hypothesis.strategies import SearchStrategy

from ._dtypes import DType, finfo, kind, limits

__all__ = ["INVERTIBLE", "Array", "choices", "drawn", "elements"]

Array: TypeAlias = np.ndarray[Any, Any]

INVERTIBLE = 128  # up to this many elements each is drawn by itself; above, Hypothesis fills with one value


def _drawn_as(dtype: DType) -> DType:
    """
    Return the dtype of the single numbers that are drawn: a complex one has two parts, bfloat16 is rounded float32.
    """
    parts = {"complex64": "float32", "complex128": "float64", "bfloat16": "float32"}
    return np.dtype(parts.get(dtype.name, dtype.name))


def elements(dtype: DType, low: Any = None, high: Any = None, *, special: bool = False) -> SearchStrategy[Any]:
    """
    Return the strategy of one number of `_drawn_as(dtype)`; the bounds must be exact in the dtype.

    Args:
        dtype: the dtype of the array.
        low: smallest number, None for no bound.
        high: largest number, None for no bound.
        special: also subnormal numbers, −0.0 at a bound of 0, and, without bounds, NaN and ±inf.
    """
    if kind(dtype) == "b":
        return st.booleans() if (low, high) in ((None, None), (0, 1)) else st.just(bool(low))
    if kind(dtype) in "iu":
        smallest, largest = limits(dtype)
        return st.integers(smallest if low is None else int(low), largest if high is None else int(high))
    info = finfo(dtype)
    unbounded = low is None and high is None
    if dtype.name == "bfloat16" and not (unbounded and special):
        # the largest float32 would round to infinity
        low, high = -info.max if low is None else low, info.max if high is None else high
    if special and low == 0:
        low = -0.0
    subnormal = (special or any(bound is not None and 0 < abs(bound) < info.tiny for bound in (low, high))) and (
        (low is None or low < info.tiny) and (high is None or high > -info.tiny)
    )
    return st.floats(
        low,
        high,
        width=8 * _drawn_as(dtype).itemsize,  # type: ignore[arg-type]
        allow_nan=unbounded and special,
        allow_infinity=unbounded and special,
        allow_subnormal=subnormal,
    )


def _joined(numbers: Array, dtype: DType) -> Array:
    """
    Return the array that the drawn numbers make: pairs become complex numbers, float32 is rounded to bfloat16.
    """
    if kind(dtype) == "c":
        joined: Array = np.ascontiguousarray(numbers).view(dtype)[..., 0]
        return joined
    with np.errstate(over="ignore"):  # bfloat16: beyond the largest number is infinity, as drawn
        return numbers.astype(dtype, copy=False)


def drawn(dtype: DType, shape: tuple[int, ...], number: SearchStrategy[Any]) -> SearchStrategy[Array]:
    """
    Return the strategy of arrays of that many numbers.
    """
    full = (*shape, 2) if kind(dtype) == "c" else shape
    fill = st.nothing() if np.prod(full, dtype=np.int64) <= INVERTIBLE else None
    found: SearchStrategy[Array] = npst.arrays(_drawn_as(dtype), full, elements=number, fill=fill)
    return found if _drawn_as(dtype) == dtype else found.map(lambda numbers: _joined(numbers, dtype))


def choices(value: Array) -> tuple[Any, ...] | None:
    """
    Return the choices under which `drawn` gives exactly this array, bit for bit; None if there are none.
    """
    parts = value.size * (2 if kind(value.dtype) == "c" else 1)
    if parts > INVERTIBLE:
        return None
    flat = np.array(value, order="C", copy=True).reshape(-1)
    narrow = flat.view(_drawn_as(value.dtype)) if kind(value.dtype) == "c" else flat.astype(_drawn_as(value.dtype))
    numbers = tuple(narrow.tolist())
    again = np.array(numbers, narrow.dtype)
    again = again.view(value.dtype) if kind(value.dtype) == "c" else again.astype(value.dtype)
    return numbers if again.tobytes() == flat.tobytes() else None
