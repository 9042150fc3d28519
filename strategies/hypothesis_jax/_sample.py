"""The vectorised sampler: many rows of one signature at once, from the adversarial families."""

from __future__ import annotations

import functools
from typing import Any

import attrs
import jax
import numpy as np
from hypothesis.errors import InvalidArgument

from ._elements import Array
from ._families import FAMILIES, NONFINITE
from ._layout import layout
from ._signature import Signature

__all__ = ["Sample", "rows", "sample"]

_NUMBER = {name: number for number, name in enumerate(FAMILIES)}
PLAIN = ("typical", "example")


@attrs.frozen(eq=False)
class Sample:
    """
    Rows of one signature.

    Attributes:
        tree: the tree; leaves that vary have the rows along a new axis 0, and are NumPy arrays or arrays of keys.
        axes: for each leaf, in the order of ``jax.tree.leaves(tree)``, 0 where it has rows, otherwise None.
        families: the adversarial family of each row.
    """

    tree: Any
    axes: list[int | None]
    families: tuple[str, ...]


def _number(family: str) -> int:
    """
    Return the family's number; a Support may bring families of its own.
    """
    return _NUMBER.setdefault(family, len(_NUMBER))


@functools.lru_cache(maxsize=256)
def _systematic(families: tuple[tuple[str, ...], ...]) -> tuple[Array, tuple[str, ...]]:
    """
    Return the planned rows: the example, each family on all leaves that have it, then on one leaf after the other while
    the others stay typical, or at the example where there is one.
    """
    names = [name for name in dict.fromkeys(f for leaf in families for f in leaf) if name not in PLAIN]
    plain = [[_number("typical")] * len(families)]
    if any("example" in leaf for leaf in families):
        plain.append([_number("example" if "example" in leaf else "typical") for leaf in families])
    plan: list[list[int]] = [*plain[1:]]
    tags: list[str] = ["example"] * len(plan)
    for name in names:
        plan.append([_number(name) if name in leaf else rest for leaf, rest in zip(families, plain[-1], strict=True)])
        tags.append(name)
    for place, leaf in enumerate(families if len(families) > 1 else ()):
        for name in leaf:
            if name not in PLAIN and (len(plain) > 1 or sum(name in other for other in families) > 1):
                rest = plain[-1]
                plan.append([_number(name) if i == place else rest[i] for i in range(len(families))])
                tags.append(name)
    return np.array(plan, int).reshape(len(plan), len(families)), tuple(tags)


def _mixtures(rng: np.random.Generator, families: tuple[tuple[str, ...], ...], n: int) -> tuple[Array, list[str]]:
    """
    Return n random rows: each leaf is typical, or of any of its finite families.
    """
    codes = np.full((n, len(families)), _number("typical"))
    beside = rng.random(n) < 0.5  # rows that stay at the example where they are not odd
    for place, leaf in enumerate(families):
        finite = np.array([_number(name) for name in leaf if name not in NONFINITE and name != "example"])
        pick = finite[rng.integers(len(finite), size=n)]
        if "example" in leaf:
            codes[:, place] = np.where(beside, _number("example"), codes[:, place])
        codes[:, place] = np.where(rng.random(n) < (0.5 if len(families) > 1 else 0.8), pick, codes[:, place])
    names = list(_NUMBER)
    plain = {_number(name) for name in PLAIN}
    tags = []
    for row in codes.tolist():
        odd = {code for code in row if code not in plain}
        tags.append("typical" if not odd else names[odd.pop()] if len(odd) == 1 else "mixture")
    return codes, tags


def _plan(
    rng: np.random.Generator, families: tuple[tuple[str, ...], ...], n: int, seed: int
) -> tuple[Array, tuple[str, ...]]:
    """
    Return the family of each leaf in each row, and the name of each row.
    """
    planned, tags = _systematic(families)
    first = np.full((1, len(families)), _number("typical"))
    room = n - 1
    if room < len(tags):  # another seed goes on where this one stops
        turn = (seed * room + np.arange(room)) % len(tags)
        return np.concatenate([first, planned[turn]]), ("typical", *(tags[i] for i in turn.tolist()))
    mixed, more = _mixtures(rng, families, room - len(tags))
    return np.concatenate([first, planned, mixed]), ("typical", *tags, *more)


def _groups(codes: Array) -> list[tuple[str, Array]]:
    """
    Return for each family the rows that have it.
    """
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    names = list(_NUMBER)
    return [
        (names[ordered[start]], order[start:stop])
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True)
    ]


def sample(spec: Any, n: int, *, seed: int, signature: Signature) -> Sample:
    """
    Return n rows of the spec at one signature; the same arguments give the same rows.

    Row 0 is typical. Then each adversarial family appears on all leaves at once, then on one leaf after the other, then
    random mixtures follow. If n is too small for that, other seeds go on with the families that are still missing.

    Args:
        spec: a spec. A leaf that is a strategy is drawn once.
        n: the number of rows.
        seed: a number that is not negative.
        signature: one of ``signatures(spec)``.

    Raises:
        InvalidArgument: n or the seed cannot be, or the signature is not of this spec.
    """
    if n < 1:
        raise InvalidArgument(f"n={n} must be at least 1")
    if seed < 0:
        raise InvalidArgument(f"seed={seed} must not be negative")
    plan = layout(spec)
    parts = plan.parts(signature)
    if not all(part.possible for part in parts):
        raise InvalidArgument(f"signature={signature} gives a leaf a shape that its support does not have")
    rng = np.random.default_rng(seed)
    varied = [part for part in parts if part.stacked]
    codes, tags = _plan(rng, tuple(part.families() for part in varied), n, seed)
    leaves: list[Any] = []
    axes: list[int | None] = []
    place = 0
    for part in parts:
        groups: list[tuple[str, Array]] = []
        if part.stacked:
            groups = _groups(codes[:, place])
            place += 1
        leaf = part.batch(part.rows(rng, groups, n))
        leaves.append(leaf)
        axes += [0] if part.stacked else [None] * len(jax.tree.leaves(leaf))
    return Sample(plan.treedef.unflatten(leaves), axes, tags)


def rows(spec: Any, n: int, *, seed: int, signature: Signature) -> Any:
    """
    Return the tree of `sample` with JAX arrays: n rows, stacked along a new axis 0.
    """
    found = sample(spec, n, seed=seed, signature=signature)
    leaves, treedef = jax.tree.flatten(found.tree)
    put = [leaf if axis is None else jax.device_put(leaf) for leaf, axis in zip(leaves, found.axes, strict=True)]
    return jax.tree.unflatten(treedef, put)
