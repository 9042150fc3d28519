"""How array elements are written as the decimal values that people read, and read back."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from autoprop._errors import CorpusError

__all__ = ["decimals", "from_decimals", "kind_of"]

Array = np.ndarray[Any, Any]

_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def kind_of(name: str) -> str:
    """
    Return bool, int, float or complex for the name of a dtype, or bits where it has no decimal form.
    """
    found = re.match(r"bool$|u?int|complex(?=64$|128$)|b?float", name)
    return {"uint": "int", "bfloat": "float"}.get(found[0], found[0]) if found else "bits"


def decimals(array: Array, kind: str) -> list[Any] | None:
    """
    Return the shortest decimal values of a flat array as JSON, or None where its kind has none.
    """
    if kind == "bool":
        return [bool(item) for item in array]
    if kind == "int":
        return [int(item) for item in array]
    if kind == "float":
        values = [float(str(item)) for item in array]
        return [value if math.isfinite(value) else str(value) for value in values]
    if kind == "complex":
        parts = decimals(array.view(array.real.dtype), "float") or []
        return [parts[at : at + 2] for at in range(0, len(parts), 2)]
    return None


def from_decimals(values: Any, dtype: np.dtype[Any], kind: str) -> Array:
    """
    Return the flat array of decimal values from a file; each must be one that the dtype can hold.
    """
    if not isinstance(values, list):
        raise CorpusError("needs its values v as a list")
    if kind == "complex":
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in values):
            raise CorpusError("needs each complex value as a pair of numbers")
        flat = [part for pair in values for part in pair]
        return from_decimals(flat, np.empty(0, dtype).real.dtype, "float").view(dtype)
    wanted = {"bool": (bool,), "int": (int,), "float": (float, int, str)}.get(kind, ())
    for value in values:
        if type(value) not in wanted or (isinstance(value, str) and value not in _SPECIAL):
            raise CorpusError(f"holds {value!r:.60}, which is not a value of dtype {dtype}")
    if kind == "float":
        numbers = np.array([_SPECIAL.get(value, value) for value in values], np.float64)
        with np.errstate(all="ignore"):
            array = numbers.astype(dtype)
            fits = np.isfinite(array.astype(np.float64)) | ~np.isfinite(numbers)
        if not fits.all():
            raise CorpusError(f"holds {values[int(np.argmin(fits))]!r:.60}, which does not fit in dtype {dtype}")
        return array
    if kind == "int":
        array = np.array([value & (2**64 - 1) for value in values], np.uint64).astype(np.int64).astype(dtype)
        for value, got in zip(values, array, strict=True):
            if int(got) != value:
                raise CorpusError(f"holds {value!r:.60}, which does not fit in dtype {dtype}")
        return array
    return np.array(values, dtype)
