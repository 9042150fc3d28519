"""What reads the events of a run."""

from __future__ import annotations

from typing import Protocol

from autoprop._events import Event

__all__ = ["Reader"]


class Reader(Protocol):
    """
    Is given each event of a run once, in order; ``close`` is called at the end, after an interruption too.
    """

    def read(self, event: Event) -> None:
        """
        Take the next event.
        """

    def close(self) -> None:
        """
        Finish what was begun.
        """
