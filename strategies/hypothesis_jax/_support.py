"""The extension point for domains: a Support says which arrays belong to it, and makes one of any array."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis.errors import InvalidArgument

from . import _families, _integers
from ._dims import Dims
from ._dtypes import DType, finfo, kind, limits, working
from ._elements import Array
from ._families import NONFINITE, STRUCTURED, Rng

__all__ = ["Support"]


class Support:
    """
    A domain of arrays, all of whose members are constructed, never filtered.

    A subclass defines `contains` and `project`. The rest follows: arrays of plain numbers are drawn, and those that do
    not belong are projected, so every member can also be drawn exactly (its own numbers are its preimage).

    Attributes:
        axes: how many of the last axes it constrains together: 0 elements, 1 vectors, 2 matrices.
        kinds: the kinds of dtype it is defined for: ``f``, ``c``, ``i``, ``u``, ``b``.
    """

    axes: ClassVar[int] = 0
    kinds: ClassVar[str] = "f"

    def contains(self, values: Array, dtype: DType) -> Array:
        """
        Return, for each of the parts that `axes` tells, whether it belongs to the domain.

        Args:
            values: float64 or complex128 for floating dtypes, otherwise the dtype itself.
            dtype: the dtype that the values have, or are going to be rounded to.
        """
        raise NotImplementedError

    def project(self, values: Array, dtype: DType) -> Array:
        """
        Return members of the domain, made of any values; for what belongs already the result is not used.
        """
        raise NotImplementedError

    def interval(self, dtype: DType, *, special: bool = False) -> tuple[Any, Any]:
        """
        Return the bounds of the plain numbers to draw, exact in the dtype; None for no bound.
        """
        if kind(dtype) == "b":
            return 0, 1
        if kind(dtype) in "iu":
            return limits(dtype)
        top = finfo(dtype).max
        if not special:
            top = float(np.asarray(min(1e9, top)).astype(dtype))
        return -top, top

    def check(self, dims: Dims, dtype: DType) -> None:
        """
        Refuse dims or a dtype for which the domain is not defined.

        Raises:
            InvalidArgument: the dims or the dtype cannot be.
        """
        if kind(dtype) not in self.kinds:
            words = {"f": "float", "c": "complex", "i": "int", "u": "uint", "b": "bool"}
            allowed = ", ".join(words[k] for k in self.kinds)
            raise InvalidArgument(f"dtype {dtype.name} with support={self!r} must be one of these kinds: {allowed}")
        plain = [part for part in dims if isinstance(part, int) or not part.startswith("*")]
        if len(plain) < self.axes or any(
            isinstance(part, str) and part.startswith("*") for part in dims[len(dims) - self.axes :]
        ):
            raise InvalidArgument(
                f"dims={' '.join(map(str, dims))!r} with support={self!r} must end in {self.axes} plain "
                f"dim{'s' * (self.axes > 1)}; add {'them' if self.axes > 1 else 'it'}"
            )

    def fits(self, shape: tuple[int, ...]) -> bool:
        """
        Return whether the domain has a member of this shape.
        """
        return True

    def families(self, shape: tuple[int, ...], dtype: DType) -> tuple[str, ...]:
        """
        Return the names of the families that `draw` knows for a leaf of this shape, ``typical`` first.
        """
        if kind(dtype) in "iub":
            return _integers.applicable(shape, *self.interval(dtype, special=True))
        return tuple(f for f in _families.applicable(shape, dtype) if f not in NONFINITE)

    def draw(self, family: str, rng: Rng, shape: tuple[int, ...], dtype: DType) -> Array:
        """
        Return rows of plain numbers of one family, along the first axis; `construct` makes members of them.
        """
        if kind(dtype) in "iub":
            low, high = self.interval(dtype, special=True)
            return _integers.draw(family, rng, shape, dtype, domain=(low, high), typical=_integers.small(low, high))
        info = finfo(dtype)
        wide: Any = working(dtype)
        real = _families.draw(family, rng, rng.standard_normal(shape, wide), info)
        if kind(dtype) != "c":
            return real
        out = np.zeros(shape, np.complex128 if wide is np.float64 else np.complex64)
        out.real = real
        if family not in STRUCTURED:
            out.imag = _families.draw(family, rng, rng.standard_normal(shape, wide), info)
        return out

    def construct(self, values: Array, dtype: DType) -> Array:
        """
        Return the values in the dtype: what belongs to the domain as it is, the rest projected into it.
        """
        narrow = values.astype(dtype, copy=False)
        if not values.size:
            return narrow
        wide = narrow.astype(np.float64) if kind(dtype) == "f" else narrow
        inside = self.contains(wide, dtype)
        if inside.all():
            return narrow
        made = self.project(wide, dtype).astype(dtype)
        return np.where(inside.reshape(*inside.shape, *([1] * self.axes)), narrow, made)
