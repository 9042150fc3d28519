"""Many points of a signature at once, for all laws that can be batched."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import attrs
import jax
import numpy as np

import hypothesis_jax as hj

from .._equations import elements
from .._jaxprs import handles_non_finite
from .._pairing import cotangents_of_rows, tangents_of_rows
from .._point import Point
from .._subject import HELD, MOVED, STATIC
from .._trees import is_inexact
from ..oracles.batched import Points
from ..oracles.bounded import is_open_ended
from ..properties import Property, Rows
from .signatures import Slot, row, taken

__all__ = ["Batch", "Scored", "Screen", "draw"]

MEMORY = 2**29  # bytes that one program's batch may take, by a rough count of what it computes
NODES = 8 * 2  # evaluations of the function and its tangent that a row costs at once
ROWS, MORE, FEW = 256, 1024, 64  # rows of one program, and of one whose signature has few numbers
SEEDS = 256  # a batch begins at one of sixteen seeds, so that directions are drawn once for many batches
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
    seeds: range
    finite: Any
    usable: Any

    def __len__(self) -> int:
        return len(self.seeds)

    def point(self, i: int) -> Point:
        """
        Return one point, alone.
        """
        return Point(row(self.sample, i), self.seeds[i], self.sample.families[i])

    def first(self, n: int) -> Batch:
        """
        Return the batch of the first n points.
        """
        if n == len(self):
            return self
        sample = attrs.evolve(_taken(self.sample, slice(n)), families=self.sample.families[:n])
        return Batch(self.slot, sample, self.seeds[:n], self.finite[:n], self.usable[:n])


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
        sample = _taken(sample, np.where(usable, np.arange(n), 0))
    first = seed % 16 * SEEDS
    return Batch(slot, sample, range(first, first + n), finite, usable)


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
        scores: law to its scores, of shape (points, scores of the law).
        remarks: law to the scores of its remarks, where there can be some.
    """

    finite: Any
    scores: dict[str, Any]
    remarks: dict[str, Any]


class Screen:
    """
    Screens batches of one signature.

    Attributes:
        laws: the laws it screens for.
        remarks: whether it scores their remarks too.
        order: the order of the derivatives that they are about.
        error: why it cannot (the function cannot be batched), or None.
    """

    def __init__(self, slot: Slot, laws: Sequence[Property], *, remarks: bool = True) -> None:
        self.slot, self.laws, self.remarks = slot, [law for law in laws if law.screen is not None], remarks
        self.order = max((law.order for law in self.laws), default=1)
        self.error: str | None = None
        self._length = 0

    @functools.cached_property
    def most(self) -> int:
        """
        How many rows one program may take.
        """
        subject = self.slot.subject
        shapes = [leaf.shape for leaf in subject.leaves if hasattr(leaf, "shape")]
        own = sum(int(np.prod(shape)) for shape in shapes)
        computed = own + (elements(subject.traced) if subject.is_traceable else own)
        most = MORE if own <= FEW else ROWS
        if is_open_ended(subject):  # one endless loop keeps its whole chunk waiting
            most = 4
        return int(np.clip(MEMORY // (max(computed, 1) * NODES * 8), 1, most))

    def chunk(self, n: int) -> int:
        """
        Return how many rows of a batch of n go into one program: as before, if that is not wasteful.
        """
        wanted = min(self.most, ROWS if n < 4 * ROWS else MORE, 1 << max(n - 1, 7).bit_length())
        self._length = max(self._length, wanted)
        return self._length

    def scores(self, batch: Batch, deadline: float = np.inf) -> Scored | None:
        """
        Return what is said of each point, or of the first ones where there is no time for all; None where the function
        cannot be screened (see ``error``). Takes the batch a chunk at a time.

        Args:
            batch: points of the signature.
            deadline: the value of `time.perf_counter` after which no chunk is begun, except the first.
        """
        if not self.laws or self.error is not None:
            return None
        chunk, count = self.chunk(len(batch)), len(batch)
        found: list[Scored] = []
        began = time.perf_counter()
        for start in range(0, count, chunk):
            stop = min(start + chunk, count)
            try:
                scored = self._scored(self._rows(batch, start, start + chunk))
            except Exception as error:  # noqa: BLE001  the function under test may not be batchable
                self.error = f"{self.slot.subject.target.name} cannot be batched: {type(error).__name__}"
                return None
            found.append(jax.tree.map(lambda x, kept=stop - start: x[:kept], scored))
            now = time.perf_counter()
            if start == 0:
                began = now  # compilation is not counted
            if now > deadline or now - began > BATCH_SECONDS:  # a slow function gets fewer points
                break
        joined: Scored = jax.tree.map(lambda *parts: np.concatenate(parts), *found)
        return joined

    def ahead(self, batch: Batch) -> None:
        """
        Begin to compile what `scores` runs, while other work goes on.
        """
        if self.laws and self.error is None:
            rows = self._rows(batch, 0, self.chunk(len(batch)))
            (rows if self.order == 1 else rows.second).ahead(lines=any(law.numeric for law in self.laws))

    def _scored(self, rows: Rows) -> Scored:
        scores, remarks = {}, {}
        for law in self.laws:
            if law.screen is not None:
                score = np.asarray(law.screen(rows), np.float64)
                scores[law.name] = score.reshape(len(rows), -1) if score.ndim else np.full((len(rows), 1), score)
            if law.remarks is not None and self.remarks:
                remark = law.remarks(rows)
                if remark is not None:
                    remarks[law.name] = remark
        return Scored(rows.is_finite, scores, remarks)

    def _rows(self, batch: Batch, start: int, stop: int) -> Rows:
        """
        Return the rows of a chunk; the last row again and again where the batch has no more.
        """
        subject = self.slot.subject
        part = np.minimum(np.arange(start, stop), len(batch) - 1)
        leaves = jax.tree.leaves(batch.sample.tree)
        groups: dict[str, list[Any]] = {MOVED: [], HELD: []}
        axes: dict[str, list[int | None]] = {MOVED: [], HELD: []}
        for leaf, axis, kind in zip(leaves, batch.sample.axes, subject.kinds, strict=True):
            if kind != STATIC:
                groups[kind].append(leaf if axis is None else taken(leaf, part))
                axes[kind].append(axis)
        moved = [np.asarray(leaf) for leaf in groups[MOVED]]
        seeds = batch.seeds[start:stop]
        own = [leaf[: len(seeds)] if a == 0 else leaf[None] for leaf, a in zip(moved, axes[MOVED], strict=True)]
        v = [leaf[part - start] for leaf in tangents_of_rows(subject, own, seeds)]
        u = [leaf[part - start] for leaf in cotangents_of_rows(subject, seeds)]
        if len(moved) > 1:  # every other row probes one leaf alone, so that a small leaf is seen beside a large one
            rows = np.arange(len(part))
            for j, leaf in enumerate(v):
                leaf[(rows % 2 == 1) & ((start + rows) // 2 % len(moved) != j)] = 0
        return Rows(subject, Points((tuple(axes[MOVED]), tuple(axes[HELD])), moved, groups[HELD], v, u))


def _taken(sample: hj.Sample, rows: Any) -> hj.Sample:
    """
    Return a sample with some of its rows; its families are left as they are.
    """
    leaves, treedef = jax.tree.flatten(sample.tree)
    own = [leaf if axis is None else taken(leaf, rows) for leaf, axis in zip(leaves, sample.axes, strict=True)]
    return attrs.evolve(sample, tree=jax.tree.unflatten(treedef, own))
