"""The adversarial families of floating-point leaves: standard normal numbers, made into what breaks derivatives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ._dtypes import DType, Float, finfo
from ._elements import Array

__all__ = ["FAMILIES", "MAGNITUDE", "NONFINITE", "STRUCTURED", "applicable", "draw"]

Rng: TypeAlias = np.random.Generator
Family: TypeAlias = Callable[[Rng, Array, Float], Array]


def _sign(x: Array) -> Array:
    return np.copysign(np.ones((), x.dtype), x)


def _at(rng: Rng, x: Array, *values: float, share: float = 0.0) -> Array:
    """
    Return x with one random element of each row, and a share of the others, replaced by one of the values.
    """
    out = x.reshape(len(x), -1).copy()
    hit = rng.random(out.shape) < share if share else np.zeros(out.shape, bool)
    hit[np.arange(len(x)), rng.integers(out.shape[1], size=len(x))] = True
    np.copyto(out, rng.choice(np.array(values, x.dtype), out.shape), where=hit)
    return out.reshape(x.shape)


def _first(x: Array) -> Array:
    """
    Return the first element of each row, ready to broadcast.
    """
    return np.asarray(x[(slice(None), *([slice(0, 1)] * (x.ndim - 1)))])


def _log_uniform(rng: Rng, x: Array, low: float, high: float) -> Array:
    return np.asarray(_sign(x) * 10.0 ** rng.uniform(low, high, x.shape))


def _eye(x: Array) -> Array:
    return np.eye(*x.shape[-2:], dtype=x.dtype)


def _zero_row(rng: Rng, x: Array, _: Float) -> Array:
    out = x.copy()
    flat = out.reshape(len(x), -1, x.shape[-1])
    flat[np.arange(len(x)), rng.integers(flat.shape[1], size=len(x))] = 0
    return flat.reshape(x.shape)


def _ties(rng: Rng, x: Array, _: Float) -> Array:
    values = rng.standard_normal((len(x), 2, *([1] * (x.ndim - 1))))
    return np.where(x > 0, values[:, 0], values[:, 1])


def _overflowing_sum(rng: Rng, x: Array, info: Float) -> Array:
    size = x[0].size
    scale = min(info.max / 8, max(100.0, 2 * info.max / size)) if info.max < 1e5 else 100.0
    return np.asarray(scale * rng.uniform(1, 2, x.shape))


def _per_row(x: Array, values: Array) -> Array:
    """
    Return one value for each row, ready to broadcast.
    """
    return values.reshape(-1, *([1] * (x.ndim - 1)))


ELEMENTWISE: dict[str, Family] = {
    "typical": lambda rng, x, info: x,
    "zeros": lambda rng, x, info: np.zeros_like(x),
    "negative zeros": lambda rng, x, info: np.full_like(x, -0.0),
    "ones": lambda rng, x, info: np.ones_like(x),
    "small integers": lambda rng, x, info: rng.integers(-4, 5, x.shape).astype(x.dtype),
    "half integers": lambda rng, x, info: np.asarray(rng.integers(-11, 11, x.shape) + 0.5),
    "magnitude 1e1..1e3": lambda rng, x, info: _log_uniform(rng, x, 1, 3),
    "scaled 1e1..1e3": lambda rng, x, info: x * _per_row(x, 10.0 ** rng.uniform(1, 2.5, len(x))),
    "magnitude 1e9": lambda rng, x, info: _log_uniform(rng, x, 8.5, 9.5),
    "magnitude 1e-9": lambda rng, x, info: _log_uniform(rng, x, -9.5, -8.5),
    "1e-20": lambda rng, x, info: _log_uniform(rng, x, -20.5, -19.5),
    "smallest normal": lambda rng, x, info: _sign(x) * info.tiny,
    "subnormal": lambda rng, x, info: _sign(x) * info.tiny * rng.uniform(0.01, 0.99, x.shape),
    "large": lambda rng, x, info: _sign(x) * info.max ** (rng.random(x.shape) / 4),
    "nan entries": lambda rng, x, info: _at(rng, x, np.nan, share=0.2),
    "inf entries": lambda rng, x, info: _at(rng, x, np.inf, -np.inf, share=0.2),
}
SEVERAL: dict[str, Family] = {  # leaves of at least two elements
    "zero element": lambda rng, x, info: _at(rng, x, 0.0),
    "ties": _ties,
    "far from 0": lambda rng, x, info: x + _per_row(x, rng.choice([-1, 1], len(x)) * 10.0 ** rng.uniform(1, 3, len(x))),
    "equal elements": lambda rng, x, info: np.broadcast_to(_first(x), x.shape),
}
MATRIX: dict[str, Family] = {  # leaves of rank two or more, by their last two axes
    "zero row": _zero_row,
    "equal rows": lambda rng, x, info: np.broadcast_to(x[..., :1, :], x.shape),
    "equal columns": lambda rng, x, info: np.broadcast_to(x[..., :, :1], x.shape),
    "identity": lambda rng, x, info: np.broadcast_to(_eye(x), x.shape),
    "diagonal": lambda rng, x, info: x * _eye(x),
    "rank deficient": lambda rng, x, info: x[..., :, :1] * x[..., :1, :],
    "scaled identity 1e9": lambda rng, x, info: np.broadcast_to(1e9 * _eye(x), x.shape),
    "scaled identity 1e-20": lambda rng, x, info: np.broadcast_to(1e-20 * _eye(x), x.shape),
    "scaled 1e9": lambda rng, x, info: 1e9 * x,
}
SQUARE: dict[str, Family] = {"symmetric": lambda rng, x, info: (x + x.swapaxes(-1, -2)) / 2}
NARROW: dict[str, Family] = {"overflowing sum": _overflowing_sum}  # float16 and bfloat16
_ALL = ELEMENTWISE | SEVERAL | MATRIX | SQUARE | NARROW

NONFINITE = ("nan entries", "inf entries")
# Families whose complex version has no imaginary part: with one of its own it would lose its structure.
STRUCTURED = frozenset(
    {"ones", "identity", "rank deficient", "scaled identity 1e9", "scaled identity 1e-20", "overflowing sum"}
)
# The magnitudes a family cannot do without: it is left out where the dtype or the support has none of them.
MAGNITUDE = {
    "zeros": (0.0,),
    "negative zeros": (0.0,),
    "zero element": (0.0,),
    "zero row": (0.0,),
    "ones": (1.0,),
    "magnitude 1e1..1e3": (1e3,),
    "scaled 1e1..1e3": (1e3,),
    "far from 0": (1e3,),
    "magnitude 1e9": (1e9,),
    "magnitude 1e-9": (1e-9,),
    "1e-20": (1e-20,),
    "scaled 1e9": (1e9,),
    "identity": (0.0, 1.0),
    "diagonal": (0.0,),
    "scaled identity 1e9": (0.0, 1e9),
    "scaled identity 1e-20": (0.0, 1e-20),
}
_ELSEWHERE = (
    *("lower end", "upper end", "ends", "beside ends"),
    *("corner", "tiny weights"),
    *("edges", "out of range", "negative", "all equal"),
    *("all true", "all false", "one true"),
    "mixture",
)
FAMILIES = (*_ALL, *_ELSEWHERE)


@functools.cache
def applicable(shape: tuple[int, ...], dtype: DType) -> tuple[str, ...]:
    """
    Return the families of a floating leaf of this shape, ``typical`` first.
    """
    size = int(np.prod(shape, dtype=np.int64))
    if size == 0:
        return ("typical",)
    # a long narrow leaf is sampled in few rows: what only it can show comes first
    narrow = NARROW if dtype.name in ("float16", "bfloat16") else {}
    found = {"typical": ELEMENTWISE["typical"]} | narrow | ELEMENTWISE
    if size > 1:
        found |= SEVERAL
    if len(shape) > 1:
        found |= MATRIX
        found |= SQUARE if shape[-1] == shape[-2] else {}
    info = finfo(dtype)
    return tuple(f for f in found if all(m == 0 or info.tiny <= m <= info.max for m in MAGNITUDE.get(f, ())))


def draw(family: str, rng: Rng, x: Array, info: Float) -> Array:
    """
    Return the family's numbers for standard normal rows x, along their first axis.
    """
    return _ALL[family](rng, x, info)
