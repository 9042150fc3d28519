"""The counts of verdicts that a search keeps, law by law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from .._events import Counts
from .._verdict import Holds, Undecided, Verdict, Violated

__all__ = ["Tally"]


class Tally:
    """
    Verdicts counted by law; nothing that was tried is left out.
    """

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()
        self._violated: Counter[str] = Counter()
        self._undecided: dict[str, Counter[str]] = {}
        self._not_applicable: dict[str, str] = {}
        self._remarks: dict[str, str] = {}

    def add(self, law: str, verdict: Verdict, points: int = 1) -> None:
        """
        Count a verdict at one or more points.
        """
        if points <= 0:
            return
        if isinstance(verdict, Holds):
            self._held[law] += points
            if verdict.remark:
                self._remarks.setdefault(law, verdict.remark)
        elif isinstance(verdict, Violated):
            self._violated[law] += points
        else:
            assert isinstance(verdict, Undecided)
            self._undecided.setdefault(law, Counter())[verdict.reason] += points

    def rule_out(self, law: str, reason: str) -> None:
        """
        Say that a law does not apply.
        """
        self._not_applicable[law] = reason

    def was_tried(self, law: str, times: int = 1) -> bool:
        """
        Say whether a law has so many verdicts.
        """
        undecided = sum(self._undecided.get(law, Counter()).values())
        return self._held[law] + self._violated[law] + undecided >= times

    def is_broken(self, law: str) -> bool:
        """
        Say whether a law is violated anywhere.
        """
        return bool(self._violated[law])

    def has_remark(self, law: str) -> bool:
        """
        Say whether a remark was made on a law: one is enough.
        """
        return law in self._remarks

    def counts(self, laws: list[str]) -> Mapping[str, Counts]:
        """
        Return the counts so far of each of these laws.
        """
        found = {}
        for law in laws:
            reasons = dict(self._undecided.get(law, Counter()).most_common())
            found[law] = Counts(
                holds=self._held[law],
                violated=self._violated[law],
                undecided=sum(reasons.values()),
                reasons=reasons,
                remark=self._remarks.get(law, ""),
                not_applicable=self._not_applicable.get(law),
            )
        return found
