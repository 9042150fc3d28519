"""Encode a tree of values as JSON and decode it, bit for bit, without running anything that a file names."""

from __future__ import annotations

import json
from typing import Any

from autoprop._errors import CorpusError

from . import arrays
from .reader import Reader
from .writer import write

__all__ = ["canonical", "decode", "encode"]


def encode(tree: Any, *, name: str = "value") -> Any:
    """
    Return a tree of values as a JSON-able object, after checking that it comes back the same.

    Args:
        tree: arrays, PRNG keys, scalars, text, bytes, and containers of them.
        name: what to call the tree in errors.

    Raises:
        CorpusError: something in the tree cannot be stored: a function, a tracer, an object of an unknown class.
    """
    encoded = write(tree, name)
    again = write(decode(encoded, name=name), name)
    if json.dumps(again) != json.dumps(encoded):
        raise CorpusError(f"{name}: does not come back as it was stored; one of its classes changes what it is given")
    return encoded


def decode(encoded: Any, *, name: str = "value") -> Any:
    """
    Return the tree of an encoded object.

    Args:
        encoded: what `encode` returned, or what a file claims it did.
        name: what to call it in errors, usually its file.

    Raises:
        CorpusError: it is not what `encode` returns, or its classes are not imported or have changed.
    """
    return Reader().read(encoded, name)


def canonical(encoded: Any) -> Any:
    """
    Return an encoded object with each array as its bits, so that equal trees are equal text under every version.
    """
    if isinstance(encoded, list):
        return [canonical(item) for item in encoded]
    if not isinstance(encoded, dict):
        return encoded
    tag = encoded.get("$")
    if tag in ("np", "npscalar", "jax", "key"):
        bits = arrays.raw(arrays.unpack(encoded, arrays.Budget())).hex()
        kept = {key: encoded[key] for key in ("$", "dtype", "shape", "impl") if key in encoded}
        return kept | ({"weak": True} if encoded.get("weak") else {}) | {"hex": bits}
    if tag == "bytes":
        return {"$": "bytes", "hex": arrays.decode_bytes(encoded, None, arrays.Budget()).hex()}
    return {key: canonical(value) for key, value in encoded.items()}
