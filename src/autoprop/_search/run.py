"""The search of one target: rounds over its signatures until the points or the time are used up."""

from __future__ import annotations

import functools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._compile import begin, relieve
from .._errors import UsageError
from .._events import Checked, Event, Found
from .._point import Point
from .._settings import Settings
from .._target import Target
from .._verdict import Holds, Undecided, Verdict, Violated
from ..properties import Property, chosen, finding
from .confirm import Confirm, judged
from .drawn import explore_drawn
from .rows import spread
from .screen import Batch, Screen, draw
from .shrink import shrink
from .signatures import Slot, breadth, is_drawn, slots
from .somewhere import Somewhere
from .tally import Tally

__all__ = ["explore"]

FIRST = 256  # points of each signature in the first round, at most
WIDEST = 4096  # points of each signature in later rounds, at most
EARLY = 2  # points at which laws that cannot be batched are judged before the other signatures are screened
NARROW = 4  # points at which laws that cannot be batched are judged, per signature in the first round
WIDE_SIGNATURES = 2  # signatures at which edge families are judged, and in a search with time those laws
SOON = 2  # the first signature is screened for them when so many others have been screened
FIRST_ORDER = ("numeric", "adjoint")  # where one of these is broken, second derivatives are not looked at
SHRINK_SECONDS, LEAST_SHRINK_SECONDS = 6.0, 1.0  # wall time for shrinking one finding, and if there is none left
TICK = 0.5  # seconds between progress events


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
    relieve()
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
        cleared: Counter[tuple[str, str]] = Counter()
        self.confirms = [Confirm(slot, self.tally, cleared) for slot in self.slots]
        self.somewhere = Somewhere()
        self.deadline = np.inf if settings.seconds is None else self.start + settings.seconds
        self.opened, self.deep = breadth(self.slots)  # how many signatures are looked at so far, and with all laws
        if settings.seconds is not None:
            self.deep = min(WIDE_SIGNATURES, len(self.slots))
        self.alone = 0.0  # seconds in later rounds that laws took which cannot be batched
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
        return time.perf_counter() >= self.deadline

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
        yield from self._first_round()
        turn = 1
        while not self.enough() and not self.found:
            yield from self._round(turn)
            relieve()
            turn += 1
        yield from self._somewhere()
        for name, law in self.active.items():
            if not self.tally.was_tried(name):
                broken = law.order > 1 and self._first_is_broken()
                reason = "the first derivative is wrong" if broken else "not reached: no time or points were left"
                self.tally.add(name, Undecided(reason))
        yield self.checked(True)

    def _first_round(self) -> Iterator[Event]:
        """
        Look at a few signatures with all laws, the quick ones first.
        """
        first = coming = self._ahead(0)
        yield from self._narrow(0, first, [law for law in self.active.values() if law.name == "structure"], 1)
        batches: list[Batch] = []
        for number in range(self.opened):
            if number and self.enough():
                break
            batches.append(coming)
            if number + 1 < self.opened:
                coming = self._ahead(number + 1, len(coming))
            yield from self._wide(0, number, batches[number])
            if number == 0:
                yield from self._narrow(number, first, self._unscreened(number), EARLY)
            if number == SOON:
                yield from self._second(0, 0, batches[0])
            yield from self.tick()
        for number, batch in enumerate(batches[: self.deep]):
            yield from self._narrow(number, batch, self._unscreened(number), NARROW, EARLY if number == 0 else 0)
        for number in range(1 if len(batches) > SOON else 0, min(self.deep, len(batches))):
            yield from self._second(0, number, batches[number])

    def _round(self, turn: int) -> Iterator[Event]:
        """
        Screen more points of every signature so far (and, with a time limit, from the second such round, of a new
        one: it costs all programs anew), and judge one point of one signature for the other laws, as long as these
        have not taken more than half of the time.
        """
        if turn > 1 and self.settings.seconds is not None:
            self.opened = min(self.opened + 1, len(self.slots))
        chosen = turn % (self.deep if self.settings.seconds is None else self.opened)
        for number in range(self.opened):
            if self.enough():
                return
            batch = self._batch(turn, number)
            yield from self._wide(turn, number, batch)
            if number == chosen and (self.settings.seconds is None or self.alone <= self.seconds / 2):
                began = time.perf_counter()
                yield from self._narrow(number, batch, self._unscreened(number), 1)
                yield from self._second(turn, number, batch)
                self.alone += time.perf_counter() - began
            yield from self.tick()

    def _ahead(self, number: int, pending: int = 0) -> Batch:
        """
        Return the first batch of a signature, and begin to compile what screens it.

        Args:
            number: of the signature.
            pending: points of other signatures that are drawn and not screened yet.
        """
        batch = self._batch(0, number, pending)
        self._screen(number).ahead(batch)
        return batch

    def _batch(self, turn: int, number: int, pending: int = 0) -> Batch:
        slot = self.slots[number]
        rows = min(FIRST, self.settings.rows) if turn == 0 else min(self.settings.rows << min(turn - 1, 8), WIDEST)
        if self.settings.examples is not None:
            share = -(-self.settings.examples // self.opened)
            rows = max(1, min(rows, share, self.settings.examples - self.points - pending))
        screen = self._screen(number)
        if screen.laws:
            rows = min(rows, max(8, screen.most * 8))
        return draw(slot, rows, self.settings.seed + 1_000_003 * turn + 10_007 * number)

    def _screen(self, number: int, order: int = 1) -> Screen:
        if (number, order) not in self.screens:
            laws = [law for law in self.active.values() if law.order == order]
            self.screens[number, order] = Screen(self.slots[number], laws, remarks=number < WIDE_SIGNATURES)
        return self.screens[number, order]

    def _unscreened(self, number: int, order: int = 1) -> list[Property]:
        screen = self.screens[number, order]
        laws = [law for law in self.active.values() if law.order == order]
        return [law for law in laws if law.screen is None or screen.error is not None]

    def _wide(self, turn: int, number: int, batch: Batch, order: int = 1) -> Iterator[Event]:
        """
        Screen a batch of one signature and judge alone what it accuses.
        """
        scored = self._screen(number, order).scores(batch, self.deadline)
        batch = batch if scored is None else batch.first(len(scored.finite))
        self.points += len(batch) if order == 1 else 0
        if scored is None:
            return
        self.somewhere.note(batch, scored, self.active.values())
        laws, edges = list(self.active.values()), turn == 0 and number < WIDE_SIGNATURES
        for law, point, verdict in self.confirms[number].batch(batch, scored, laws, edges, self.late):
            yield from self._finding(self.slots[number], law, point, verdict)

    def _second(self, turn: int, number: int, batch: Batch) -> Iterator[Event]:
        """
        Look at the second derivatives of a batch.
        """
        if self.late() or self._first_is_broken() or not any(law.order == 2 for law in self.active.values()):
            return
        yield from self._wide(turn, number, batch, order=2)
        if number < WIDE_SIGNATURES:
            yield from self._narrow(number, batch, self._unscreened(number, 2), 1 if turn else NARROW)

    def _first_is_broken(self) -> bool:
        return any(self.tally.is_broken(name) for name in FIRST_ORDER)

    def _narrow(
        self, number: int, batch: Batch, laws: Sequence[Property], count: int, skip: int = 0
    ) -> Iterator[Event]:
        """
        Judge laws at a few points of the batch: a typical one, then one of each of some families; ``skip`` were judged.
        """
        slot = self.slots[number]
        laws = [law for law in laws if not law.somewhere]
        laws = [law for law in laws if not (law.once and self.tally.was_tried(law.name, WIDE_SIGNATURES))]
        points = {law.name: spread(batch, 1 if law.once else count, law)[skip:] for law in laws}
        early = {} if skip else self._begin(slot, laws, {name: batch.point(i[0]) for name, i in points.items() if i})
        for law in laws:
            for point in map(batch.point, points[law.name]):
                if self.late():
                    return
                verdict = early.pop(law.name, None) or judged(law, slot, point)
                self.tally.add(law.name, verdict)
                if isinstance(verdict, Violated):
                    yield from self._finding(slot, law, point, verdict)
                    break
            yield from self.tick()

    def _begin(self, slot: Slot, laws: Sequence[Property], points: dict[str, Point]) -> dict[str, Verdict | None]:
        """
        Begin to compile the first program of each law at its point, and return the verdicts of those without one.
        """
        found = {}
        for law in laws:
            if law.name in points and not self.late():
                found[law.name] = begin(functools.partial(law.judge, slot.subject, points[law.name]))
        return found

    def _finding(self, slot: Slot, law: Property, point: Any, verdict: Violated) -> Iterator[Event]:
        self.active.pop(law.name, None)
        self.found = True
        left = float(np.clip(self.deadline - time.perf_counter(), LEAST_SHRINK_SECONDS, SHRINK_SECONDS))
        subject, smallest, shrunk = shrink(slot, law, point, verdict, left)
        self.tally.add(law.name, shrunk)
        yield Found(finding(law, subject, smallest, shrunk))

    def _somewhere(self) -> Iterator[Event]:
        """
        Settle the laws that must hold at some point.
        """
        slot = self.slots[0]
        for law in [law for law in self.active.values() if law.somewhere]:
            if self.somewhere.holds(law):
                self.tally.add(law.name, Holds(), self.points)
                continue
            point = draw(slot, 1, self.settings.seed).point(0)
            verdict = judged(law, slot, point)
            if isinstance(verdict, Holds) and self.somewhere.was_screened(law):
                verdict = Undecided("no gradient in the batch, but one alone")
            self.tally.add(law.name, verdict)
            if isinstance(verdict, Violated):
                self.active.pop(law.name)
                yield Found(finding(law, slot.subject, point, verdict))
