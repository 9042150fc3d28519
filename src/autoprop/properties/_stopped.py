"""What a stop hides: a derivative that would not be finite if nothing were stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._dtypes import double
from .._origin import stop_gradient_lines
from .._point import Point
from .._source import assignments
from .._subject import Subject
from .._verdict import Mismatch, Verdict, Violated
from ..oracles.unstopped import without_stops
from ._rows import Rows

__all__ = ["hidden", "may_hide"]

SOURCE = 160  # characters of a point's source that a remark shows

REMEDY = "compute it from a safe operand, jnp.where(ok, f(jnp.where(ok, x, 1)), 0), instead of hiding it"


def hidden(judge: Callable[[Subject, Point], Verdict], subject: Subject, point: Point) -> str:
    """
    Return what the function's stops hide at a point where its derivative is finite, in one line; empty for nothing.

    Args:
        judge: the law that derivatives are finite, asked of the function with nothing stopped.
        subject: the target.
        point: where value and derivative are finite.
    """
    free = without_stops(subject)
    verdict = judge(free, point) if free is not None else None
    return _text(verdict.worst, subject, point) if isinstance(verdict, Violated) else ""


def _text(mismatch: Mismatch, subject: Subject, point: Point) -> str:
    lines = stop_gradient_lines(subject.target.fn, point.primals)
    where = mismatch.leaf + (f"[{', '.join(map(str, mismatch.index))}]" if mismatch.index else "")
    (mode, gradient), (other, expected) = mismatch.routes[:2]
    source = "; ".join(assignments(subject.argnames, point.primals))
    if len(source) > SOURCE or "\n" in source:
        source = f"values from the family {point.family!r}, seed {point.seed}" if point.family else "these arguments"
    stops = f" ({', '.join(lines)})" if lines else ""
    return (
        f"stop_gradient{stops} hides a derivative that is not finite: with nothing stopped, the {mode} derivative of "
        f"{where} is {gradient} ({other} {expected}) at {source}; {REMEDY}"
    )


def may_hide(rows: Rows) -> Any:
    """
    Score points for the screen: 2 where the derivative with nothing stopped has a NaN and the value is finite, 1 where
    it is infinite, else 0; None if the function stops nothing.
    """
    free = without_stops(rows.subject)
    if free is None:
        return None
    opened = rows.of(free)
    derivatives = opened.reverse or opened.forward or []
    has_nan = np.zeros(len(rows), bool)
    for leaf in derivatives:
        has_nan |= np.isnan(double(leaf)).reshape(len(rows), -1).any(1)
    bad = rows.is_finite & ~rows.all_finite(derivatives)
    return np.where(bad, np.where(has_nan, 2.0, 1.0), 0.0)
