"""How each kind of value is written as JSON, and why some are refused."""

from __future__ import annotations

import enum
import math
import struct
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autoprop._errors import CorpusError

from . import arrays, classes

__all__ = ["DEPTH", "INT_BITS", "write"]

DEPTH = 100
"""How many containers a value may be inside of."""

INT_BITS = 1 << 16
"""How many bits an integer may have."""

_EXACT = 2**53
_JAX_SCALAR = type(jnp.float32)


def write(value: Any, where: str, depth: int = 0) -> Any:
    """
    Return a tree of values as a JSON-able object.

    Args:
        value: the tree.
        where: what to call it in errors.
        depth: how many containers it is inside of.
    """
    if depth > DEPTH:
        raise CorpusError(f"{where}: nested more than {DEPTH} deep, or inside itself")
    try:
        return _write_leaf(value) if _is_leaf(value) else _write_container(value, where, depth + 1)
    except CorpusError as error:
        raise error if str(error).startswith(where) else CorpusError(f"{where}: {error}") from None


def _is_leaf(value: Any) -> bool:
    leaves = (
        bool,
        int,
        float,
        complex,
        str,
        bytes,
        np.ndarray,
        np.generic,
        np.dtype,
        enum.Enum,
        jax.Array,
        _JAX_SCALAR,
    )
    return value is None or isinstance(value, leaves) or (isinstance(value, type) and issubclass(value, np.generic))


def _write_leaf(value: Any) -> Any:
    kind = type(value)
    if isinstance(value, jax.core.Tracer):
        raise CorpusError("is a tracer, which has no value; store the concrete arguments outside of jit, grad and vmap")
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return _write_int(value)
    if kind is float:
        return _write_float(value)
    if kind is complex:
        return {"$": "complex", "v": [_write_float(value.real), _write_float(value.imag)]}
    if kind is bytes:
        return {"$": "bytes"} | arrays.encode_bytes(value, short=len(value) <= 64)
    if isinstance(value, np.generic):
        return arrays.pack(np.asarray(value), "npscalar")
    if kind is np.ndarray:
        return arrays.pack(value, "np")
    if isinstance(value, jax.Array):
        try:
            return arrays.pack_jax(value)
        except RuntimeError as error:
            raise CorpusError(f"is an array whose values cannot be read: {error}") from None
    if isinstance(value, np.dtype):
        return {"$": "dtype", "of": "dtype", "dtype": arrays.dtype_name(value)}
    if isinstance(value, _JAX_SCALAR):
        return {"$": "dtype", "of": "jax.numpy", "dtype": arrays.dtype_name(np.dtype(value))}
    if isinstance(value, type):
        return {"$": "dtype", "of": "numpy", "dtype": arrays.dtype_name(np.dtype(value))}
    if isinstance(value, enum.Enum):
        return {"$": "enum", "class": classes.path_of(kind), "member": value.name}
    raise CorpusError(f"is a {kind.__qualname__}, a subclass that would be lost; convert it to its plain type")


def _write_int(value: int) -> Any:
    if abs(value) <= _EXACT:
        return value
    if value.bit_length() > INT_BITS:
        raise CorpusError(f"is an integer of {value.bit_length()} bits; at most {INT_BITS} can be stored")
    return {"$": "int", "v": hex(value)}


def _write_float(value: float) -> Any:
    if math.isfinite(value):
        return value
    if math.isinf(value) or struct.pack("<d", value) == struct.pack("<d", math.nan):
        return {"$": "float", "v": str(value)}
    return {"$": "float", "hex": struct.pack("<d", value).hex()}


def _write_container(value: Any, where: str, depth: int) -> Any:
    kind = type(value)
    if kind is dict:
        if all(type(key) is str for key in value) and "$" not in value:
            return {key: write(item, f"{where}[{key!r}]", depth) for key, item in value.items()}
        items = [
            [write(key, f"{where} (key {at})", depth), write(item, f"{where} (value {at})", depth)]
            for at, (key, item) in enumerate(value.items())
        ]
        return {"$": "dict", "v": items}
    if kind in (list, tuple):
        items = [write(item, f"{where}[{at}]", depth) for at, item in enumerate(value)]
        return items if kind is list else {"$": "tuple", "v": items}
    if classes.is_namedtuple(kind) and not getattr(value, "__dict__", None):
        items = [write(item, f"{where}.{name}", depth) for name, item in zip(kind._fields, value, strict=True)]
        return {"$": "namedtuple", "class": classes.path_of(kind), "v": items}
    if (fields := classes.field_values(value)) is not None:
        path = classes.path_of(kind)
        return {"$": "fields", "class": path, "v": {k: write(v, f"{where}.{k}", depth) for k, v in fields.items()}}
    if (parts := classes.split_node(value)) is not None:
        path, (children, static) = classes.path_of(kind), parts
        return {
            "$": "node",
            "class": path,
            "static": write(static, f"{where} (static part)", depth),
            "v": [write(child, f"{where}<{at}>", depth) for at, child in enumerate(children)],
        }
    if callable(value):
        named = getattr(value, "__qualname__", kind.__qualname__)
        raise CorpusError(
            f"is the callable {named!r}; functions are not stored, since a file could then name any function to be "
            "called. Close over it in the target instead of passing it as an argument"
        )
    if classes.declared(kind) is not None:
        raise CorpusError(
            f"is a {kind.__qualname__} that holds more or less than its declared fields; declare them or register the "
            "class as a pytree"
        )
    raise CorpusError(
        f"is a {kind.__qualname__}, which cannot be stored; use arrays, scalars, text, bytes, lists, tuples, dicts, "
        "namedtuples, dataclasses, attrs classes or registered pytrees"
    )
