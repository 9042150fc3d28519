"""A leaf at one signature: how it is drawn, sampled, cut and inverted."""

from __future__ import annotations

import functools
from typing import Any

import attrs
import jax
import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from . import _dims, _elements
from ._dims import Dims, Size
from ._dtypes import DType, finfo, kind
from ._elements import Array
from ._families import Rng
from ._support import Support

__all__ = ["ArrayPart", "KeyPart", "Part", "StrategyPart", "ValuePart"]


class Part:
    """
    A leaf of a spec at one signature.

    Attributes:
        possible: whether there is a value at all.
        stacked: whether `rows` adds an axis 0.
        dims: the dims, empty for values without any.
    """

    possible: bool = True
    stacked: bool = False
    dims: Dims = ()

    def strategy(self, *, special: bool) -> SearchStrategy[Any]:
        """
        Return the strategy of numpy arrays or values; `finish` makes the leaf of one.
        """
        raise NotImplementedError

    def finish(self, value: Any) -> Any:
        """
        Return the leaf of a drawn or sampled value.
        """
        return value

    def batch(self, value: Any) -> Any:
        """
        Return the leaf of many sampled rows; arrays stay NumPy's, since JAX compiles a program for each way to cut one.
        """
        return self.finish(value)

    def families(self) -> tuple[str, ...]:
        """
        Return the adversarial families that this leaf has; empty where it has none and is not stacked.
        """
        return ()

    def rows(self, rng: Rng, groups: list[tuple[str, Array]], n: int) -> Any:
        """
        Return n rows: for each family the indices of its rows.
        """
        raise NotImplementedError

    def cut(self, leaf: Any, name: str, sizes: dict[str, Size], take: Array | tuple[int, ...]) -> Any:
        """
        Return the leaf with only some slices along a named dim (the first index of each axis for a ``*name``).
        """
        axes = _dims.axes(self.dims, name, sizes)
        if isinstance(sizes[name], tuple):
            where = dict(zip(axes, take, strict=True)) if axes else {}
            return leaf[tuple(where.get(axis, slice(None)) for axis in range(leaf.ndim))]
        for axis in axes:
            leaf = leaf[(slice(None),) * axis + (np.asarray(take),)]
        return leaf

    def admit(self, leaf: Any) -> Any:
        """
        Return the leaf, moved into the domain of this part.
        """
        return leaf

    def choices(self, leaf: Any) -> tuple[Any, ...] | None:
        """
        Return the choices under which the strategy draws exactly this leaf, or None.
        """
        return None


@attrs.frozen(eq=False)
class ArrayPart(Part):
    """
    An array of known shape and dtype.
    """

    dims: Dims
    shape: tuple[int, ...]
    dtype: DType
    support: Support
    non_empty: bool = True
    stacked = True

    @property
    def possible(self) -> bool:  # type: ignore[override]
        """
        Whether the support has a member of this shape.
        """
        return self.non_empty and self.support.fits(self.shape)

    def strategy(self, *, special: bool) -> SearchStrategy[Any]:
        numbers = _elements.elements(self.dtype, *self.support.interval(self.dtype, special=special), special=special)
        found = _elements.drawn(self.dtype, self.shape, numbers)
        return found.map(lambda values: self.support.construct(values, self.dtype))

    def finish(self, value: Any) -> Any:
        return jax.device_put(np.asarray(value))  # jnp.asarray compiles a program for each shape

    def batch(self, value: Any) -> Any:
        return np.asarray(value)

    def families(self) -> tuple[str, ...]:
        return self.support.families(self.shape, self.dtype)

    def rows(self, rng: Rng, groups: list[tuple[str, Array]], n: int) -> Any:
        plain: Array | None = None
        for family, index in groups:
            with np.errstate(over="ignore", under="ignore"):
                made = self.support.draw(family, rng, (len(index), *self.shape), self.dtype)
            if plain is None:
                if len(index) == n:
                    plain = made
                    break
                plain = np.empty(
                    (n, *self.shape), np.result_type(made, np.float32) if kind(self.dtype) == "f" else made.dtype
                )
            plain[index] = made
        assert plain is not None  # there is at least one row
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return self.support.construct(self._within(plain), self.dtype)

    def _within(self, plain: Array) -> Array:
        """
        Return the numbers clipped to the finite ones of the dtype; infinities that are meant stay.
        """
        if self.dtype.name not in ("float16", "bfloat16"):
            return plain
        top = finfo(self.dtype).max
        return np.where(np.isinf(plain), plain, np.clip(plain, -top, top))

    def admit(self, leaf: Any) -> Any:
        return self.finish(self.support.construct(np.asarray(leaf), self.dtype))

    def choices(self, leaf: Any) -> tuple[Any, ...] | None:
        value = np.asarray(leaf)
        if value.shape != self.shape or value.dtype != self.dtype:
            return None
        if self.support.construct(value, self.dtype).tobytes() != value.tobytes():
            return None
        return _elements.choices(value)


