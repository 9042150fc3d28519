"""Many points of one signature as the screen sees them: what laws share of their values and derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .._dtypes import double, eps, finfo
from .._pairing import paired_rows
from .._point import directions
from .._subject import Subject
from ..oracles.batched import Points, ahead, derivatives_of_rows, lines_of_rows
from ..oracles.gradient import gradient_of
from ..oracles.integral import NODES, Line, line_integral

__all__ = ["Rows"]


class Rows:
    """
    Points of one signature, NumPy arrays with the points on axis 0. What no law asks for is never computed.

    Attributes:
        subject: the target at that signature.
        points: the points and their directions.
    """

    def __init__(self, subject: Subject, points: Points) -> None:
        self.subject, self.points = subject, points

    def __len__(self) -> int:
        return len((*self.tangents, *self.cotangents)[0])

    def of(self, subject: Subject) -> Rows:
        """
        Return the same points and directions for another function of the same arguments and outputs.
        """
        return Rows(subject, self.points)

    def ahead(self, *, lines: bool) -> None:
        """
        Begin to compile what the rows will ask for, with ``lines`` what `line` asks for too.
        """
        ahead(self.subject, self.points, np.zeros((len(self), 2 * len(NODES))) if lines else None)

    @property
    def moved(self) -> Sequence[Any]:
        """
        The moved leaves.
        """
        return self.points.moved

    @property
    def tangents(self) -> Sequence[Any]:
        """
        A relative direction for the moved leaves.
        """
        return self.points.tangents

    @property
    def cotangents(self) -> Sequence[Any]:
        """
        Cotangents of the inexact outputs.
        """
        return self.points.cotangents

    @cached_property
    def _derivatives(self) -> tuple[list[Any], list[Any] | None, list[Any] | None]:
        return derivatives_of_rows(self.subject, self.points)

    @property
    def value(self) -> list[Any]:
        """
        The inexact outputs.
        """
        return self._derivatives[0]

    @property
    def forward(self) -> list[Any] | None:
        """
        J·v by forward mode, or None where there is none.
        """
        return self._derivatives[1]

    @property
    def reverse(self) -> list[Any] | None:
        """
        Jᵀ·u by reverse mode, or None where there is none.
        """
        return self._derivatives[2]

    @property
    def has_derivative(self) -> bool:
        """
        Whether forward or reverse mode is there.
        """
        return self.forward is not None or self.reverse is not None

    def all_finite(self, leaves: Sequence[Any]) -> Any:
        """
        Say for each point whether all its numbers in these leaves are finite.
        """
        good = np.ones(len(self), bool)
        for leaf in leaves:
            good &= np.isfinite(double(leaf)).reshape(len(self), -1).all(1)
        return good

    @cached_property
    def is_finite(self) -> Any:
        """
        Whether every output is finite.
        """
        return self.all_finite(self.value)

    def pair(self, cotangents: Sequence[Any], values: Sequence[Any]) -> tuple[Any, Any]:
        """
        Return Σ Re(u·y) and Σ|u·y| of each point, in float64.
        """
        return paired_rows(cotangents, values, len(self))

    @cached_property
    def unit(self) -> float:
        """
        The machine epsilon of the widest rounding among the moved leaves and the outputs.
        """
        return max(eps(leaf) for leaf in [*self.moved, *self.value])

    @cached_property
    def magnitude(self) -> Any:
        """
        Σ|u·f|, the size against which φ(t) = ⟨u, f(x + t·v)⟩ rounds.
        """
        return self.pair(self.cotangents, self.value)[1]

    @cached_property
    def sensitivity(self) -> Any:
        """
        Σ|Jᵀu·x| (or a bound from the tangents' side), the size against which rounding of the arguments moves φ.
        """
        if self.reverse is not None:
            leaves = zip(self.moved, self.tangents, strict=True)
            return self.pair(self.reverse, [np.broadcast_to(x, v.shape) for x, v in leaves])[1]
        assert self.forward is not None
        return self.pair(self.cotangents, self.forward)[1]

    @cached_property
    def underflow(self) -> Any:
        """
        What φ may change by where numbers below the smallest normal one become 0: arguments, outputs and terms.
        """
        tiny = max(float(finfo(leaf.dtype).tiny) for leaf in [*self.moved, *self.value])
        total = np.ones(len(self))
        for leaf in [*self.cotangents, *(self.reverse or [])]:
            with np.errstate(all="ignore"):
                total = total + np.abs(double(leaf)).reshape(len(self), -1).sum(1)
        return 4 * tiny * np.where(np.isfinite(total), total, 1)

    @cached_property
    def slope(self) -> Any:
        """
        ⟨u, J·v⟩ of each point, by forward mode where it is there.
        """
        if self.forward is not None:
            return self.pair(self.cotangents, self.forward)[0]
        assert self.reverse is not None
        return self.pair(self.reverse, self.tangents)[0]

    @cached_property
    def line(self) -> Line:
        """
        The change of φ along the directions against the integral of its derivative.
        """
        value = self.pair(self.cotangents, self.value)[0]
        return line_integral(
            self._along, value, self.slope, self.magnitude, self.sensitivity, self.unit, self.underflow
        )

    def _along(self, rows: Any, steps: Any) -> tuple[Any, Any]:
        """
        Return φ and φ' of some points, a batch of this length at a time, so that there is one program.
        """
        values, slopes = np.empty(steps.shape), np.empty(steps.shape)
        for start in range(0, len(rows), len(self)):
            part = np.minimum(np.arange(start, start + len(self)), len(rows) - 1)
            chosen, kept = rows[part], min(start + len(self), len(rows)) - start
            whole = np.array_equal(chosen, np.arange(len(self)))
            points = self.points if whole else self.points.take(chosen)
            found = lines_of_rows(self.subject, points, steps[part])
            values[start : start + kept], slopes[start : start + kept] = found[0][:kept], found[1][:kept]
        return values, slopes

    @cached_property
    def second(self) -> Rows:
        """
        The same points of the gradient: its derivatives are the second ones. The cotangents scale with the data, as
        tangents do.
        """
        other = []
        for path, x, v in zip(self.subject.moved_paths, self.moved, self.tangents, strict=True):
            r, size = directions(range(1), f"second:{path}", v.shape[1:]), np.abs(double(x))
            found = r * np.where(np.isfinite(size), np.where(size > 0, size, 1), 0)
            other.append(np.broadcast_to(found, v.shape).astype(v.dtype))
        return Rows(gradient_of(self.subject), self.points._replace(cotangents=other))

    @cached_property
    def swapped(self) -> Rows:
        """
        The same points with tangents and cotangents exchanged, for a function whose outputs are like its arguments.
        """
        return Rows(self.subject, self.points._replace(tangents=self.cotangents, cotangents=self.tangents))
