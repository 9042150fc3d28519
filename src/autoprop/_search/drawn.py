"""The search of a target whose arguments come from a Hypothesis strategy: Hypothesis draws, autoprop judges."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from hypothesis import Phase, given
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import HypothesisException

from .._errors import UsageError
from .._events import Checked, Event, Found
from .._point import Point
from .._settings import Settings
from .._subject import Subject
from .._target import Target
from .._verdict import Holds, Undecided, Violated
from ..properties import Property, finding
from .tally import Tally

__all__ = ["explore_drawn"]

EXAMPLES = 60  # points of each law, if the settings do not say fewer
ONCE = 2  # points of a law that is about the program


class _Broken(Exception):  # noqa: N818  never leaves this module
    pass


def explore_drawn(target: Target, settings: Settings, laws: list[Property]) -> Iterator[Event]:
    """
    Search law by law with one Hypothesis run each; the shrunk point is the last one that was violated.

    Raises:
        UsageError: what the strategy draws is not a tuple of arguments, or the function raises on every input.
    """
    start, tally, names = time.perf_counter(), Tally(), [law.name for law in laws]
    points = 0
    for number, law in enumerate(laws):
        if settings.seconds is not None and time.perf_counter() - start > settings.seconds:
            tally.add(law.name, Undecided("no time was left"))
            continue
        hunt = _Hunt(target, law, settings, tally, start)
        hunt.run()
        points += hunt.tried
        if number == 0 and hunt.tried and hunt.tried == len(hunt.errors):
            last = hunt.errors[0]
            raise UsageError(
                f"{target.name}: the function raises on every input that its strategy draws; the first says "
                f"{type(last).__name__}: {last}"
            )
        if hunt.violation is not None and not hunt.holds_somewhere:
            subject, point, verdict = hunt.violation
            yield Found(finding(law, subject, point, verdict))
        yield Checked(target.name, tally.counts(names), points, time.perf_counter() - start, False)
    yield Checked(target.name, tally.counts(names), points, time.perf_counter() - start, True)


class _Hunt:
    """
    One Hypothesis run for one law.
    """

    def __init__(self, target: Target, law: Property, settings: Settings, tally: Tally, start: float) -> None:
        self.target, self.law, self.settings, self.tally, self.start = target, law, settings, tally, start
        self.subjects: list[Subject] = []
        self.violation: tuple[Subject, Point, Violated] | None = None
        self.holds_somewhere = False
        self.errors: list[Exception] = []
        self.tried = 0

    def subject(self, primals: tuple[Any, ...]) -> Subject:
        for known in self.subjects:
            if known.fits(primals):
                return known
        made = Subject(self.target, primals)
        self.subjects.append(made)
        return made

    def judge(self, primals: Any) -> None:
        if not isinstance(primals, tuple):
            raise UsageError(
                f"{self.target.name}: args draws {primals!r}, which must be the tuple of arguments; wrap the strategy "
                "in st.tuples(...)"
            )
        if self.settings.seconds is not None and time.perf_counter() - self.start > self.settings.seconds:
            return
        subject = self.subject(primals)
        reason = self._why_not(subject)
        if reason is not None:
            self.tally.rule_out(self.law.name, reason)
            return
        self.tried += 1
        point = Point(primals, self.settings.seed)
        try:
            verdict = self.law.judge(subject, point)
        except Exception as error:  # noqa: BLE001  the function under test may raise anything
            self.errors.append(error)
            verdict = Undecided(f"judging raised {type(error).__name__}")
        if self.violation is None or isinstance(verdict, Violated):
            self.tally.add(self.law.name, verdict)
        if isinstance(verdict, Violated):
            self.violation = subject, point, verdict
            if not self.law.somewhere:
                raise _Broken
        elif self.law.somewhere and isinstance(verdict, Holds):
            self.holds_somewhere = True

    def _why_not(self, subject: Subject) -> str | None:
        try:
            return self.law.why_not(subject)
        except Exception as error:  # noqa: BLE001  the function raises on this input
            self.errors.append(error)
            self.tried += 1
            return None

    def run(self) -> None:
        limit = min(self.settings.examples or EXAMPLES, ONCE if self.law.once else EXAMPLES)

        @hypothesis_settings(
            max_examples=limit,
            database=None,
            deadline=None,
            derandomize=True,
            report_multiple_bugs=False,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(_health_checks()),
        )
        @given(self.target.args)
        def hunt(primals: Any) -> None:
            self.judge(primals)

        try:
            hunt()
        except _Broken:
            pass
        except HypothesisException as error:
            raise UsageError(f"{self.target.name}: the strategy of its arguments fails: {error}") from error


def _health_checks() -> Any:
    from hypothesis import HealthCheck

    return HealthCheck
