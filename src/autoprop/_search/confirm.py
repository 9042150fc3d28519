"""Which screened points are judged alone, and their verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .._point import Point
from .._verdict import Holds, Undecided, Verdict, Violated
from ..properties import Property
from .rows import first_of_families
from .screen import Batch, Scored
from .signatures import Slot
from .tally import Tally

__all__ = ["Confirm", "judged"]

ACCUSED = 4  # accused points of a law that are judged per batch
REMARKED = 2  # points of a law that are judged per batch because a remark is likely there
PLAIN = ("example", "typical")  # families whose accusations are most often right
CLEARED = 3  # after so many cleared points of one family, others of it wait behind new families


def judged(law: Property, slot: Slot, point: Point) -> Verdict:
    """
    Return a law's verdict at a point; a law that itself fails there is undecided, and says so.
    """
    try:
        return law.judge(slot.subject, point)
    except Exception as error:  # noqa: BLE001  the function under test may raise anything anywhere
        text = (str(error).strip().splitlines() or [""])[0][:120]
        return Undecided(f"judging raised {type(error).__name__}: {text}")


class Confirm:
    """
    Judges the suspicious points of one signature, law by law.

    Attributes:
        slot: the signature.
        tally: where verdicts are counted.
        cleared: how many accused points of a law and a family were cleared; shared by the signatures of a search.
    """

    def __init__(self, slot: Slot, tally: Tally, cleared: Counter[tuple[str, str]] | None = None) -> None:
        self.slot, self.tally = slot, tally
        self.cleared = Counter() if cleared is None else cleared

    def batch(
        self,
        batch: Batch,
        scored: Scored,
        laws: Sequence[Property],
        edges: bool,
        late: Callable[[], bool],
    ) -> Iterator[tuple[Property, Point, Violated]]:
        """
        Count what the screen held, judge what it accuses (and, with ``edges``, one point of each edge family), and
        yield each law's first violation. Where a law may hold with a remark, points are judged until there is one.
        """
        finite, scores, remarks = scored
        for law in laws:
            if law.name not in scores or law.somewhere:
                continue
            meant = batch.usable & (finite | (not law.finite_value)) & (batch.finite | (not law.smooth_only))
            silent = meant & np.all(np.isnan(scores[law.name]), axis=1)
            self.tally.add(law.name, Undecided("a mode of differentiation is missing"), int(np.sum(silent)))
            meant &= ~silent
            accused = meant & np.any(scores[law.name] > 0, axis=1)
            if law.finite_value:
                self.tally.add(law.name, Undecided("the value is not finite"), int(np.sum(batch.usable & ~finite)))
            order = self._order(law, batch, accused, scores[law.name])
            chosen = order[:ACCUSED]
            if order and all(self.cleared[law.name, batch.sample.families[i]] for i in order):
                chosen = order[:1]  # the judge cleared the like of all of them before
            if edges and law.probes != "none":
                chosen += [i for i in first_of_families(batch, meant, law.probes == "all") if i not in chosen]
            if law.name in remarks and not self.tally.has_remark(law.name):
                chosen += self._remarkable(law, batch, np.where(meant & ~accused, remarks[law.name], 0))
            alone = np.isin(np.arange(len(batch)), chosen)
            self.tally.add(law.name, Holds(), int(np.sum(meant & ~accused & ~alone)))
            done, broken = 0, False
            for i in chosen:
                if late():
                    break
                done += int(bool(accused[i]))
                point = batch.point(i)
                verdict = judged(law, self.slot, point)
                self.tally.add(law.name, verdict)
                if isinstance(verdict, Violated):
                    broken = True
                    yield law, point, verdict
                    break
                self.cleared[law.name, point.family] += 1
            if not broken:  # of a broken law one point is enough
                left = int(np.sum(accused)) - done
                self.tally.add(law.name, Undecided("suspected by the screen, but not judged alone"), left)

    def _order(self, law: Property, batch: Batch, accused: Any, scores: Any) -> list[int]:
        """
        The accused points: new families first, of those the plain ones, the most suspicious of each first.
        """
        best = np.max(np.where(np.isnan(scores), np.inf, scores), axis=1)
        rows = sorted(np.flatnonzero(accused).tolist(), key=lambda i: -best[i])
        seen: Counter[str] = Counter()
        ranked = []
        for i in rows:
            family = batch.sample.families[i]
            turn = seen[family] + self.cleared[law.name, family] // CLEARED
            ranked.append((turn, family not in PLAIN, i))
            seen[family] += 1
        return [i for _, _, i in sorted(ranked, key=lambda each: each[:2])]

    def _remarkable(self, law: Property, batch: Batch, scores: Any) -> list[int]:
        """
        A few points at which a remark is likely, of families of which none was judged before.
        """
        first: dict[str, int] = {}
        for i in np.argsort(-scores, kind="stable").tolist():
            family = batch.sample.families[i]
            if scores[i] > 0 and not self.cleared[law.name, family]:
                first.setdefault(family, i)
        return list(first.values())[:REMARKED]
