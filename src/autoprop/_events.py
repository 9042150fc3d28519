"""What a run yields; consoles, plugins and reports read nothing else."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ._environment import Environment
from ._finding import Finding
from ._settings import Settings

__all__ = ["Checked", "Counts", "Event", "Finished", "Found", "Started"]


@attrs.frozen
class Counts:
    """
    How often a law was judged, by verdict.

    Attributes:
        holds: points where the law held.
        violated: points where it was broken.
        undecided: points where it could not be judged.
        reasons: reason to number of points, for the undecided ones.
        remark: the first remark on the law where it held, in one line; empty for none.
        not_applicable: why the law does not apply to the target, or None where it does.
    """

    holds: int = 0
    violated: int = 0
    undecided: int = 0
    reasons: Mapping[str, int] = attrs.field(factory=dict)
    remark: str = ""
    not_applicable: str | None = None

    @property
    def decided(self) -> int:
        """
        How many points were judged one way or the other.
        """
        return self.holds + self.violated


@attrs.frozen
class Started:
    """
    A run begins.
    """

    targets: tuple[str, ...]
    settings: Settings | None
    environment: Environment


@attrs.frozen
class Checked:
    """
    A target's counts so far. Sent while the search of the target runs (``done`` False) and once at its end.

    Attributes:
        target: name of the target.
        counts: law to `Counts`, so far.
        points: how many points were screened so far.
        seconds: wall time spent on the target so far.
        done: whether the target is finished.
        error: what made the target impossible to search, or None.
    """

    target: str
    counts: Mapping[str, Counts]
    points: int
    seconds: float
    done: bool
    error: str | None = None


@attrs.frozen
class Found:
    """
    A law is violated (a new finding), or a stored case was replayed.

    Attributes:
        finding: the finding.
        case: the file that holds it, or None if it was not saved.
        state: ``new``, ``known`` (already in the corpus), ``open`` (replayed: still violated), ``fixed`` (replayed:
            holds now), ``undecided`` (replayed: cannot be judged any more) or ``stale`` (replayed: no longer matches).
        reason: why, where the state needs a reason.
    """

    finding: Finding
    case: str | None = None
    state: str = "new"
    reason: str = ""


@attrs.frozen
class Finished:
    """
    A run is over.
    """

    findings: tuple[Finding, ...]
    points: int
    seconds: float
    errors: tuple[str, ...] = ()


Event = Started | Checked | Found | Finished
