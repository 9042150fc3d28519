"""A search of one target as a whole: what it found, once it has ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from .._events import Checked, Counts, Found
from .._finding import Finding
from .._settings import Settings
from .._target import Target
from .run import explore

__all__ = ["Outcome", "search"]


@attrs.frozen
class Outcome:
    """
    What a search of one target found.

    Attributes:
        findings: one for each violated law, shrunk.
        counts: law to `Counts`.
        points: how many points were screened or judged.
        seconds: wall time.
    """

    findings: tuple[Finding, ...]
    counts: Mapping[str, Counts]
    points: int
    seconds: float


def search(target: Target, *, settings: Settings | None = None, properties: Sequence[str] | None = None) -> Outcome:
    """
    Search for points at which a law of the target is broken.

    Args:
        target: the target.
        settings: how long and how widely to look.
        properties: names of the laws to look for, as far as they apply; the target's own by default.

    Raises:
        UsageError: the contract is wrong, the spec can produce nothing, or the function raises on every input.
    """
    findings, last = [], None
    for event in explore(target, settings, properties=properties):
        if isinstance(event, Found):
            findings.append(event.finding)
        elif isinstance(event, Checked):
            last = event
    assert last is not None
    return Outcome(tuple(findings), last.counts, last.points, last.seconds)
