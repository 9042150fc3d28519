"""How each kind of value is read from JSON that may be damaged or hostile."""

from __future__ import annotations

import enum
import struct
from typing import Any

import attrs
import jax.numpy as jnp

from autoprop._errors import CorpusError

from . import arrays, classes
from .writer import DEPTH, INT_BITS

__all__ = ["Reader"]

_JAX_SCALAR = type(jnp.float32)
_BITS = frozenset({"dtype", "shape", "v", "hex", "z64", "repr"})
# Each tag: the method that reads it, and the keys that it may have.
_FORMS: dict[str, tuple[str, frozenset[str]]] = {
    "bytes": ("_bytes", frozenset({"hex", "z64"})),
    "complex": ("_complex", frozenset({"v"})),
    "dict": ("_dict", frozenset({"v"})),
    "dtype": ("_dtype", frozenset({"of", "dtype"})),
    "enum": ("_enum", frozenset({"class", "member"})),
    "fields": ("_fields", frozenset({"class", "v"})),
    "float": ("_float", frozenset({"v", "hex"})),
    "int": ("_int", frozenset({"v"})),
    "jax": ("_array", _BITS | {"weak"}),
    "key": ("_array", _BITS | {"impl"}),
    "namedtuple": ("_namedtuple", frozenset({"class", "v"})),
    "node": ("_node", frozenset({"class", "static", "v"})),
    "np": ("_array", _BITS),
    "npscalar": ("_array", _BITS),
    "tuple": ("_tuple", frozenset({"v"})),
}


