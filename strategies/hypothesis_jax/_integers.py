"""The adversarial families of integer leaves: small numbers, the edges of the range, and what lies beside them."""

from __future__ import annotations

import numpy as np

from ._dtypes import DType
from ._elements import Array
from ._families import Rng

__all__ = ["applicable", "draw"]


def applicable(shape: tuple[int, ...], low: int, high: int) -> tuple[str, ...]:
    """
    Return the families of an integer leaf whose elements lie between low and high.
    """
    size = int(np.prod(shape, dtype=np.int64))
    if size == 0 or low == high:
        return ("typical",)
    found = ["typical", "edges"]
    found += ["zeros"] if low <= 0 <= high else []
    found += ["ones"] if low <= 1 <= high else []
    found += ["negative"] if low < 0 else []
    found += ["all equal"] if size > 1 else []
    found += ["zero element"] if size > 1 and low <= 0 <= high else []
    found += ["equal rows"] if len(shape) > 1 else []
    return tuple(found)


def small(low: int, high: int) -> tuple[int, int]:
    """
    Return a range of at most nine numbers inside low..high, around zero or as near to it as there is.
    """
    if low > 4:
        return low, min(high, low + 8)
    if high < -4:
        return max(low, high - 8), high
    return max(low, -4), min(high, 8 if low >= 0 else 4)


def _between(rng: Rng, low: int, high: int, shape: tuple[int, ...], dtype: DType) -> Array:
    if dtype == np.bool_:
        return rng.integers(low, high, shape, np.int8, endpoint=True).astype(np.bool_)
    return rng.integers(low, high, shape, dtype, endpoint=True)


def draw(
    family: str,
    rng: Rng,
    shape: tuple[int, ...],
    dtype: DType,
    *,
    domain: tuple[int, int],
    typical: tuple[int, int],
) -> Array:
    """
    Return the family's numbers; the first axis counts the rows.

    Args:
        family: one of `applicable`, or ``out of range``: beside and far from the typical range, inside the domain.
        rng: numpy's generator.
        shape: rows, then the shape of the leaf.
        dtype: integer or bool.
        domain: the smallest and the largest number that may appear.
        typical: the range of the usual numbers.
    """
    low, high = domain
    rows = (shape[0], *([1] * (len(shape) - 1)))
    match family:
        case "zeros":
            return np.zeros(shape, dtype)
        case "ones":
            return np.ones(shape, dtype)
        case "edges":
            edges = {low, high, *typical, *([0] if low <= 0 <= high else [])}
            return rng.choice(np.array(sorted(edges), dtype), shape)
        case "out of range":
            beside = {typical[0] - 1, typical[1] + 1, typical[1] + 2, -1, low, high}
            outside = sorted(v for v in beside if low <= v <= high and not typical[0] <= v <= typical[1])
            return rng.choice(np.array(outside, dtype), shape)
        case "negative":
            return _between(rng, max(low, -100), min(high, -1), shape, dtype)
        case "all equal":
            return np.broadcast_to(_between(rng, *typical, rows, dtype), shape)
    x = _between(rng, *typical, shape, dtype)
    if family == "equal rows":
        return np.broadcast_to(x[..., :1, :], shape)
    if family == "zero element":
        x.reshape(shape[0], -1)[np.arange(shape[0]), rng.integers(x[0].size, size=shape[0])] = 0
    return x
