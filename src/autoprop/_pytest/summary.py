"""The section of autoprop at the end of pytest's report."""

from __future__ import annotations

from typing import Any

import pytest

from .notices import KINDS, PREFIX
from .options import Options

__all__ = ["Summary"]


class Summary:
    """
    Collects the notices of all items, of every process of a distributed run, and prints them.
    """

    def __init__(self) -> None:
        self.notices: dict[str, list[str]] = {}
        self.partly: dict[str, list[str]] = {}

    def add(self, kind: str, text: str) -> None:
        """
        Keep a notice, once.
        """
        known = self.notices.setdefault(kind, [])
        if text not in known:
            known.append(text)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """
        Read the notices of an item.
        """
        if report.when != "call":
            return
        for name, text in report.user_properties:
            if name.startswith(PREFIX):
                kind = name.removeprefix(PREFIX)
                if kind == "partly":
                    self.partly.setdefault(report.nodeid.partition("[")[0], []).append(str(text))
                else:
                    where = f"{report.nodeid}: " if kind in ("undecided", "remark") else ""
                    self.add(kind, where + str(text))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """
        Read what a worker says at its end.
        """
        for text in getattr(node, "workeroutput", {}).get("autoprop_stale", ()):
            self.add("stale", text)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        """
        Print the section, if there is anything to say.
        """
        if not self.notices:
            return
        for test, texts in self.partly.items():
            self.add("partly", f"{test}: {', '.join(texts)}")
        terminalreporter.section("autoprop")
        for text in self.notices.get("environment", ()):
            tolerance = ", ".join(self.notices.get("tolerance", ()))
            seeds = ", ".join(self.notices.get("seed", ())) or str(Options.of(config).seed or 0)
            terminalreporter.write_line(
                f"{text}; tolerance derived{f' (given: {tolerance})' if tolerance else ''}, seed {seeds}"
            )
        for kind, title in KINDS.items():
            texts = self.notices.get(kind, [])
            if texts:
                terminalreporter.write_line(f"{title} ({len(texts)}):")
                for text in sorted(texts):
                    terminalreporter.write_line(f"  {text}")
