"""The line that tells, while a campaign runs, how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable

from autoprop._events import Checked, Event, Found, Started

from .words import count, duration

__all__ = ["Progress"]


class Progress:
    """
    Folds events into one line.
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._budget = seconds
        self._began = clock()
        self._targets: tuple[str, ...] = ()
        self._points: dict[str, int] = {}
        self._done: set[str] = set()
        self._current = ""
        self._found = 0

    def read(self, event: Event) -> None:
        """
        Take the next event.
        """
        if isinstance(event, Started):
            self._targets = event.targets
        elif isinstance(event, Checked):
            self._current = event.target
            self._points[event.target] = event.points
            if event.done:
                self._done.add(event.target)
        elif isinstance(event, Found) and event.state in ("new", "open", "stale"):
            self._found += 1

    def line(self) -> str:
        """
        Return targets done, points, points per second, findings, time left, and the target that is searched.
        """
        spent = max(self._clock() - self._began, 1e-9)
        points = sum(self._points.values())
        begun = set(self._points) - self._done - {self._current}  # they have had a turn, and may have another
        parts = [
            f"{len(self._done | begun)}/{len(self._targets)} targets done",
            count(points, "point"),
            f"{points / spent:,.0f}/s",
            count(self._found, "finding"),
        ]
        if self._budget is not None:
            parts.append(f"{duration(max(self._budget - spent, 0.0))} left")
        return " · ".join([*parts, self._current or "stored cases"])
