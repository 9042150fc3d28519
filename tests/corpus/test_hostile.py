"""A damaged or hostile file is refused with its name and the reason, and runs nothing."""

from __future__ import annotations

import base64
import dataclasses
import json
import pickle
import zlib
from pathlib import Path
from typing import Any

import attrs
import jax
import pytest

from autoprop._errors import CorpusError
from autoprop.corpus import Store, codec

RAN: list[str] = []


@dataclasses.dataclass
class Plain:
    """
    A dataclass that records when its __post_init__ runs.
    """

    x: Any

    def __post_init__(self) -> None:
        RAN.append("__post_init__")


@attrs.define
class Dying:
    """
    A class that would run code when it is freed.
    """

    x: Any

    def __del__(self) -> None:
        RAN.append("__del__")


@dataclasses.dataclass
class Calling:
    """
    A dataclass that a target could call.
    """

    x: Any

    def __call__(self) -> None:
        """
        Record the call.
        """
        RAN.append("__call__")


class Slot:
    """
    A descriptor that runs code when it is set.
    """

    def __get__(self, instance: object, owner: type) -> int:
        return 1

    def __set__(self, instance: object, value: object) -> None:
        RAN.append("__set__")


class Watched:
    """
    A dataclass whose field is set by code.
    """

    __dataclass_fields__ = Plain.__dataclass_fields__
    x = Slot()


class Picky:
    """
    A node whose registered function refuses most children.
    """

    def __init__(self, child: Any) -> None:
        if not isinstance(child, float):
            raise RuntimeError("picky")
        self.child = child


jax.tree_util.register_pytree_node(Picky, lambda node: ((node.child,), None), lambda _, kids: Picky(*kids))


def array(**changes: Any) -> dict[str, Any]:
    """
    Return a sound encoded array with some entries changed.
    """
    return {"$": "np", "dtype": "float32", "shape": [2], "v": [0.0, 1.0]} | changes


def bits(data: bytes, *, tail: bytes = b"", **changes: Any) -> dict[str, Any]:
    """
    Return an encoded array that holds compressed bytes.
    """
    packed = base64.b64encode(zlib.compress(data) + tail).decode()
    return {"$": "np", "dtype": "float32", "shape": [2], "z64": packed} | changes


def fields(path: str, **values: Any) -> dict[str, Any]:
    """
    Return an encoded object with fields.
    """
    return {"$": "fields", "class": path, "v": values}


def node(path: str, *children: Any, static: Any = None) -> dict[str, Any]:
    """
    Return an encoded registered node.
    """
    return {"$": "node", "class": path, "static": static, "v": list(children)}


def nested(depth: int) -> Any:
    """
    Return a list in a list, and so on.
    """
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


