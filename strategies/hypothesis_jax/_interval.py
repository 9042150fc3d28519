"""Supports that bound each element by itself: real, positive, unit_interval and mask."""

from __future__ import annotations

import functools
import math
from typing import Any, ClassVar

import attrs
import numpy as np
from hypothesis.errors import InvalidArgument

from . import _families, _integers
from ._dims import Dims
from ._dtypes import DType, finfo, kind, limits
from ._elements import Array
from ._families import MAGNITUDE, NONFINITE, Rng
from ._support import Support

__all__ = ["Mask", "Real", "mask", "positive", "real", "unit_interval"]

USUAL = 10_000  # integers between two given ends are drawn evenly, unless the ends are farther apart than this


def _bound(value: Any, name: str) -> None:
    if value is not None and (isinstance(value, bool | complex | str) or not math.isfinite(value)):
        raise InvalidArgument(f"{name}={value!r} must be a finite number, or None for no bound")


@functools.cache
def _inward(value: float, dtype: DType, up: bool) -> float:
    """
    Return the number of the dtype next to the value, on the side of the interval.
    """
    near = np.asarray(value, np.float64).astype(dtype)
    if up and float(near) < value:
        near = np.nextafter(near, np.asarray(np.inf).astype(dtype))
    elif not up and float(near) > value:
        near = np.nextafter(near, np.asarray(-np.inf).astype(dtype))
    return float(near)


@attrs.frozen(repr=False)
class Real(Support):
    """
    All numbers of the dtype between two ends, both included. Call it to set the ends: ``real(0, 10)``.

    Without ends this is every finite number. Shrinks to zero, or to the end nearest to it.
    """

    kinds: ClassVar[str] = "fciub"
    min_value: float | None = None
    max_value: float | None = None

    def __call__(self, min_value: float | None = None, max_value: float | None = None) -> Real:
        """
        Return the numbers between the two ends.
        """
        _bound(min_value, "min_value")
        _bound(max_value, "max_value")
        if min_value is not None and max_value is not None and min_value > max_value:
            raise InvalidArgument(f"real(min_value={min_value}, max_value={max_value}) is empty; swap the two ends")
        return Real(min_value, max_value)

    def __repr__(self) -> str:
        ends = {"min_value": self.min_value, "max_value": self.max_value}
        text = ", ".join(f"{name}={value}" for name, value in ends.items() if value is not None)
        return f"real({text})" if text else "real"

    def interval(self, dtype: DType, *, special: bool = False) -> tuple[Any, Any]:
        low, high = self.min_value, self.max_value
        if kind(dtype) in "iub":
            smallest, largest = limits(dtype)
            return (
                smallest if low is None else max(smallest, math.ceil(low)),
                largest if high is None else min(largest, math.floor(high)),
            )
        if low is not None and low == high and abs(low) <= finfo(dtype).max:
            return (float(np.asarray(low, np.float64).astype(dtype)),) * 2
        with np.errstate(over="ignore"):
            return (
                None if low is None else _inward(low, dtype, True),
                None if high is None else _inward(high, dtype, False),
            )

    def check(self, dims: Dims, dtype: DType) -> None:
        super().check(dims, dtype)
        if kind(dtype) == "c":
            if (self.min_value, self.max_value) != (None, None):
                raise InvalidArgument(f"support={self!r} must have no ends for {dtype.name}: complex has no order")
            return
        low, high = self.interval(dtype)
        outside = any(end is not None and not math.isfinite(end) for end in (low, high))
        if outside or (low is not None and high is not None and low > high):
            raise InvalidArgument(f"support={self!r} holds no {dtype.name}; widen it or choose another dtype")

    def contains(self, values: Array, dtype: DType) -> Array:
        low, high = self.interval(dtype, special=True)
        inside = np.ones(values.shape, np.bool_)
        if low is not None:
            inside &= values >= low
        if high is not None:
            inside &= values <= high
        return inside & np.isfinite(values) if (low, high) != (None, None) else inside

    def project(self, values: Array, dtype: DType) -> Array:
        low, high = self.interval(dtype, special=True)
        if kind(dtype) == "f":
            values = np.nan_to_num(values, posinf=finfo(dtype).max, neginf=-finfo(dtype).max)
            if low is not None:
                values = np.where(values < low, -values, values)
            if high is not None:
                values = np.where(values > high, -values, values)
        return np.clip(values, low, high)

    def _has(self, magnitude: float, dtype: DType) -> bool:
        low, high = self.interval(dtype)
        return any(
            (low is None or low <= value) and (high is None or value <= high) for value in (magnitude, -magnitude)
        )

    def families(self, shape: tuple[int, ...], dtype: DType) -> tuple[str, ...]:
        if kind(dtype) in "iub":
            return super().families(shape, dtype)
        found = _families.applicable(shape, dtype)
        low, high = self.interval(dtype)
        if (low is None and high is None) or len(found) == 1:
            return found
        info = finfo(dtype)
        needs = MAGNITUDE | {"smallest normal": (info.tiny,), "subnormal": (info.tiny / 2,), "large": (info.max**0.25,)}
        found = tuple(f for f in found if f not in NONFINITE and all(self._has(m, dtype) for m in needs.get(f, ())))
        ends = [*(["lower end"] if low is not None else []), *(["upper end"] if high is not None else [])]
        return (*found, *ends, *(["ends"] if len(ends) == 2 else []), "beside ends")

    def draw(self, family: str, rng: Rng, shape: tuple[int, ...], dtype: DType) -> Array:
        low, high = self.interval(dtype)
        if kind(dtype) in "iu" and None not in (self.min_value, self.max_value) and high - low <= USUAL:
            return _integers.draw(family, rng, shape, dtype, domain=(low, high), typical=(low, high))
        if kind(dtype) in "ciub" or (low is None and high is None):
            return super().draw(family, rng, shape, dtype)
        ends = [end for end in (low, high) if end is not None]
        match family:
            case "lower end":
                return np.full(shape, low)
            case "upper end":
                return np.full(shape, high)
            case "ends":
                return rng.choice(np.array(ends), shape)
            case "beside ends":
                away = [np.inf if end is low else -np.inf for end in ends]
                with np.errstate(under="ignore"):
                    beside = [
                        np.nextafter(np.asarray(end).astype(dtype), np.asarray(to).astype(dtype))
                        for end, to in zip(ends, away, strict=True)
                    ]
                return rng.choice(np.array(beside, np.float64), shape)
            case "typical":
                return self._typical(rng, shape, low, high)
        return super().draw(family, rng, shape, dtype)

    def _typical(self, rng: Rng, shape: tuple[int, ...], low: float | None, high: float | None) -> Array:
        """
        Return normal numbers where they fit, one-sided ones from a single end, otherwise uniform ones.
        """
        if (low is None or low <= -4) and (high is None or high >= 4):
            return rng.standard_normal(shape)
        if low is not None and high is not None:
            u = rng.random(shape)
            return low * (1 - u) + high * u
        away = np.abs(rng.standard_normal(shape))
        return low + away if low is not None else (high or 0.0) - away


