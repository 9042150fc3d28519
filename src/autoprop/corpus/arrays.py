"""How one array, scalar or PRNG key is written down so that every bit of it comes back."""

from __future__ import annotations

import base64
import binascii
import functools
import math
import re
import sys
import zlib
from typing import Any

import attrs
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

from autoprop._errors import CorpusError

from .decimals import decimals, from_decimals, kind_of

__all__ = [
    "Budget",
    "decode_bytes",
    "dtype_at",
    "dtype_name",
    "encode_bytes",
    "pack",
    "pack_jax",
    "raw",
    "unpack",
    "unpack_jax",
]

Array = np.ndarray[Any, Any]

_LIMIT = 1 << 26
_INLINE = 64
_MANTISSA = np.finfo(np.longdouble).nmant
_DTYPES: dict[str, np.dtype[Any]] = {str(kind): kind for kind in map(np.dtype, "?bhilBHILefdFD")} | {
    name: np.dtype(kind)
    for name, kind in vars(ml_dtypes).items()
    if isinstance(kind, type) and issubclass(kind, np.generic)
}
# The bits of a long double mean different numbers on different machines: its name says how many bits the mantissa has.
_DTYPES[f"longdouble{_MANTISSA}"] = np.dtype(np.longdouble)
_DTYPES[f"clongdouble{_MANTISSA}"] = np.dtype(np.clongdouble)
_TEXT = re.compile(r"[SU]\d{1,6}|[mM]8\[\d{0,6}[A-Za-z]{1,2}\]")


@attrs.define
class Budget:
    """
    How many bytes of arrays one case may still unfold to.
    """

    left: int = _LIMIT

    def take(self, count: int) -> None:
        """
        Use up some bytes.
        """
        if count > self.left:
            raise CorpusError(f"unfolds to more than {_LIMIT >> 20} MiB of arrays, too large for a case")
        self.left -= count


def dtype_name(dtype: np.dtype[Any]) -> str:
    """
    Return the name of a dtype; ``>`` in front says that it is not this machine's byte order.
    """
    native = dtype.newbyteorder("=") if dtype.byteorder in "<>" else dtype
    text = native.str.lstrip("<>=|")
    name = next((name for name, known in _DTYPES.items() if known == native and known.kind == native.kind), text)
    if name is text and not _TEXT.fullmatch(text):
        raise CorpusError(f"arrays of dtype {dtype} cannot be stored; use a numeric or bool dtype")
    return name if dtype.isnative else f">{name}"


def dtype_at(name: str) -> np.dtype[Any]:
    """
    Return the dtype of a name.
    """
    base = name.removeprefix(">")
    try:
        dtype = _DTYPES[base] if base in _DTYPES else np.dtype(base) if _TEXT.fullmatch(base) else None
    except TypeError:
        dtype = None
    if dtype is None:
        raise CorpusError(f"{name!r} is not a dtype that autoprop stores on this machine")
    return dtype.newbyteorder("S") if base != name else dtype


def _little(array: Array) -> Array:
    return array if sys.byteorder == "little" or array.dtype.itemsize == 1 else array.byteswap()


def raw(array: Array) -> bytes:
    """
    Return the elements in C order, each with its lowest byte first.
    """
    native = array.astype(array.dtype.newbyteorder("=")) if not array.dtype.isnative else array
    if (
        native.dtype in (np.longdouble, np.clongdouble) and _MANTISSA == 63
    ):  # ten bytes count, the others are padding of no meaning
        padded = np.frombuffer(native.tobytes(), np.uint8).reshape(-1, np.dtype(np.longdouble).itemsize).copy()
        padded[:, 10:] = 0
        return padded.tobytes()
    return _little(native).tobytes()


