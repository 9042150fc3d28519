"""One compiled program that screens many points of a signature for all laws that can be batched."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import attrs
import jax
import jax.numpy as jnp
import numpy as np

import hypothesis_jax as hj

from .._compile import FAST_COMPILE
from .._jaxprs import handles_non_finite
from .._pairing import cotangents, tangents
from .._point import Point
from .._subject import MOVED, STATIC
from .._trees import is_inexact
from ..oracles.bounded import bounded, is_open_ended
from ..properties import Property, Row
from .signatures import Slot, row

__all__ = ["Batch", "Scored", "Screen", "draw"]

MEMORY = 2**29  # bytes that one program's batch may take, by a rough count of its intermediate values
NODES = 136  # evaluations of the function that a row costs: 8 steps of 15 nodes, their ends, and the point itself
BATCH_SECONDS = 2.0  # wall time that one batch may run; the points after that are left out


@attrs.frozen(eq=False)
class Batch:
    """
    Points of one signature.

    Attributes:
        slot: the signature.
        sample: the primals, stacked.
        seeds: seed of each point.
        finite: whether each point's primals are finite.
        usable: whether each point is meant: NaN and infinities stand only in leaves that the function tests for them.
    """

    slot: Slot
    sample: hj.Sample
    seeds: Sequence[int]
    finite: Any
    usable: Any

    def __len__(self) -> int:
        return len(self.seeds)

    def point(self, i: int) -> Point:
        """
        Return one point, alone.
        """
        return Point(row(self.sample, i), self.seeds[i], self.sample.families[i])


def draw(slot: Slot, n: int, seed: int) -> Batch:
    """
    Draw n points of a signature.
    """
    sample = hj.sample(slot.spec, n, seed=seed, signature=slot.signature)
    leaves = jax.tree.leaves(sample.tree)
    tested = iter(_tested(slot))
    finite, usable = np.ones(n, bool), np.ones(n, bool)
    for leaf, axis, kind in zip(leaves, sample.axes, slot.subject.kinds, strict=True):
        handled = kind != STATIC and next(tested)
        if axis is None or not is_inexact(leaf):
            continue
        good = np.isfinite(np.asarray(leaf).astype(np.complex128)).reshape(n, -1).all(1)
        finite &= good
        if not handled:
            usable &= good
    if not usable.all():  # rows that are not meant are not run either: some kernels complain of NaN
        take = np.where(usable, np.arange(n), 0)
        leaves = [leaf if axis is None else leaf[take] for leaf, axis in zip(leaves, sample.axes, strict=True)]
        sample = attrs.evolve(sample, tree=jax.tree.unflatten(jax.tree.structure(sample.tree), leaves))
    return Batch(slot, sample, range(seed, seed + n), finite, usable)


def _tested(slot: Slot) -> list[bool]:
    """
    Say for each leaf that is not static whether the function looks for NaN or infinity in it.
    """
    subject = slot.subject
    if "tested" not in subject.memo:
        moved, held = subject.split(jax.tree.unflatten(subject.treedef, subject.leaves))
        flags = [False] * (len(moved) + len(held))  # what cannot be traced is not screened either
        if subject.is_traceable:
            flags = handles_non_finite(subject.traced)
        parts = {True: iter(flags[: len(moved)]), False: iter(flags[len(moved) :])}
        subject.memo["tested"] = [next(parts[kind == MOVED]) for kind in subject.kinds if kind != STATIC]
    found: list[bool] = subject.memo["tested"]
    return found


class Scored(NamedTuple):
    """
    What the screen says of a batch, an array with one row per point each.

    Attributes:
        finite: whether each point's value is finite.
        scores: law to its scores.
        remarks: law to the scores of its remarks, where there can be some.
    """

    finite: Any
    scores: dict[str, Any]
    remarks: dict[str, Any]


class Screen:
    """
    The screening program of one signature.

    Attributes:
        laws: the laws it screens for.
        error: why there is no program (the function cannot be batched), or None.
    """

    def __init__(self, slot: Slot, laws: Sequence[Property]) -> None:
        self.slot, self.laws = slot, [law for law in laws if law.screen is not None]
        self.error: str | None = None
        self.programs: dict[int, Any] = {}
        self.chunk = self._chunk()

    def _chunk(self) -> int:
        shapes = [leaf for leaf in self.slot.subject.leaves if hasattr(leaf, "shape")]
        shapes += jax.tree.leaves(self.slot.subject.outputs)
        elements = sum(int(np.prod(leaf.shape)) for leaf in shapes)
        most = 4 if is_open_ended(self.slot.subject) else 64  # one endless loop keeps its whole chunk waiting
        return int(np.clip(MEMORY // (max(elements, 1) * NODES * 16), 1, most))

    def _row(self, moved: Any, held: Any, v: Any, u: Any) -> Scored:
        row = Row(self.slot.subject, moved, held, v, u)
        scores = {law.name: jnp.ravel(law.screen(row)) for law in self.laws if law.screen is not None}
        remarks = {law.name: law.remarks(row) for law in self.laws if law.remarks is not None}
        return Scored(row.is_finite, scores, {name: score for name, score in remarks.items() if score is not None})

    def scores(self, batch: Batch) -> Scored | None:
        """
        Return what the program says of each point; None where the function cannot be screened (see ``error``). Takes
        the whole batch, a chunk at a time.
        """
        if not self.laws or self.error is not None:
            return None
        subject = self.slot.subject
        arguments, axes = self._arguments(batch)
        found: list[Any] = []
        ran = 0.0
        for start in range(0, len(batch), self.chunk):
            take = np.minimum(np.arange(start, start + self.chunk), len(batch) - 1)
            part = [
                [leaf if a is None else leaf[take] for leaf, a in zip(g, ax, strict=True)]
                for g, ax in zip(arguments, axes, strict=True)
            ]
            if self.chunk not in self.programs:
                try:
                    batched = bounded(subject, jax.vmap(self._row, in_axes=axes))
                    mapped = jax.jit(batched, compiler_options=FAST_COMPILE)
                    self.programs[self.chunk] = mapped.lower(*part).compile()
                except Exception as error:  # noqa: BLE001  the function under test may not be batchable
                    self.error = f"{subject.target.name} cannot be batched: {type(error).__name__}"
                    return None
            started = time.perf_counter()
            value = jax.device_get(self.programs[self.chunk](*part))
            ran += time.perf_counter() - started
            done = min(start + self.chunk, len(batch))
            found.append(jax.tree.map(lambda x, kept=done - start: np.asarray(x)[:kept], value))
            if done < len(batch) and ran > BATCH_SECONDS:  # a slow function gets fewer points
                batch.usable[done:] = False
                rest = len(batch) - done
                found.append(jax.tree.map(lambda x, rest=rest: np.zeros((rest, *x.shape[1:]), x.dtype), value))
                break
        return self._joined(found)

    @staticmethod
    def _joined(found: list[Scored]) -> Scored:
        joined: Scored = jax.tree.map(lambda *parts: np.concatenate(parts), *found)
        return joined

    def _arguments(self, batch: Batch) -> tuple[list[Any], list[Any]]:
        subject = self.slot.subject
        leaves = jax.tree.leaves(batch.sample.tree)
        moved: list[Any] = []
        held: list[Any] = []
        moved_axes: list[int | None] = []
        held_axes: list[int | None] = []
        for leaf, axis, kind in zip(leaves, batch.sample.axes, subject.kinds, strict=True):
            if kind == STATIC:
                continue
            (moved if kind == MOVED else held).append(leaf)
            (moved_axes if kind == MOVED else held_axes).append(axis)
        host = [np.asarray(leaf) for leaf in moved]
        rows = [[x if a is None else x[i] for x, a in zip(host, moved_axes, strict=True)] for i in range(len(batch))]
        v = [tangents(subject, leaves, seed) for leaves, seed in zip(rows, batch.seeds, strict=True)]
        if len(moved) > 1:  # every other row probes one leaf alone, so that a small leaf is seen beside a large one
            for i, tangent in enumerate(v):
                only = (i // 2) % len(moved)
                if i % 2:
                    v[i] = [t if j == only else np.zeros_like(t) for j, t in enumerate(tangent)]
        u = [cotangents(subject, seed) for seed in batch.seeds]
        stacked_v = [np.stack(column) for column in zip(*v, strict=True)]
        stacked_u = [np.stack(column) for column in zip(*u, strict=True)]
        return [moved, held, stacked_v, stacked_u], [moved_axes, held_axes, [0] * len(stacked_v), [0] * len(stacked_u)]