HERE = __name__
REFUSED = {
    "function as a class": (fields("os:system", command="true"), "'system' is not a class"),
    "class that runs a program": (fields("subprocess:Popen", args="true"), "must be a namedtuple, dataclass"),
    "class that runs a program as node": (node("subprocess:Popen", "true"), "must be a namedtuple, dataclass"),
    "class of a module that is not imported": (fields("antigravity:X"), "never imports anything"),
    "walk through globals": (fields("json:loads.__globals__.x"), "'loads' is not a class"),
    "walk through dunders": (fields(f"{HERE}:Plain.__class__"), "'__class__' is not a class"),
    "class path of another form": (fields("os.system"), "not a class path"),
    "class path with spaces": (fields("os: system"), "not a class path"),
    "class path of another type": ({"$": "fields", "class": 1, "v": {}}, "needs its class as text"),
    "built-in class": (node("builtins:list", 1), "has its own form"),
    "class with __del__": (fields(f"{HERE}:Dying", x=1), "has a __del__"),
    "callable class": (fields(f"{HERE}:Calling", x=1), "is callable"),
    "partial": (node("jax.tree_util:Partial", static=None), "not a class|holds a function"),
    "partial by its home": (node("functools:partial"), "holds a function"),
    "descriptor instead of a field": (fields(f"{HERE}:Watched", x=1), "descriptor"),
    "undeclared field": (fields(f"{HERE}:Plain", x=1, __class__=2), "declares no field '__class__'"),
    "missing field": (fields(f"{HERE}:Plain"), "a field 'x' that was not stored"),
    "fields as a list": ({"$": "fields", "class": f"{HERE}:Plain", "v": [1]}, "fields v as an object"),
    "namedtuple that is none": ({"$": "namedtuple", "class": f"{HERE}:Plain", "v": [1]}, "is not a namedtuple"),
    "fields of a node": (fields(f"{HERE}:Picky", child=1.0), "declares no fields"),
    "node that is none": (node(f"{HERE}:Plain", 1), "not registered as a pytree node"),
    "node that raises": (node(f"{HERE}:Picky", 1), "cannot be rebuilt: RuntimeError: picky"),
    "node with too many children": (node(f"{HERE}:Picky", 1.0, 2.0), "cannot be rebuilt: TypeError"),
    "node with another static part": (node(f"{HERE}:Picky", 1.0, static="x"), "does not give back"),
    "enum that is none": ({"$": "enum", "class": f"{HERE}:Plain", "member": "x"}, "has no member"),
    "object dtype": (array(dtype="object"), "'object' is not a dtype"),
    "structured dtype": (array(dtype="i4,f4"), "is not a dtype"),
    "dtype of another type": (array(dtype=["f4"]), "needs a dtype by name"),
    "dtype with bad unit": (array(dtype="M8[zz]"), "is not a dtype"),
    "huge shape": (array(shape=[2**40]), "needs a shape"),
    "large shape": (array(shape=[2**30, 2**30]), "too large for a case"),
    "negative shape": (array(shape=[-2]), "needs a shape"),
    "many sides": (array(shape=[1] * 33), "needs a shape"),
    "float shape": (array(shape=[2.0]), "needs a shape"),
    "bool shape": (array(shape=[True]), "needs a shape"),
    "too few values": (array(v=[0.0]), "needs 2 values"),
    "too many values": (array(v=[0.0] * 3), "needs 2 values"),
    "text values": (array(v=["0.0", 1.0]), "not a value of dtype float32"),
    "bool values of a float": (array(v=[True, 1.0]), "not a value of dtype float32"),
    "float values of an int": (array(dtype="int8", v=[0.5, 1]), "not a value of dtype int8"),
    "int out of range": (array(dtype="int8", v=[300, 1]), "does not fit in dtype int8"),
    "giant int in an array": (array(dtype="uint64", v=[2**64, 1]), "does not fit in dtype uint64"),
    "float out of range": (array(v=[1e39, 1.0]), "does not fit in dtype float32"),
    "giant int as a float": (array(v=[10**400, 1.0]), "cannot be made|does not fit"),
    "values twice": (array(hex="00" * 8), "needs its values once"),
    "no values": ({"$": "np", "dtype": "float32", "shape": [2]}, "needs its values once"),
    "odd hex": ({"$": "np", "dtype": "float32", "shape": [2], "hex": "0"}, "cannot be read"),
    "short hex": ({"$": "np", "dtype": "float32", "shape": [2], "hex": "00"}, "less than the 8 bytes"),
    "zip bomb": (bits(b"\0" * 50_000_000), "more than the 8 bytes"),
    "bytes bomb": ({"$": "bytes", "z64": base64.b64encode(zlib.compress(b"\0" * (2**26 + 1))).decode()}, "more than"),
    "cut off": (bits(b"\0" * 8, z64=bits(b"\0" * 8)["z64"][:8]), "cut off|cannot be read"),
    "trailing bits": (bits(b"\0" * 8, tail=b"x"), "followed by others"),
    "not base64": (array() | {"z64": "§"}, "needs its values once"),
    "unknown key": (array(pickle="x"), "a np has no 'pickle'"),
    "unknown tag": ({"$": "pickle", "v": "gASVIgAAAAAA"}, "'pickle' is not a kind of value"),
    "tag of another type": ({"$": ["np"]}, "is not a kind of value"),
    "scalar with a shape": (array() | {"$": "npscalar"}, "is a scalar, but has shape"),
    "weak that is text": (array() | {"$": "jax", "weak": "yes"}, "neither true nor false"),
    "JAX array of a NumPy dtype": ({"$": "jax", "dtype": "U1", "shape": [0], "hex": ""}, "JAX arrays cannot have"),
    "key of an unknown kind": (array(dtype="uint32", v=[0, 1]) | {"$": "key", "impl": "x"}, "is not a PRNG key"),
    "key of wrong data": (array() | {"$": "key", "impl": "rbg"}, "is not a PRNG key"),
    "giant int": ({"$": "int", "v": "0x" + "f" * 20000}, "at most 65536 bits"),
    "int of letters": ({"$": "int", "v": "one"}, "not an integer"),
    "complex of three": ({"$": "complex", "v": [1.0, 2.0, 3.0]}, "a real and an imaginary"),
    "float of words": ({"$": "float", "v": "one"}, 'needs v "nan"'),
    "unhashable key": ({"$": "dict", "v": [[[1], 2]]}, "no dict can have"),
    "equal keys": ({"$": "dict", "v": [[1, 2], [True, 3]]}, "one key twice"),
    "deep nesting": (nested(150), "nested more than 100 deep"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_values_are_refused(name: str) -> None:
    """
    Each hostile value is refused for its own reason, with the name of the file in front.
    """
    encoded, reason = REFUSED[name]
    with pytest.raises(CorpusError, match=f"^case.json.*({reason})"):
        codec.decode(encoded, name="case.json")


def test_nothing_of_a_file_runs() -> None:
    """
    Loading an accepted class runs none of its code, and the refused ones above ran none either.
    """
    assert codec.decode(fields(f"{HERE}:Plain", x=3)).x == 3
    assert RAN == []


def test_many_small_bombs_share_one_budget() -> None:
    """
    The limit holds for a whole case: arrays that are each allowed are refused together.
    """
    one = {"$": "np", "dtype": "int8", "shape": [2**25], "z64": base64.b64encode(zlib.compress(bytes(2**25))).decode()}
    with pytest.raises(CorpusError, match="too large for a case"):
        codec.decode([one, one, one], name="case.json")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (pickle.dumps({"autoprop_case": 1}), "not UTF-8|not JSON"),
        (b"", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[1]", "a case is a JSON object"),
        (b'{"autoprop_case": 1', "not JSON"),
        (b'{"autoprop_case": 1, "autoprop_case": 1}', "appears twice"),
        (b'{"autoprop_case": NaN}', "NaN is not JSON"),
        (b'{"autoprop_case": 1e999}', "does not fit in a float"),
        (b'{"autoprop_case": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"autoprop_case": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deeply"),
        (b"{}", '"autoprop_case" with the format number is missing'),
        (b'{"autoprop_case": true}', "has format True"),
        (json.dumps({"autoprop_case": 1}).encode(), "missing"),
    ],
    ids=range(13),
)
def test_hostile_texts_are_refused(tmp_path: Path, text: bytes, reason: str) -> None:
    """
    A file that is not a case is refused with its path and the reason.
    """
    path = tmp_path / "case.json"
    path.write_bytes(text)
    with pytest.raises(CorpusError, match=reason) as refused:
        Store(tmp_path).load(path)
    assert str(refused.value).startswith(str(path))
