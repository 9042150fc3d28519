"""The counts of one target over several searches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import attrs

from autoprop._discover import Discovered
from autoprop._events import Checked, Counts

__all__ = ["Tally"]


def _plus(ours: Counts, theirs: Counts) -> Counts:
    decided = ours.not_applicable is None or theirs.not_applicable is None
    return Counts(
        holds=ours.holds + theirs.holds,
        violated=ours.violated + theirs.violated,
        undecided=ours.undecided + theirs.undecided,
        reasons=dict(Counter(ours.reasons) + Counter(theirs.reasons)),
        remark=ours.remark or theirs.remark,
        not_applicable=None if decided else theirs.not_applicable,
    )


@attrs.define
class Tally:
    """
    What is known of one target so far.

    Attributes:
        discovered: the target.
        counts: law to counts, over the searches that ended.
        points: points of the searches that ended.
        seconds: time of the searches that ended.
        broken: laws with a finding, which later searches leave out.
        error: what made a search impossible.
        exhausted: whether another search would find nothing to do.
    """

    discovered: Discovered
    counts: Mapping[str, Counts] = attrs.field(factory=dict)
    points: int = 0
    seconds: float = 0.0
    broken: set[str] = attrs.field(factory=set)
    error: str | None = None
    exhausted: bool = False

    def with_search(self, event: Checked) -> Checked:
        """
        Return the target's counts together with those of a search that still runs.
        """
        counts = dict(self.counts)
        for law, theirs in event.counts.items():
            counts[law] = _plus(counts[law], theirs) if law in counts else theirs
        return Checked(
            target=self.discovered.id,
            counts=counts,
            points=self.points + event.points,
            seconds=self.seconds + event.seconds,
            done=False,
        )

    def keep(self, event: Checked) -> None:
        """
        Take over the counts of a search that ended.
        """
        merged = self.with_search(event)
        self.counts, self.points, self.seconds = merged.counts, merged.points, merged.seconds
        self.exhausted = event.points == 0 or not self.laws

    @property
    def laws(self) -> tuple[str, ...]:
        """
        The laws that a further search is worth: they apply, and no point breaks them yet.
        """
        return tuple(law for law, each in self.counts.items() if each.not_applicable is None and law not in self.broken)

    def checked(self, *, done: bool) -> Checked:
        """
        Return the event that tells of the searches that ended.
        """
        return Checked(self.discovered.id, self.counts, self.points, self.seconds, done, self.error)
