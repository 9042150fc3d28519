"""A run on the screen of a terminal, or as plain lines in a log."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from rich.console import Console as Screen
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from autoprop._events import Event, Finished, Found, Started

from .closing import closing
from .progress import Progress
from .summary import Summary
from .words import count

__all__ = ["Console", "finding_text", "found_text"]

PLAIN_EVERY = 10.0  # seconds between lines of progress where nothing can be overwritten
STYLES = {
    "new": "bold red",
    "open": "bold red",
    "stale": "bold yellow",
    "undecided": "yellow",
    "fixed": "green",
    "known": "yellow",
}


def finding_text(report: str, style: str = "bold red") -> Text:
    """
    Return the report of a finding with its title and its next command highlighted.
    """
    text = Text()
    for number, line in enumerate(report.splitlines()):
        word = line.strip().partition(" ")[0]
        chosen = (
            style
            if number == 0
            else {"note:": "yellow", "cause:": "bold", "replay:": "green", "saved": "dim"}.get(word, "")
        )
        text.append(f"{line}\n", chosen)
    return text


def found_text(found: Found) -> Text:
    """
    Return what is shown of a finding or of a replayed case.
    """
    style = STYLES[found.state]
    finding = found.finding
    if found.state == "new":
        text = finding_text(str(finding), style)
        return text.append(f"  not saved: {found.reason}\n", "yellow") if found.case is None else text
    if found.state == "open":
        return Text("open: ", style).append_text(finding_text(str(finding), style))
    name = found.case or finding.target
    text = Text.assemble((f"{found.state} ", style), f"{finding.property} for {finding.target} ({name})")
    if found.reason:
        text.append(f"\n  {found.reason}")
    return text.append("\n")


class Console:
    """
    Shows a run as it goes: a line that is overwritten on a terminal, a line now and then elsewhere.

    Use it as a context manager, so that the screen is left as it was found.
    """

    def __init__(self, screen: Screen, *, seconds: float | None = None) -> None:
        self._screen = screen
        self._summary = Summary()
        self._progress = Progress(seconds)
        self._spinner = Spinner("dots")
        self._live = (
            Live(self._spinner, console=screen, refresh_per_second=8, transient=True) if screen.is_terminal else None
        )
        self._told = time.monotonic()

    def __enter__(self) -> Console:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read(self, event: Event) -> None:
        """
        Show what an event tells.
        """
        self._summary.read(event)
        self._progress.read(event)
        if isinstance(event, Started):
            self._header(event)
        elif isinstance(event, Found):
            self._print(found_text(event))
        elif isinstance(event, Finished):
            self.close()
            self._screen.print(closing(self._summary, interrupted="interrupted" in event.errors))
        self._tell()

    def close(self) -> None:
        """
        Give the screen back.
        """
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _header(self, event: Started) -> None:
        self._screen.print(Text(f"autoprop {event.environment.autoprop}; {event.environment}"))
        if event.settings is not None:
            targets = count(len(event.targets), "target")
            self._print(Text(f"{targets}, seed {event.settings.seed}, epoch {event.settings.epoch}\n"))

    def _print(self, text: Any) -> None:
        self._screen.print(text, soft_wrap=True, highlight=False)

    def _tell(self) -> None:
        if self._live is not None:
            self._spinner.update(text=Text(self._progress.line(), overflow="ellipsis", no_wrap=True))
        elif not self._screen.is_terminal and time.monotonic() - self._told > PLAIN_EVERY:
            self._told = time.monotonic()
            self._print(Text(self._progress.line()))
