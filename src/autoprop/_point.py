"""One concrete place to look: the primals, and the directions that belong to them."""

from __future__ import annotations

import functools
import hashlib
from typing import Any

import attrs
import numpy as np

__all__ = ["Point", "direction", "directions"]

KEPT = 2**14  # numbers of the directions of a batch that are small enough to be kept for the next signature


def direction(seed: int, path: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """
    Return a fixed direction for one leaf: float64 multiples of 1/16 with 0.5 <= |r| <= 1.4375.

    The numbers come from a hash of the seed and the leaf's path, so they are the same in every version of every
    library, and adding a leaf does not change those of the others. bfloat16 holds each of them exactly.

    Args:
        seed: the point's seed.
        path: the leaf's path, with a prefix that tells tangents from cotangents.
        shape: the leaf's shape.
    """
    size = int(np.prod(shape, dtype=np.int64))
    digest = hashlib.shake_256(f"{seed}:{path}".encode()).digest(max(size, 1))
    raw = np.frombuffer(digest, np.uint8)[:size]
    magnitude = (8 + (raw & 15)).astype(np.float64) / 16
    return np.where(raw & 16, -magnitude, magnitude).reshape(shape)


def directions(seeds: range, path: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """
    Return the direction of each seed, stacked on axis 0; read-only.
    """
    few = len(seeds) * int(np.prod(shape, dtype=np.int64)) <= KEPT
    return _kept(seeds, path, shape) if few else np.stack([direction(seed, path, shape) for seed in seeds])


@functools.lru_cache(maxsize=512)
def _kept(seeds: range, path: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    stacked = np.stack([direction(seed, path, shape) for seed in seeds])
    stacked.flags.writeable = False
    return stacked


@attrs.frozen(eq=False)
class Point:
    """
    One concrete place to look.

    Tangents and cotangents follow from the seed and the paths of the leaves (see `direction`), so a point is stored,
    printed and shrunk as its primals and one integer.

    Attributes:
        primals: the tuple of arguments; leaves are arrays, PRNG keys, Python scalars or static values.
        seed: the seed of the tangents and cotangents.
        family: the adversarial family the primals came from, such as ``zeros``; empty where it is not known.
    """

    primals: tuple[Any, ...]
    seed: int = 0
    family: str = ""

    def replace(self, **changes: Any) -> Point:
        """
        Return a copy with some attributes changed.
        """
        return attrs.evolve(self, **changes)
