"""The leaves of a spec: which arrays, keys and values may stand at one place of a tree."""

from __future__ import annotations

from typing import Any

import attrs
import jax
import jax.numpy as jnp
from hypothesis.errors import InvalidArgument

from . import _dims
from ._dims import Dims
from ._dtypes import kind, resolve, token
from ._interval import real
from ._support import Support

__all__ = [
    "ArraySpec",
    "ConstantSpec",
    "KeySpec",
    "LabelsSpec",
    "LeafSpec",
    "StaticSpec",
    "array",
    "constant",
    "key",
    "labels",
    "static",
]


class LeafSpec:
    """
    One leaf of a spec.
    """


@attrs.frozen
class ArraySpec(LeafSpec):
    """
    Arrays with named dims; what `array` returns.
    """

    dims: Dims
    dtypes: tuple[Any, ...]
    support: Support


@attrs.frozen
class LabelsSpec(LeafSpec):
    """
    Integers below a number or a named dim; what `labels` returns.
    """

    dims: Dims
    dtypes: tuple[Any, ...]
    below: int | str


@attrs.frozen
class KeySpec(LeafSpec):
    """
    Typed PRNG keys; what `key` returns.
    """

    dims: Dims
    impl: str | None


@attrs.frozen(eq=False)
class StaticSpec(LeafSpec):
    """
    Values that are no arrays, one per signature; what `static` returns.
    """

    values: tuple[Any, ...]


@attrs.frozen(eq=False)
class ConstantSpec(LeafSpec):
    """
    Always the same value; what `constant` returns.
    """

    value: Any


def array(
    dims: str | int | tuple[str | int, ...] = "",
    dtype: Any = jnp.float32,
    *,
    support: Support = real,
) -> ArraySpec:
    """
    Return the spec of an array. Dims of the same name have the same size in the whole tree.

    Args:
        dims: names (``"n d"``), sizes (``"3 n"``), ``"*batch"`` for none to two dims, ``""`` for a scalar.
        dtype: a dtype, or a tuple of alternatives; ``float`` is JAX's default float.
        support: which numbers may appear.

    Raises:
        InvalidArgument: dims, dtype or support cannot be, or not together.
    """
    parsed = _dims.parse(dims)
    alternatives = tuple(dtype) if isinstance(dtype, tuple | list) else (dtype,)
    if not alternatives:
        raise InvalidArgument("dtype=() must name at least one dtype, such as jnp.float32")
    if not isinstance(support, Support):
        raise InvalidArgument(f"support={support!r} must be a Support, such as real, positive or real(0, 10)")
    tokens = tuple(dict.fromkeys(token(one) for one in alternatives))
    for one in tokens:
        support.check(parsed, resolve(one))
    return ArraySpec(parsed, tokens, support)


def labels(dims: str | int | tuple[str | int, ...], *, below: int | str, dtype: Any = jnp.int32) -> LabelsSpec:
    """
    Return the spec of an integer array with numbers from 0 to ``below - 1``.

    Args:
        dims: as in `array`.
        below: a number, or the name of a dim.
        dtype: an integer dtype, or a tuple of alternatives.

    Raises:
        InvalidArgument: there is no such number, or the dtype is no integer.
    """
    if isinstance(below, str):
        if len(parsed := _dims.parse(below)) != 1 or not isinstance(parsed[0], str) or below.startswith("*"):
            raise InvalidArgument(f"below={below!r} must be one name of a dim, such as 'c', or a number")
    elif isinstance(below, bool) or not isinstance(below, int) or below < 1:
        raise InvalidArgument(f"below={below!r} must be at least 1, or the name of a dim")
    alternatives = tuple(dtype) if isinstance(dtype, tuple | list) else (dtype,)
    tokens = tuple(dict.fromkeys(token(one) for one in alternatives))
    if not tokens or any(kind(resolve(one)) not in "iu" for one in tokens):
        raise InvalidArgument(f"dtype={dtype!r} of labels must be an integer dtype, such as jnp.int32")
    return LabelsSpec(_dims.parse(dims), tokens, below)


def key(dims: str | int | tuple[str | int, ...] = "", *, impl: str | None = None) -> KeySpec:
    """
    Return the spec of typed PRNG keys, those that ``jax.random.key(seed, impl=impl)`` makes of 32-bit seeds.

    Raises:
        InvalidArgument: JAX knows no such implementation.
    """
    if impl is not None:
        try:
            jax.eval_shape(lambda: jax.random.key(0, impl=impl))
        except (ValueError, TypeError, KeyError) as error:
            raise InvalidArgument(f"impl={impl!r} must be an implementation of JAX, such as 'threefry2x32'") from error
    return KeySpec(_dims.parse(dims), impl)


def static(*values: Any) -> StaticSpec:
    """
    Return the spec of a value that is no array, the same in all rows of a signature.

    Args:
        values: the alternatives, the simplest first. A single list or tuple means its elements.

    Raises:
        InvalidArgument: there is no value.
    """
    found = tuple(values[0]) if len(values) == 1 and isinstance(values[0], tuple | list) else values
    if not found:
        raise InvalidArgument("static() must have at least one value, such as static('mean', 'sum')")
    return StaticSpec(found)


def constant(value: Any) -> ConstantSpec:
    """
    Return the spec of always this value; it is never stacked.
    """
    return ConstantSpec(value)