@attrs.frozen(repr=False)
class Positive(Real):
    """
    Numbers from the smallest normal one upwards (from 1 for integers).
    """

    def __repr__(self) -> str:
        return "positive"

    def interval(self, dtype: DType, *, special: bool = False) -> tuple[Any, Any]:
        if kind(dtype) in "iub":
            return 1, limits(dtype)[1]
        return finfo(dtype).tiny, None


@attrs.frozen(repr=False)
class Mask(Support):
    """
    Zeros and ones, or booleans. Shrinks to all false.
    """

    kinds: ClassVar[str] = "fiub"

    def __repr__(self) -> str:
        return "mask"

    def interval(self, dtype: DType, *, special: bool = False) -> tuple[Any, Any]:
        return 0, 1

    def contains(self, values: Array, dtype: DType) -> Array:
        inside: Array = (values == 0) | (values == 1)
        return inside

    def project(self, values: Array, dtype: DType) -> Array:
        return np.abs(values) >= 0.5

    def families(self, shape: tuple[int, ...], dtype: DType) -> tuple[str, ...]:
        size = int(np.prod(shape, dtype=np.int64))
        return ("typical", "all true", "all false", *(["one true"] if size > 1 else [])) if size else ("typical",)

    def draw(self, family: str, rng: Rng, shape: tuple[int, ...], dtype: DType) -> Array:
        if family in ("all true", "all false"):
            return np.full(shape, family == "all true")
        if family == "one true":
            out = np.zeros((shape[0], int(np.prod(shape[1:]))), np.bool_)
            out[np.arange(shape[0]), rng.integers(out.shape[1], size=shape[0])] = True
            return out.reshape(shape)
        return rng.random(shape) < 0.5


class _UnitInterval(Real):
    def __repr__(self) -> str:
        return "unit_interval"


real = Real()
positive = Positive()
unit_interval = _UnitInterval(0.0, 1.0)
mask = Mask()
