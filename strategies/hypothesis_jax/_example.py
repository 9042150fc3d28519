"""Supports of arguments like an example: its own numbers beside all others."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np

from . import _integers
from ._dtypes import DType, limits
from ._elements import Array
from ._families import Rng
from ._interval import Real

__all__ = ["Around", "Example", "Typical"]

KEPT = 4096  # elements of an example that are kept


@attrs.frozen
class Example:
    """
    The numbers of an example, so that the other leaves can stay there while one of them is driven to extremes.

    Attributes:
        numbers: its elements in order, or some of them where there are many.
        shape: its shape, where all its elements are kept.
    """

    numbers: tuple[Any, ...]
    shape: tuple[int, ...] | None

    @classmethod
    def of(cls, values: Array) -> Example | None:
        """
        Keep an example's elements: all up to `KEPT`, else evenly spaced ones; None where there are none.
        """
        if not np.size(values):
            return None
        flat = np.asarray(values).reshape(-1)
        step = -(-flat.size // KEPT) or 1
        return cls(tuple(flat[::step].tolist()), tuple(np.shape(values)) if step == 1 else None)

    def rows(self, rng: Rng, shape: tuple[int, ...]) -> Array:
        """
        Return the example itself in each row where the shape is its own, else elements of it.
        """
        if self.shape == shape[1:]:
            return np.broadcast_to(np.array(self.numbers).reshape(shape[1:]), shape)
        return rng.choice(np.array(self.numbers), shape)


@attrs.frozen(repr=False)
class Around(Real):
    """
    All numbers; also those of an example: what `like` makes of floating arrays.
    """

    example: Example = attrs.field(kw_only=True)

    def __repr__(self) -> str:
        return "real around an example"

    def families(self, shape: tuple[int, ...], dtype: DType) -> tuple[str, ...]:
        return (*super().families(shape, dtype), "example")

    def draw(self, family: str, rng: Rng, shape: tuple[int, ...], dtype: DType) -> Array:
        return self.example.rows(rng, shape) if family == "example" else super().draw(family, rng, shape, dtype)


@attrs.frozen(repr=False)
class Typical(Real):
    """
    All integers, usually those between low and high: what an example's own range is to `like`.
    """

    kinds: ClassVar[str] = "iu"
    low: int = 0
    high: int = 4
    example: Example | None = None

    def __repr__(self) -> str:
        return f"typically {self.low}..{self.high}"

    def interval(self, dtype: DType, *, special: bool = False) -> tuple[Any, Any]:
        return limits(dtype) if special else (self.low, self.high)

    def families(self, shape: tuple[int, ...], dtype: DType) -> tuple[str, ...]:
        found = super().families(shape, dtype)
        if len(found) > 1 and (self.low, self.high) != limits(dtype):
            found = (*found, "out of range")
        return found if self.example is None else (*found, "example")

    def draw(self, family: str, rng: Rng, shape: tuple[int, ...], dtype: DType) -> Array:
        if family == "example" and self.example is not None:
            return self.example.rows(rng, shape).astype(dtype)
        return _integers.draw(family, rng, shape, dtype, domain=limits(dtype), typical=(self.low, self.high))