@functools.cache
def _width(impl: str | None) -> int:
    return int(jax.eval_shape(lambda: jax.random.key_data(jax.random.key(0, impl=impl))).shape[0])


@attrs.frozen(eq=False)
class KeyPart(Part):
    """
    An array of typed keys, each made of a 32-bit seed.
    """

    dims: Dims
    shape: tuple[int, ...]
    impl: str | None
    stacked = True

    def strategy(self, *, special: bool) -> SearchStrategy[Any]:
        seeds = np.dtype(np.uint32)
        return _elements.drawn(seeds, self.shape, _elements.elements(seeds))

    def _data(self, seeds: Array) -> Array:
        """
        Return the key data of ``jax.random.key(seed)``: the seed is the low word of each pair of words.
        """
        words = np.zeros((*seeds.shape, _width(self.impl)), np.uint32)
        words[..., 1::2] = seeds[..., None]
        return words

    def finish(self, value: Any) -> Any:
        return jax.random.wrap_key_data(jax.device_put(self._data(value)), impl=self.impl)

    def families(self) -> tuple[str, ...]:
        return ("typical",)

    def rows(self, rng: Rng, groups: list[tuple[str, Array]], n: int) -> Any:
        return rng.integers(0, 2**32 - 1, (n, *self.shape), np.uint32, endpoint=True)

    def choices(self, leaf: Any) -> tuple[Any, ...] | None:
        if leaf.shape != self.shape:
            return None
        data = np.asarray(jax.random.key_data(leaf))
        seeds = data[..., 1]
        return _elements.choices(seeds) if np.array_equal(self._data(seeds), data) else None


def _same(one: Any, other: Any) -> bool:
    """
    Return whether two values are the same object, or equal ones of one type; arrays are equal by their bits.
    """
    if one is other:
        return True
    array = jax.Array | np.ndarray | np.generic
    if isinstance(one, array) and isinstance(other, array):
        alike = (one.shape, one.dtype) == (other.shape, other.dtype)
        return alike and np.asarray(one).tobytes() == np.asarray(other).tobytes()
    return type(one) is type(other) and bool(one == other)


@attrs.frozen(eq=False)
class ValuePart(Part):
    """
    A value that is always the same here.
    """

    value: Any

    def strategy(self, *, special: bool) -> SearchStrategy[Any]:
        return st.just(self.value)

    def rows(self, rng: Rng, groups: list[tuple[str, Array]], n: int) -> Any:
        return self.value

    def choices(self, leaf: Any) -> tuple[Any, ...] | None:
        return () if _same(leaf, self.value) else None


@attrs.frozen(eq=False)
class StrategyPart(Part):
    """
    A strategy of the user's: drawn once, shared by all rows.
    """

    drawn: SearchStrategy[Any]

    def strategy(self, *, special: bool) -> SearchStrategy[Any]:
        return self.drawn

    def rows(self, rng: Rng, groups: list[tuple[str, Array]], n: int) -> Any:
        """
        Return one value: the last of a short, seeded run of Hypothesis.
        """
        values: list[Any] = []

        @seed(int(rng.integers(2**32)))
        @settings(
            max_examples=5,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(self.drawn)
        def run(value: Any) -> None:
            values.append(value)

        run()
        return values[-1]
