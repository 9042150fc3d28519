"""Plain strategies of single arrays, keys and dtypes, for tests that need no spec."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.extra import numpy as npst
from hypothesis.strategies import SearchStrategy

from ._dtypes import KINDS, require, resolve, token
from ._elements import INVERTIBLE, drawn
from ._elements import elements as numbers_of
from ._parts import KeyPart

__all__ = ["arrays", "dtypes", "keys"]


def arrays(
    dtype: Any,
    shape: int | tuple[int, ...] | SearchStrategy[tuple[int, ...]],
    *,
    elements: SearchStrategy[Any] | None = None,
    fill: SearchStrategy[Any] | None = None,
    unique: bool = False,
) -> SearchStrategy[jax.Array]:
    """
    Return a strategy of JAX arrays. Shrinks to zeros, and to the simplest dtype and shape.

    Args:
        dtype: a dtype, or a strategy of dtypes such as ``dtypes()``.
        shape: a shape, or a strategy of shapes such as ``hypothesis.extra.numpy.array_shapes()``.
        elements: strategy of the elements; by default all finite numbers of the dtype that are not subnormal (XLA
            takes those for zero).
        fill: as in ``hypothesis.extra.numpy.arrays``.
        unique: whether all elements differ.

    Raises:
        InvalidArgument: dtype or shape cannot be; at the draw, if 64-bit dtypes are off and are needed.
    """
    if isinstance(dtype, SearchStrategy):
        return dtype.flatmap(lambda one: arrays(one, shape, elements=elements, fill=fill, unique=unique))
    if isinstance(shape, SearchStrategy):
        return shape.flatmap(lambda one: arrays(dtype, one, elements=elements, fill=fill, unique=unique))
    sides = (shape,) if isinstance(shape, int) else shape
    if not isinstance(sides, tuple) or not all(isinstance(n, int) and n >= 0 for n in sides):
        raise InvalidArgument(f"shape={shape!r} must be a size, a tuple of sizes, or a strategy of such tuples")
    found = token(dtype)
    return st.deferred(lambda: _arrays(require(resolve(found)), sides, elements, fill, unique))


def _arrays(
    dtype: Any,
    shape: tuple[int, ...],
    elements: SearchStrategy[Any] | None,
    fill: SearchStrategy[Any] | None,
    unique: bool,
) -> SearchStrategy[jax.Array]:
    if elements is None and fill is None and not unique:
        return drawn(dtype, shape, numbers_of(dtype)).map(jnp.asarray)
    narrow = np.dtype(np.float32) if dtype.name == "bfloat16" else dtype
    if elements is None and dtype.kind != "c":
        elements = numbers_of(dtype)
    if fill is None and np.prod(shape, dtype=np.int64) <= INVERTIBLE:
        fill = st.nothing()
    made = npst.arrays(narrow, shape, elements=elements, fill=fill, unique=unique)
    return made.map(lambda values: jnp.asarray(values.astype(dtype, copy=False)))


def keys(shape: int | tuple[int, ...] = (), *, impl: str | None = None) -> SearchStrategy[jax.Array]:
    """
    Return a strategy of typed PRNG keys. Shrinks to ``jax.random.key(0)``.
    """
    part = KeyPart((), (shape,) if isinstance(shape, int) else shape, impl)
    return part.strategy(special=False).map(part.finish)


def dtypes(kinds: str = "f") -> SearchStrategy[Any]:
    """
    Return a strategy of the dtypes that JAX can hold at the time of the draw. Shrinks to the first, such as float32.

    Args:
        kinds: some of the letters f (floats), c (complex), i (signed), u (unsigned), b (bool), the simplest first.

    Raises:
        InvalidArgument: a letter is none of these, or there is none.
    """
    if not kinds or not set(kinds) <= set(KINDS):
        raise InvalidArgument(f"kinds={kinds!r} must be some of the letters {''.join(KINDS)}")
    found = [resolve(name) for letter in dict.fromkeys(kinds) for name in KINDS[letter]]

    def now() -> SearchStrategy[Any]:
        return st.sampled_from([one for one in found if jax.dtypes.canonicalize_dtype(one) == one])

    return st.deferred(now)
