"""Shape steps for shrinking: the same tree with fewer slices along one named dim."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._dims import Size, axes
from ._layout import Layout, layout
from ._parts import ArrayPart, Part
from ._pool import volume
from ._signature import Signature

__all__ = ["smaller"]

MOST = 16


def _zero_first(parts: list[Part], leaves: list[Any], name: str, sizes: dict[str, Size], size: int) -> list[int]:
    """
    Return the slices of a dim, those that are zero in every leaf first.
    """
    used = np.zeros(size, np.bool_)
    for part, leaf in zip(parts, leaves, strict=True):
        for axis in axes(part.dims, name, sizes) if isinstance(part, ArrayPart) else ():
            used |= np.moveaxis(np.asarray(leaf) != 0, axis, 0).reshape(size, -1).any(1)
    return np.argsort(used, kind="stable").tolist()


def _steps(order: list[int], size: int, most: int) -> list[list[int]]:
    """
    Return which slices to keep: one, half, all but one; at most so many ways.
    """
    keep = list(range(size))
    single = [[order[-1]], [0], [1], [size - 1]]
    halves = [keep[: size // 2], keep[size - size // 2 :]]
    drops = [[i for i in keep if i != out] for out in order[:4]]
    counts = [3, 2, 4] if most >= 9 else [1 + (most > 3), 1, most - 2 - (most > 3)]
    found: list[list[int]] = []
    for ways, count in zip((single, halves, drops), counts, strict=True):
        fresh = [way for way in ways if way and way not in found]
        found += [way for i, way in enumerate(fresh) if way not in fresh[:i]][:count]
    return found


def smaller(spec: Any, signature: Signature, tree: Any) -> Iterator[tuple[Signature, Any]]:
    """
    Yield trees with fewer slices along one named dim, and their signatures, the smallest first.

    Every leaf that has the dim is cut, labels are clipped below a dim that became smaller, and what no longer belongs
    to its support (such as weights whose sum was one) is projected into it. At most 16 are yielded.

    Args:
        spec: a spec.
        signature: the signature of the tree.
        tree: a concrete tree of the spec.
    """
    plan = layout(spec)
    parts = plan.parts(signature)
    leaves = plan.treedef.flatten_up_to(tree)
    sizes = dict(signature.sizes)
    jobs: list[tuple[int, Signature, str, Any]] = []
    useful = [name for name, size in sizes.items() if (len(size) if isinstance(size, tuple) else size > 1)]
    for name in useful:
        size = sizes[name]
        ways: list[tuple[Size, Any]]
        if isinstance(size, tuple):
            corners = [(0,) * len(size), tuple(n - 1 for n in size)]
            ways = [((), corner) for corner in dict.fromkeys(corners) if math.prod(size)]
        else:
            order = _zero_first(parts, leaves, name, sizes, size)
            ways = [(len(keep), keep) for keep in _steps(order, size, max(3, MOST // len(useful)))]
        for less, take in ways:
            changed = Signature(tuple(sorted({**sizes, name: less}.items())), signature.dtypes, signature.statics)
            if plan.fits(changed):
                jobs.append((volume(plan, changed), changed, name, take))
    for _, changed, name, take in sorted(jobs, key=lambda job: job[0])[:MOST]:
        yield changed, _cut(plan, parts, leaves, sizes, changed, name, take)


def _cut(
    plan: Layout,
    parts: list[Part],
    leaves: list[Any],
    sizes: dict[str, Size],
    changed: Signature,
    name: str,
    take: Any,
) -> Any:
    after = plan.parts(changed)
    cut = [
        new.admit(old.cut(leaf, name, sizes, take) if axes(old.dims, name, sizes) else leaf)
        for old, new, leaf in zip(parts, after, leaves, strict=True)
    ]
    return plan.treedef.unflatten(cut)