@attrs.define
class Reader:
    """
    Reads one encoded object; the bytes of all its arrays together are limited.
    """

    budget: arrays.Budget = attrs.field(factory=arrays.Budget)

    def read(self, value: Any, where: str, depth: int = 0) -> Any:
        """
        Return the value of an encoded object.

        Args:
            value: the encoded object.
            where: what to call it in errors.
            depth: how many containers it is inside of.
        """
        if depth > DEPTH:
            raise CorpusError(f"{where}: nested more than {DEPTH} deep")
        if value is None or isinstance(value, (bool, str, int, float)):
            return value
        if isinstance(value, list):
            return [self.read(item, f"{where}[{at}]", depth + 1) for at, item in enumerate(value)]
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            raise CorpusError(f"{where}: a {type(value).__name__} is not part of JSON")
        if "$" not in value:
            return {key: self.read(item, f"{where}[{key!r}]", depth + 1) for key, item in value.items()}
        tag = value["$"]
        if not isinstance(tag, str) or tag not in _FORMS:
            raise CorpusError(f"{where}: {tag!r} is not a kind of value; known are {', '.join(sorted(_FORMS))}")
        method, keys = _FORMS[tag]
        if extra := sorted(value.keys() - keys - {"$"}):
            raise CorpusError(f"{where}: a {tag} has no {extra[0]!r}")
        try:
            return getattr(self, method)(value, where, depth + 1)
        except CorpusError as error:
            raise error if str(error).startswith(where) else CorpusError(f"{where}: {error}") from None

    def _array(self, value: dict[str, Any], where: str, depth: int) -> Any:
        if value["$"] in ("jax", "key"):
            return arrays.unpack_jax(value, self.budget)
        array = arrays.unpack(value, self.budget)
        if value["$"] == "np":
            return array
        if array.shape:
            raise CorpusError(f"is a scalar, but has shape {array.shape}")
        return array[()]

    def _bytes(self, value: dict[str, Any], where: str, depth: int) -> bytes:
        return arrays.decode_bytes(value, None, self.budget)

    def _int(self, value: dict[str, Any], where: str, depth: int) -> int:
        text = value.get("v")
        if not isinstance(text, str) or len(text) > INT_BITS // 4 + 4:
            raise CorpusError(f"needs an integer as hexadecimal text of at most {INT_BITS} bits")
        try:
            return int(text, 16)
        except ValueError:
            raise CorpusError(f"{text[:40]!r} is not an integer in hexadecimal") from None

    def _float(self, value: dict[str, Any], where: str, depth: int) -> float:
        if "hex" in value and "v" not in value:
            return float(struct.unpack("<d", arrays.decode_bytes(value, 8, self.budget))[0])
        if value.get("v") not in ("nan", "inf", "-inf") or "hex" in value:
            raise CorpusError('needs v "nan", "inf" or "-inf", or 8 bytes of hex')
        return float(value["v"])

    def _complex(self, value: dict[str, Any], where: str, depth: int) -> complex:
        parts = self.read(self._list(value), where, depth)
        if len(parts) != 2 or not all(type(part) is float for part in parts):
            raise CorpusError("needs a real and an imaginary float")
        return complex(*parts)

    def _dtype(self, value: dict[str, Any], where: str, depth: int) -> Any:
        name, of = value.get("dtype"), value.get("of")
        if not isinstance(name, str) or of not in ("dtype", "numpy", "jax.numpy"):
            raise CorpusError("needs a dtype by name, of dtype, numpy or jax.numpy")
        dtype = arrays.dtype_at(name)
        if of != "jax.numpy":
            return dtype if of == "dtype" else dtype.type
        found = vars(jnp).get("bool_" if name == "bool" else name)
        if not isinstance(found, _JAX_SCALAR):
            raise CorpusError(f"jax.numpy has no scalar type {name!r}")
        return found

    def _enum(self, value: dict[str, Any], where: str, depth: int) -> enum.Enum:
        cls = classes.class_at(self._text(value, "class"))
        members = cls.__members__ if issubclass(cls, enum.Enum) else {}
        if (member := members.get(self._text(value, "member"))) is None:
            raise CorpusError(f"{cls.__qualname__} has no member {value['member']!r}")
        return member

    def _dict(self, value: dict[str, Any], where: str, depth: int) -> Any:
        found = {}
        for at, pair in enumerate(self._list(value)):
            if not isinstance(pair, list) or len(pair) != 2:
                raise CorpusError("needs pairs of a key and a value")
            key = self.read(pair[0], f"{where} (key {at})", depth)
            try:
                twice = key in found
            except TypeError:
                raise CorpusError(f"has a key of type {type(key).__name__}, which no dict can have") from None
            if twice:
                raise CorpusError(f"has one key twice, the second time as key {at}")
            found[key] = self.read(pair[1], f"{where} (value {at})", depth)
        return found

    def _tuple(self, value: dict[str, Any], where: str, depth: int) -> Any:
        return tuple(self.read(self._list(value), where, depth))

    def _namedtuple(self, value: dict[str, Any], where: str, depth: int) -> Any:
        cls = classes.class_at(self._text(value, "class"))
        return classes.build_namedtuple(cls, self.read(self._list(value), where, depth))

    def _fields(self, value: dict[str, Any], where: str, depth: int) -> Any:
        cls = classes.class_at(self._text(value, "class"))
        if not isinstance(value.get("v"), dict):
            raise CorpusError("needs its fields v as an object")
        values = {name: self.read(item, f"{where}.{name}", depth) for name, item in value["v"].items()}
        return classes.build_fields(cls, values)

    def _node(self, value: dict[str, Any], where: str, depth: int) -> Any:
        cls = classes.class_at(self._text(value, "class"))
        static = self.read(value.get("static"), f"{where} (static part)", depth)
        return classes.build_node(cls, self.read(self._list(value), where, depth), static)

    @staticmethod
    def _list(value: dict[str, Any]) -> Any:
        if not isinstance(value.get("v"), list):
            raise CorpusError(f"a {value['$']} needs its values v as a list")
        return value["v"]

    @staticmethod
    def _text(value: dict[str, Any], key: str) -> str:
        if not isinstance(found := value.get(key), str):
            raise CorpusError(f"a {value['$']} needs its {key} as text")
        return found
