"""Arrays, scalars and PRNG keys written as Python expressions that evaluate to the same bits."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["array_source", "key_source", "number", "python_number"]

SHOWN = 64  # a longer array is written by a pattern, or not at all
LISTED = 8  # a longer constant array is written as jnp.full
EXCEPTIONS = 4  # a constant array may have this many other elements

Nested = list[Any] | str


def python_number(value: complex | float) -> str:
    """
    Write a Python float or complex number.
    """
    if isinstance(value, complex):
        return f"complex({python_number(value.real)}, {python_number(value.imag)})"
    if math.isfinite(value):
        return repr(value)
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    return f"{sign}jnp.nan" if math.isnan(value) else f"{sign}jnp.inf"


def number(element: Any) -> str:
    """
    Write one element of an array: the shortest decimal that rounds to its bits.
    """
    dtype = element.dtype
    if dtype == np.bool_:
        return str(bool(element))
    if jnp.issubdtype(dtype, jnp.integer):
        return str(int(element))
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return f"complex({number(element.real)}, {number(element.imag)})"
    value = float(element)
    if dtype == np.float64 or not math.isfinite(value):
        return python_number(value)
    bits = element.tobytes()
    with np.errstate(over="ignore", invalid="ignore"):
        for digits in range(1, 17):
            short = float(f"{value:.{digits}g}")
            if np.array(short).astype(dtype).tobytes() == bits:
                return repr(short)
    return repr(value)


def _dtype(dtype: Any, module: str) -> str:
    if dtype == np.bool_:
        return f"{module}.bool_"
    if module == "np" and hasattr(np, dtype.name):
        return f"np.{dtype.name}"
    return f"jnp.{dtype.name}" if hasattr(jnp, dtype.name) else f"jnp.dtype({dtype.name!r})"


def _nested(array: Any) -> Nested:
    return number(array[()]) if array.ndim == 0 else [_nested(row) for row in array]


def _rows(array: Any) -> Any:
    """
    Return the bytes of each element, one row for each.
    """
    return np.frombuffer(array.tobytes(), np.uint8).reshape(array.size, -1)


def _constant(array: Any, module: str, dtype: str, exceptions: int) -> str | None:
    """
    Write an array that has one value, but for a few elements.
    """
    rows = _rows(array)
    _, first, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    usual = int(first[np.argmax(counts)])
    others = np.flatnonzero((rows != rows[usual]).any(axis=1))
    if len(others) > exceptions:
        return None
    flat = array.reshape(-1)
    shape = repr(array.shape)
    filled = f"{module}.full({shape}, {number(flat[usual])}, dtype={dtype})"
    if not rows[usual].any():
        filled = f"{module}.zeros({shape}, dtype={dtype})"
    for position in others:
        index = ", ".join(str(int(i)) for i in np.unravel_index(position, array.shape))
        filled += f".at[{index}].set({number(flat[position])})"
    return filled


def _same_bits(array: Any) -> bool:
    """
    Say whether every NaN is the one that ``jnp.nan`` makes; other payloads cannot be written as a number.
    """
    if not jnp.issubdtype(array.dtype, jnp.inexact):
        return True
    parts = [array.real, array.imag] if jnp.issubdtype(array.dtype, jnp.complexfloating) else [array]
    for part in parts:
        values = part.astype(np.float64)
        for element in part[np.isnan(values)].reshape(-1):
            sign = -1.0 if np.signbit(element) else 1.0
            if np.array(sign * math.nan).astype(part.dtype).tobytes() != element.tobytes():
                return False
    return True


def array_source(value: Any) -> tuple[str, Nested | None, str, str]:
    """
    Write a JAX or NumPy array.

    Returns:
        What goes before the elements, the elements (None where the first part is all there is), what goes after them,
        and a remark where the source does not say everything.
    """
    module = "jnp" if isinstance(value, jax.Array) else "np"
    weak = bool(getattr(value, "weak_type", False))
    array = np.asarray(value)
    if array.dtype == jax.dtypes.float0:
        return f"np.zeros({array.shape!r}, dtype=jax.dtypes.float0)", None, "", ""
    if array.dtype.hasobject or array.dtype.names or array.dtype.kind in "SUMm":
        return "...", None, "", f"an array of dtype {array.dtype}"
    dtype = _dtype(array.dtype, module)
    remark = "" if _same_bits(array) else "a NaN with other bits"
    if array.size == 0:
        return f"{module}.zeros({array.shape!r}, dtype={dtype})", None, "", remark
    if (
        weak
        and array.ndim == 0
        and array.dtype.name in ("float32", "float64", "int32", "int64", "complex64", "complex128")
    ):
        return f"jnp.asarray({number(array[()])})", None, "", remark
    remark = remark or ("weakly typed" if weak else "")
    if array.size > LISTED:
        few = EXCEPTIONS if module == "jnp" and array.size > SHOWN else 0
        constant = _constant(array, module, dtype, few)
        if constant is not None:
            return constant, None, "", remark
    if array.size > SHOWN:
        return "...", None, "", f"{array.dtype.name}{list(array.shape)}, see the saved case"
    return f"{module}.array(", _nested(array), f", dtype={dtype})", remark


def key_source(keys: Any) -> tuple[str, Nested | None, str, str]:
    """
    Write typed PRNG keys: as ``jax.random.key(n)`` where that is what they are. Returns what `array_source` returns.
    """
    impl = str(jax.random.key_impl(keys))
    data = np.asarray(jax.random.key_data(keys))
    default = str(jax.random.key_impl(jax.random.key(0)))
    if keys.ndim == 0:
        seed = int(data[-1])
        if np.array_equal(np.asarray(jax.random.key_data(jax.random.key(seed, impl=impl))), data):
            return f"jax.random.key({seed}{'' if impl == default else f', impl={impl!r}'})", None, "", ""
    after = ", dtype=jnp.uint32)" + ("" if impl == default else f", impl={impl!r}") + ")"
    if data.size == 0 or data.size > SHOWN:
        return "...", None, "", f"keys{list(keys.shape)} of {impl}, see the saved case"
    return "jax.random.wrap_key_data(jnp.array(", _nested(data), after, ""
