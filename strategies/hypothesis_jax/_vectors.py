"""Supports that constrain vectors along the last axis: simplex, one_hot, sorted_."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis.errors import InvalidArgument

from ._dims import Dims
from ._dtypes import DType, finfo, kind
from ._elements import Array
from ._families import Rng
from ._support import Support

__all__ = ["OneHot", "Simplex", "Sorted", "one_hot", "simplex", "sorted_"]


def _corners(index: Array, size: int) -> Array:
    return np.asarray(np.arange(size) == index[..., None])


class _Vectors(Support):
    """
    Vectors that cannot be empty.
    """

    axes: ClassVar[int] = 1

    def check(self, dims: Dims, dtype: DType) -> None:
        super().check(dims, dtype)
        if dims[-1] == 0:
            raise InvalidArgument(f"dims={' '.join(map(str, dims))!r} with support={self!r} must not end in 0")

    def fits(self, shape: tuple[int, ...]) -> bool:
        return shape[-1] > 0

    def interval(self, dtype: DType, *, special: bool = False) -> tuple[Any, Any]:
        return 0, 1


class Simplex(_Vectors):
    """
    Non-negative weights whose sum is one, up to rounding. Shrinks to all weight on the first.
    """

    def __repr__(self) -> str:
        return "simplex"

    def contains(self, values: Array, dtype: DType) -> Array:
        # rounding each of n weights changes their sum by at most eps / 2; the slack is for small weights
        near = np.abs(values.sum(-1) - 1) <= values.shape[-1] * finfo(dtype).eps
        inside: Array = near & (values >= 0).all(-1)
        return inside

    def project(self, values: Array, dtype: DType) -> Array:
        weights = np.abs(np.nan_to_num(values, posinf=1.0, neginf=1.0))
        top = weights.max(-1, keepdims=True)
        corner = _corners(np.zeros(weights.shape[:-1], int), weights.shape[-1])
        weights = np.where(top > 0, weights / np.where(top > 0, top, 1), corner)
        return np.asarray(weights / weights.sum(-1, keepdims=True))

    def families(self, shape: tuple[int, ...], dtype: DType) -> tuple[str, ...]:
        if np.prod(shape, dtype=np.int64) == 0 or shape[-1] == 1:
            return ("typical",)
        rows = ("equal rows",) if len(shape) > 1 else ()
        return ("typical", "corner", "zero element", "equal elements", "ties", "tiny weights", *rows)

    def draw(self, family: str, rng: Rng, shape: tuple[int, ...], dtype: DType) -> Array:
        if family not in ("corner", "tiny weights"):
            return super().draw(family, rng, shape, dtype)
        corner = _corners(rng.integers(shape[-1], size=shape[:-1]), shape[-1])
        return np.where(corner, 1.0, 0.0 if family == "corner" else max(1e-20, finfo(dtype).tiny))


class OneHot(_Vectors):
    """
    A single one among zeros. Shrinks to the first place.
    """

    kinds: ClassVar[str] = "fiub"

    def __repr__(self) -> str:
        return "one_hot"

    def contains(self, values: Array, dtype: DType) -> Array:
        inside: Array = ((values == 1).sum(-1) == 1) & ((values == 0).sum(-1) == values.shape[-1] - 1)
        return inside

    def project(self, values: Array, dtype: DType) -> Array:
        return _corners(np.asarray((values if kind(dtype) == "b" else np.abs(values)).argmax(-1)), values.shape[-1])

    def families(self, shape: tuple[int, ...], dtype: DType) -> tuple[str, ...]:
        if np.prod(shape, dtype=np.int64) == 0 or shape[-1] == 1:
            return ("typical",)
        return ("typical", "lower end", "upper end", *(["equal rows"] if len(shape) > 1 else []))

    def draw(self, family: str, rng: Rng, shape: tuple[int, ...], dtype: DType) -> Array:
        index = rng.integers(shape[-1], size=shape[:-1])
        if family == "equal rows":
            index = np.broadcast_to(index[..., :1], index.shape)
        elif family != "typical":
            index = np.full_like(index, 0 if family == "lower end" else shape[-1] - 1)
        return _corners(index, shape[-1])


class Sorted(Support):
    """
    Numbers that do not decrease along the last axis. Shrinks to zeros.
    """

    axes: ClassVar[int] = 1
    kinds: ClassVar[str] = "fiu"

    def __repr__(self) -> str:
        return "sorted_"

    def contains(self, values: Array, dtype: DType) -> Array:
        inside: Array = (values[..., 1:] >= values[..., :-1]).all(-1)
        return inside & np.isfinite(values).all(-1)

    def project(self, values: Array, dtype: DType) -> Array:
        if kind(dtype) == "f":
            values = np.nan_to_num(values, posinf=finfo(dtype).max, neginf=-finfo(dtype).max)
        return np.sort(values, -1)


simplex = Simplex()
one_hot = OneHot()
sorted_ = Sorted()
