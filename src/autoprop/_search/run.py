"""The search of one target: rounds over its signatures until the points or the time are used up."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from .._errors import UsageError
from .._events import Checked, Counts, Event, Found
from .._finding import Finding
from .._settings import Settings
from .._target import Target
from .._verdict import Holds, Undecided, Violated
from ..properties import Property, chosen, finding
from .confirm import Confirm, judged
from .drawn import explore_drawn
from .rows import spread
from .screen import Batch, Scored, Screen, draw
from .shrink import shrink
from .signatures import Slot, is_drawn, slots
from .tally import Tally

__all__ = ["Outcome", "explore", "search"]

FIRST = 192  # points of each signature in the first round
EARLY = 2  # points at which laws that cannot be batched are judged before the other signatures are screened
NARROW = 4  # points at which laws that cannot be batched are judged, per signature in the first round
WIDE_SIGNATURES = 2  # signatures at which those laws are judged in the first round; later rounds take one point of each
SECOND_SIGNATURES = 3  # signatures that are screened for second derivatives in the first round
SOON = 2  # the first signature is screened for them when so many others have been screened
FIRST_ORDER = ("numeric", "adjoint")  # where one of these is broken, second derivatives are not looked at
SHRINK_SECONDS = 6.0  # wall time for shrinking one finding
TICK = 0.5  # seconds between progress events


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


def explore(
    target: Target, settings: Settings | None = None, *, properties: Sequence[str] | None = None
) -> Iterator[Event]:
    """
    Search a target and yield what happens: `Checked` now and then, `Found` for each finding, `Checked` at the end.

    Args:
        target: the target.
        settings: how long and how widely to look.
        properties: names of the laws to look for; the target's own by default.

    Raises:
        UsageError: the contract is wrong, the spec can produce nothing, or the function raises on every input.
    """
    settings = settings or Settings()
    laws = chosen(target if properties is None else target.replace(properties=tuple(properties)))
    if is_drawn(target):
        yield from explore_drawn(target, settings, laws)
    else:
        yield from _Run(target, settings, laws).events()


class _Run:
    """
    The state of one search.
    """

    def __init__(self, target: Target, settings: Settings, laws: list[Property]) -> None:
        self.target, self.settings = target, settings
        self.start = time.perf_counter()
        self.names = [law.name for law in laws]
        self.tally = Tally()
        self.points = 0
        self.slots = slots(target, settings)
        self.active = self._applicable(laws)
        self.screens: dict[tuple[int, int], Screen] = {}
        self.confirms = [Confirm(slot, self.tally) for slot in self.slots]
        self.nowhere: dict[str, Any] = {}  # laws that must hold somewhere: the lowest score of each part so far
        self.found = False
        self.ticked = self.start

    def _applicable(self, laws: list[Property]) -> dict[str, Property]:
        active = {}
        for law in laws:
            reason = law.why_not(self.slots[0].subject)
            if reason is None:
                active[law.name] = law
                continue
            self.tally.rule_out(law.name, reason)
            if self.target.properties is not None and law.name in self.target.properties:
                raise UsageError(f"{self.target.name}: the law {law.name!r} was asked for but does not apply: {reason}")
        return active

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.start

    def late(self) -> bool:
        return self.settings.seconds is not None and self.seconds >= self.settings.seconds

    def enough(self) -> bool:
        full = self.settings.examples is not None and self.points >= self.settings.examples
        return full or self.late() or not self.active

    def checked(self, done: bool) -> Checked:
        return Checked(self.target.name, self.tally.counts(self.names), self.points, self.seconds, done)

    def tick(self) -> Iterator[Event]:
        if time.perf_counter() - self.ticked > TICK:
            self.ticked = time.perf_counter()
            yield self.checked(False)

    def events(self) -> Iterator[Event]:
        first = self._batch(0, self.slots[0], 0)
        yield from self._narrow(
            self.slots[0], first, [law for law in self.active.values() if law.name == "structure"], 1
        )
        turn = 0
        while (not self.enough() or turn == 0) and not (turn and self.found):
            batches = []
            for number, slot in enumerate(self.slots):
                if number and self.enough():
                    break
                batch = self._batch(turn, slot, number)
                batches.append((slot, batch))
                yield from self._wide(turn, number, slot, batch)
                if number == 0 or turn:
                    yield from self._narrow(slot, batch, self._unscreened(number), EARLY if turn == 0 else 1)
                if turn == 0 and number == SOON:
                    yield from self._second(turn, 0, *batches[0])
                yield from self.tick()
            for number, (slot, batch) in enumerate(batches[:WIDE_SIGNATURES] if turn == 0 else []):
                yield from self._narrow(slot, batch, self._unscreened(number), NARROW, EARLY if number == 0 else 0)
            done = 1 if turn == 0 and len(batches) > SOON else 0
            for number, (slot, batch) in enumerate(batches[: None if turn else SECOND_SIGNATURES]):
                if number >= done:
                    yield from self._second(turn, number, slot, batch)
            turn += 1
        yield from self._somewhere()
        for name, law in self.active.items():
            if not self.tally.was_tried(name):
                broken = law.order > 1 and self._first_is_broken()
                reason = "the first derivative is wrong" if broken else "not reached: no time or points were left"
                self.tally.add(name, Undecided(reason))
        yield self.checked(True)

    def _batch(self, turn: int, slot: Slot, number: int) -> Batch:
        rows = min(FIRST, self.settings.rows) if turn == 0 else self.settings.rows
        if self.settings.examples is not None:
            share = -(-self.settings.examples // len(self.slots))
            rows = max(1, min(rows, share, self.settings.examples - self.points))
        rows = min(rows, max(8, self._screen(number, slot).chunk * 8))
        return draw(slot, rows, self.settings.seed + 1_000_003 * turn + 10_007 * number)

    def _screen(self, number: int, slot: Slot, order: int = 1) -> Screen:
        if (number, order) not in self.screens:
            self.screens[number, order] = Screen(slot, [law for law in self.active.values() if law.order == order])
        return self.screens[number, order]

    def _unscreened(self, number: int, order: int = 1) -> list[Property]:
        screen = self.screens[number, order]
        laws = [law for law in self.active.values() if law.order == order]
        return [law for law in laws if law.screen is None or screen.error is not None]

    def _wide(self, turn: int, number: int, slot: Slot, batch: Batch, order: int = 1) -> Iterator[Event]:
        """
        Screen a batch of one signature and judge alone what it accuses.
        """
        scored = self._screen(number, slot, order).scores(batch)
        self.points += len(batch) if order == 1 else 0
        if scored is None:
            return
        self._note_somewhere(batch, scored)
        laws = list(self.active.values())
        for law, point, verdict in self.confirms[number].batch(batch, scored, laws, turn == 0, self.late):
            yield from self._finding(slot, law, point, verdict)

    def _second(self, turn: int, number: int, slot: Slot, batch: Batch) -> Iterator[Event]:
        """
        Look at the second derivatives of a batch.
        """
        if self.late() or self._first_is_broken() or not any(law.order == 2 for law in self.active.values()):
            return
        yield from self._wide(turn, number, slot, batch, order=2)
        if number < WIDE_SIGNATURES:
            yield from self._narrow(slot, batch, self._unscreened(number, 2), 1 if turn else NARROW)

    def _first_is_broken(self) -> bool:
        return any(self.tally.is_broken(name) for name in FIRST_ORDER)

    def _narrow(self, slot: Slot, batch: Batch, laws: Sequence[Property], count: int, skip: int = 0) -> Iterator[Event]:
        """
        Judge laws at a few points of the batch: a typical one, then one of each of some families; ``skip`` were judged.
        """
        for law in laws:
            if law.somewhere or (law.once and self.tally.was_tried(law.name, WIDE_SIGNATURES)):
                continue
            for i in spread(batch, 1 if law.once else count, law)[skip:]:
                if self.late():
                    return
                point = batch.point(i)
                verdict = judged(law, slot, point)
                self.tally.add(law.name, verdict)
                if isinstance(verdict, Violated):
                    yield from self._finding(slot, law, point, verdict)
                    break
            yield from self.tick()

    def _finding(self, slot: Slot, law: Property, point: Any, verdict: Violated) -> Iterator[Event]:
        self.active.pop(law.name, None)
        self.found = True
        subject, smallest, shrunk = shrink(slot, law, point, verdict, SHRINK_SECONDS)
        self.tally.add(law.name, shrunk)
        yield Found(finding(law, subject, smallest, shrunk))

    def _note_somewhere(self, batch: Batch, scored: Scored) -> None:
        finite, scores, _ = scored
        for law in self.active.values():
            if not law.somewhere or law.name not in scores:
                continue
            meant = batch.usable & finite & batch.finite
            if not np.any(meant):
                continue
            lowest = np.min(scores[law.name][meant], axis=0)
            before = self.nowhere.get(law.name)
            self.nowhere[law.name] = lowest if before is None else np.minimum(before, lowest)

    def _somewhere(self) -> Iterator[Event]:
        """
        Settle the laws that must hold at some point: violated only if every point failed.
        """
        for law in [law for law in self.active.values() if law.somewhere]:
            lowest = self.nowhere.get(law.name)
            slot = self.slots[0]
            batch = draw(slot, 1, self.settings.seed)
            if lowest is None:
                verdict = judged(law, slot, batch.point(0))
            elif np.all(lowest <= 0):
                self.tally.add(law.name, Holds(), self.points)
                continue
            else:
                verdict = judged(law, slot, batch.point(0))
                if isinstance(verdict, Holds):
                    verdict = Undecided("no gradient in the batch, but one alone")
            self.tally.add(law.name, verdict)
            if isinstance(verdict, Violated):
                self.active.pop(law.name)
                yield Found(finding(law, slot.subject, batch.point(0), verdict))