def _from_raw(data: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    native = dtype.newbyteorder("=") if not dtype.isnative else dtype
    if native.itemsize == 0:
        return np.zeros(shape, dtype)
    array = _little(np.frombuffer(data, native)).reshape(shape)
    return array.astype(dtype) if not dtype.isnative else array.copy()


def encode_bytes(data: bytes, *, short: bool) -> dict[str, str]:
    """
    Return bytes as ``hex``, or deflated as ``z64`` where they are not short.
    """
    return {"hex": data.hex()} if short else {"z64": base64.b64encode(zlib.compress(data, 9)).decode("ascii")}


def decode_bytes(entry: dict[str, Any], count: int | None, budget: Budget) -> bytes:
    """
    Return the bytes of an entry with ``hex`` or ``z64``; ``count`` of them, where it is given.
    """
    text = entry.get("hex", entry.get("z64"))
    if not isinstance(text, str) or ("hex" in entry) == ("z64" in entry):
        raise CorpusError("needs its bits as text, either hex or z64")
    most = count if count is not None else budget.left
    try:
        if "hex" in entry:
            data = bytes.fromhex(text)
        else:
            inflate = zlib.decompressobj()
            data = inflate.decompress(base64.b64decode(text, validate=True), most + 1)
            if len(data) <= most and (not inflate.eof or inflate.unused_data):
                raise CorpusError("holds compressed bits that are cut off or followed by others")
    except (ValueError, binascii.Error, zlib.error) as error:
        if isinstance(error, CorpusError):
            raise
        raise CorpusError(f"holds bits that cannot be read: {error}") from None
    if len(data) > most or (count is not None and len(data) != count):
        raise CorpusError(f"holds {'more' if len(data) > most else 'less'} than the {most} bytes its shape needs")
    if count is None:
        budget.take(len(data))
    return data


def pack(array: Array, tag: str) -> dict[str, Any]:
    """
    Return an array as JSON: decimal values where they give back every bit, else the bits.
    """
    name = dtype_name(array.dtype)
    entry: dict[str, Any] = {"$": tag, "dtype": name, "shape": list(array.shape)}
    Budget().take(array.nbytes)
    data = raw(array)
    if array.size > _INLINE:
        return entry | encode_bytes(data, short=False)
    if array.dtype.isnative and (kind := kind_of(name)) != "bits":
        flat = np.ascontiguousarray(array).reshape(-1)
        values = decimals(flat, kind)
        try:
            exact = raw(from_decimals(values, array.dtype, kind)) == data
        except CorpusError:
            exact = False
        if exact:
            return entry | {"v": values}
    return entry | encode_bytes(data, short=True) | {"repr": " ".join(str(array.tolist()).split())[:200]}


def unpack(entry: dict[str, Any], budget: Budget) -> Array:
    """
    Return the array of an entry of `pack`.
    """
    name, shape = entry.get("dtype"), entry.get("shape")
    if not isinstance(name, str) or not isinstance(entry.get("repr", ""), str):
        raise CorpusError("needs a dtype by name, and its repr as text")
    if sum(form in entry for form in ("v", "hex", "z64")) != 1:
        raise CorpusError("needs its values once: as v, hex or z64")
    dtype = dtype_at(name)
    if (
        not isinstance(shape, list)
        or len(shape) > 32
        or not all(type(side) is int and 0 <= side < 2**31 for side in shape)
    ):
        raise CorpusError("needs a shape of at most 32 sides, none of them negative or above 2**31 - 1")
    size = math.prod(shape)
    budget.take(size * max(dtype.itemsize, 1))
    try:
        if "v" not in entry:
            return _from_raw(decode_bytes(entry, size * dtype.itemsize, budget), dtype, tuple(shape))
        if not dtype.isnative or not isinstance(entry["v"], list) or len(entry["v"]) != size:
            raise CorpusError(f"needs {size} values v for its shape {shape}")
        return from_decimals(entry["v"], dtype, kind_of(name)).reshape(shape)
    except (ValueError, OverflowError) as error:
        if isinstance(error, CorpusError):
            raise
        raise CorpusError(f"cannot be made an array of dtype {name}: {error}") from None


def pack_jax(array: jax.Array) -> dict[str, Any]:
    """
    Return a JAX array or a typed PRNG key as JSON.
    """
    if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
        data = np.asarray(jax.random.key_data(array))
        return pack(data, "key") | {"impl": str(jax.random.key_impl(array))}
    entry = pack(np.asarray(array), "jax")
    return entry | {"weak": True} if array.weak_type else entry


def unpack_jax(entry: dict[str, Any], budget: Budget) -> jax.Array:
    """
    Return the JAX array or typed PRNG key of an entry of `pack_jax`.
    """
    host = unpack(entry, budget)
    if entry["$"] == "key":
        if not isinstance(impl := entry.get("impl"), str):
            raise CorpusError("needs the name of the key's implementation, impl")
        try:
            key: jax.Array = jax.random.wrap_key_data(jnp.asarray(host), impl=impl)
            return key
        except (TypeError, ValueError) as error:
            raise CorpusError(f"is not a PRNG key: {error}") from None
    weak = entry.get("weak", False)
    if type(weak) is not bool:
        raise CorpusError("has a weak that is neither true nor false")
    try:
        if jax.dtypes.canonicalize_dtype(host.dtype) != host.dtype:
            raise CorpusError(f"has dtype {host.dtype}: set jax_enable_x64 (JAX_ENABLE_X64=1) to load it")
        strong = jnp.asarray(host)
    except CorpusError:
        raise
    except (TypeError, ValueError, RuntimeError):
        raise CorpusError(f"has dtype {host.dtype}, which JAX arrays cannot have here") from None
    if not weak:
        return strong
    weakened: jax.Array = _weak(strong.shape, strong.dtype)(strong)
    return weakened


@functools.lru_cache(maxsize=64)
def _weak(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """
    Return a compiled identity that makes an array weakly typed; going through Python scalars would lose NaN payloads.
    """
    abstract = jax.ShapeDtypeStruct(shape, dtype, weak_type=True)  # type: ignore[no-untyped-call]
    return jax.jit(lambda x: x).lower(abstract).compile()
