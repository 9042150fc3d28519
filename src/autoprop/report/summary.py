"""What a run came to: the rows of the closing table and the exit status."""

from __future__ import annotations

import time

import attrs

from autoprop._events import Checked, Counts, Event, Finished, Found, Started

__all__ = ["Summary", "outcome", "worst_reason"]

NOTHING, FINDINGS, USAGE, UNDECIDED = 0, 1, 2, 3


def outcome(counts: Counts) -> str:
    """
    Say what a law came to: ``not applicable``, ``violated``, ``held`` or ``undecided``.
    """
    if counts.not_applicable is not None:
        return "not applicable"
    if counts.violated:
        return "violated"
    return "held" if counts.holds else "undecided"


def worst_reason(checked: Checked) -> str:
    """
    Return the reason for which most points were undecided, of the laws that decided nothing if there are any.
    """
    mute = {law: each for law, each in checked.counts.items() if outcome(each) == "undecided"}
    reasons = [
        (points, law, reason)
        for law, each in (mute or checked.counts).items()
        for reason, points in (each.reasons or {"no point was judged": 0}).items()
        if points or law in mute
    ]
    if not reasons:
        return ""
    _, law, reason = max(reasons)
    return f"{law}: {reason}"


@attrs.define
class Summary:
    """
    Folds the events of a run.

    Attributes:
        targets: the ids of the targets, in order.
        rows: the last counts of each target.
        found: every finding and every replayed case.
        seconds: how long the run took, once it is over.
        began: when it began, by the monotonic clock.
    """

    targets: tuple[str, ...] = ()
    rows: dict[str, Checked] = attrs.field(factory=dict)
    found: list[Found] = attrs.field(factory=list)
    seconds: float = 0.0
    began: float = attrs.field(factory=time.monotonic, repr=False)

    def read(self, event: Event) -> None:
        """
        Take the next event.
        """
        if isinstance(event, Started):
            self.targets = event.targets
        elif isinstance(event, Checked):
            self.rows[event.target] = event
        elif isinstance(event, Found):
            self.found.append(event)
        elif isinstance(event, Finished):
            self.seconds = event.seconds

    def close(self) -> None:
        """
        Nothing was begun.
        """

    def elapsed(self) -> float:
        """
        Return the seconds since the run began.
        """
        return time.monotonic() - self.began

    def of_state(self, *states: str) -> list[Found]:
        """
        Return what was found in these states.
        """
        return [each for each in self.found if each.state in states]

    @property
    def points(self) -> int:
        """
        How many points were screened.
        """
        return sum(row.points for row in self.rows.values())

    @property
    def errors(self) -> list[str]:
        """
        What made targets impossible to search.
        """
        return [f"{row.target}: {row.error}" for row in self.rows.values() if row.error]

    @property
    def remarks(self) -> list[str]:
        """
        What deserves to be known of laws that held.
        """
        return [
            f"{law} for {row.target}: {each.remark}"
            for row in self.rows.values()
            for law, each in row.counts.items()
            if each.remark
        ]

    @property
    def status(self) -> int:
        """
        The exit status: 1 for a violated law or a stale case, else 2 if a target could not be searched, else 3 if
        nothing was decided, else 0.
        """
        if self.of_state("new", "open", "stale"):
            return FINDINGS
        if self.errors:
            return USAGE
        decided = any(each.decided for row in self.rows.values() for each in row.counts.values())
        return NOTHING if decided or self.of_state("fixed", "known") else UNDECIDED
