"""The report of a finding that a person reads."""

from __future__ import annotations

import math
from pathlib import PurePath
from textwrap import wrap
from typing import TYPE_CHECKING

from ._defaults import CORPUS
from ._source import assignments

if TYPE_CHECKING:
    from ._finding import Finding
    from ._verdict import Mismatch

__all__ = ["render", "replay_command", "summary"]

ROWS = 10
WIDTH = 76


def _place(mismatch: Mismatch) -> str:
    return mismatch.leaf + (f"[{', '.join(map(str, mismatch.index))}]" if mismatch.index else "")


def _distance(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else str(value)


def _difference(mismatch: Mismatch) -> list[str]:
    """
    Say how far the routes are apart, what would have been accepted, and where that comes from.
    """
    parts = []
    if mismatch.difference is not None:
        parts.append(f"difference {_distance(mismatch.difference)}")
    if mismatch.bound is not None:
        parts.append(f"allowed {_distance(mismatch.bound)}")
    if not parts:
        return wrap(mismatch.origin, WIDTH)
    text = ", ".join(parts)
    together = f"{text} ({mismatch.origin})"
    if len(together) <= WIDTH:
        return [together if mismatch.origin else text]
    return [text, *(f"  {line}" for line in wrap(f"({mismatch.origin})", WIDTH))]


def _routes(mismatch: Mismatch) -> list[str]:
    width = max((len(name) for name, _ in mismatch.routes), default=0)
    return [f"{name:<{width}}  {value}" for name, value in mismatch.routes]


def _others(mismatches: tuple[Mismatch, ...]) -> list[str]:
    """
    Tell how much else disagrees: the share of the worst leaf, then a table of the other leaves.
    """
    worst, others = mismatches[0], mismatches[1:]
    lines = []
    if worst.count > 1:
        lines.append(
            f"{worst.count} of {worst.total} elements of {worst.leaf} disagree ({worst.count / worst.total:.0%})"
        )
    if others:
        lines.append(f"{len(others)} more {'mismatches' if len(others) > 1 else 'mismatch'}:")
        rows = [
            (
                _place(mismatch),
                f"{mismatch.count} of {mismatch.total}",
                "  ".join(f"{name} {value}" for name, value in mismatch.routes),
            )
            for mismatch in others[:ROWS]
        ]
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        lines += [f"  {place:<{widths[0]}}  {share:<{widths[1]}}  {routes}" for place, share, routes in rows]
        if len(others) > ROWS:
            lines.append(f"  … and {len(others) - ROWS} more")
    return lines


def _point(finding: Finding) -> list[str]:
    lines = ["at"]
    if finding.environment.x64:
        lines.append('  jax.config.update("jax_enable_x64", True)')
    for text in assignments(finding.argnames, finding.point.primals):
        lines += [f"  {line}" for line in text.splitlines()]
    if not finding.point.primals:
        lines.append("  no arguments")
    if finding.property == "given":  # a user's own test: it has no directions
        return lines
    family = f"; values from the family {finding.point.family!r}" if finding.point.family else ""
    lines.append(f"directions from seed {finding.point.seed}{family}")
    return lines


def summary(finding: Finding) -> str:
    """
    Return a finding in one line.
    """
    return f"{finding.property} fails for {finding.target} at {_place(finding.mismatch)}"


def replay_command(case: str) -> str:
    """
    Return the command that judges a stored case again.

    Args:
        case: the case's file.
    """
    path = PurePath(case)
    folder = path.parent.parent.as_posix()
    where = "" if folder in (".", CORPUS) else f" --corpus {folder}"
    return f"autoprop replay {path.stem.rpartition('-')[2]}{where}"


def render(finding: Finding) -> str:
    """
    Return the report of a finding: law, worst leaf, distance, point as source, cause, advice, next command, the rest.
    """
    formula = finding.formula.replace("``", "").strip().rstrip(".")
    title = f"{finding.property}: " + ("" if formula in ("", finding.property) else f"{formula} ")
    lines = [_place(finding.mismatch), *(f"  {line}" for line in _routes(finding.mismatch))]
    lines += [*_difference(finding.mismatch), *_point(finding)]
    if finding.cause:
        lines.append(f"cause: {finding.cause}")
    lines += [f"note: {note}" for note in finding.notes]
    if finding.case:
        lines += [f"saved as {finding.case}", f"replay: {replay_command(finding.case)}"]
    lines += _others(finding.mismatches)
    return "\n".join([f"{title}fails for {finding.target}", *(f"  {line}" for line in lines if line)])
