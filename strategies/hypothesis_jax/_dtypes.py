"""Which dtypes may appear, and what has to be known about each."""

from __future__ import annotations

import functools
from typing import Any, TypeAlias

import attrs
import jax
import jax.numpy as jnp
import numpy as np
from hypothesis.errors import InvalidArgument

__all__ = ["NAMES", "DType", "Float", "finfo", "kind", "limits", "require", "resolve", "token", "working"]

DType: TypeAlias = np.dtype[Any]

KINDS = {
    "f": ("float32", "float64", "float16", "bfloat16"),
    "c": ("complex64", "complex128"),
    "i": ("int32", "int64", "int16", "int8"),
    "u": ("uint32", "uint64", "uint16", "uint8"),
    "b": ("bool",),
}
NAMES = tuple(name for names in KINDS.values() for name in names)
_KIND = {name: kind for kind, names in KINDS.items() for name in names}
_DEFAULTS: dict[Any, Any] = {float: np.float64, int: np.int64, complex: np.complex128}


@attrs.frozen
class Float:
    """
    The numbers that describe a floating dtype, as Python floats.
    """

    max: float
    tiny: float
    eps: float


@functools.cache
def kind(dtype: DType) -> str:
    """
    Return ``f``, ``c``, ``i``, ``u`` or ``b``; bfloat16 is an ``f``.
    """
    return _KIND[dtype.name]


@functools.cache
def finfo(dtype: DType) -> Float:
    """
    Return largest number, smallest normal number and machine epsilon (of the parts, for a complex dtype).
    """
    info: Any = jnp.finfo(dtype)  # type: ignore[no-untyped-call]
    return Float(float(info.max), float(info.smallest_normal), float(info.eps))


@functools.cache
def working(dtype: DType) -> type[np.floating[Any]]:
    """
    Return the dtype in which numbers for a floating or complex dtype are made before they are rounded to it.
    """
    return np.float64 if dtype.name in ("float64", "complex128") else np.float32


@functools.cache
def limits(dtype: DType) -> tuple[int, int]:
    """
    Return the smallest and the largest number of an integer dtype, or (0, 1) for bool.
    """
    if dtype == np.bool_:
        return 0, 1
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def token(dtype: Any) -> Any:
    """
    Return the dtype, or ``float``, ``int`` or ``complex`` themselves: those mean JAX's default at the time of the draw.

    Raises:
        InvalidArgument: it is no dtype, or one that is not supported.
    """
    if dtype in (float, int, complex):
        return dtype
    try:
        found = jnp.dtype(dtype)
    except TypeError:
        found = None
    if found is None or found.name not in NAMES:
        raise InvalidArgument(f"dtype={dtype!r} must be one of {', '.join(NAMES)}, or float, int, complex or bool")
    return found


def resolve(dtype: Any) -> DType:
    """
    Return the dtype that a `token` or the name of a dtype stands for now.
    """
    if dtype in _DEFAULTS:
        dtype = jax.dtypes.canonicalize_dtype(_DEFAULTS[dtype])
    found: DType = np.dtype(jnp.dtype(dtype))
    return found


def require(dtype: DType) -> DType:
    """
    Return the dtype if JAX can hold it now.

    Raises:
        InvalidArgument: the dtype has 64-bit parts, and JAX is in its 32-bit mode.
    """
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise InvalidArgument(
            f"dtype {dtype.name} must be one that JAX can hold, but 64-bit dtypes are off; "
            "call jax.config.update('jax_enable_x64', True), or use dtype=float, int or complex for JAX's own default"
        )
    return dtype
