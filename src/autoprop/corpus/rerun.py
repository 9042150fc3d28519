"""Cases of users' own ``@given`` tests, run again by pytest in a process of its own."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from .record import Case

__all__ = ["rerun"]

_NOTHING_RAN = (4, 5)  # pytest's status: wrong usage, no tests collected
_QUIET = ("-q", "--no-header", "-p", "no:cacheprovider")


def rerun(case: Case, path: Path, *, timeout: float = 600.0) -> tuple[str, str]:
    """
    Run one case.

    Args:
        case: the case.
        path: its file, which says the corpus and the hash.
        timeout: seconds after which the test is given up.

    Returns:
        Its state (``open``, ``fixed``, ``undecided`` or ``stale``) and why.
    """
    item = f"{case.target}[corpus-{path.stem.rpartition('-')[2]}]"
    if importlib.util.find_spec("pytest") is None:
        return "undecided", f'pytest is not installed; with it, run: python -m pytest "{item}"'
    corpus = path.parent.parent
    found = _run(item, corpus, timeout)
    if found[0] == "stale" and case.target.count("::") > 1:
        # pytest gives methods of unittest.TestCase no items of their own: there a case is an example of its test
        whole = _run(case.target, corpus, timeout)
        return found if whole[0] == "stale" else whole
    return found


def _run(item: str, corpus: Path, timeout: float) -> tuple[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        options = [f"--junitxml={report}", f"--autoprop-corpus={corpus}", "--autoprop-no-save"]
        try:
            ran = subprocess.run(
                [sys.executable, "-m", "pytest", *_QUIET, *options, item],
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "undecided", f"the test did not end within {timeout:g} s"
        if ran.returncode in _NOTHING_RAN or not report.is_file():
            why = _complaint(ran.stdout + ran.stderr) or f"status {ran.returncode}"
            return "stale", f"pytest does not run {item}: {why}"
        return _verdict(ET.parse(report).getroot())


def _complaint(output: str) -> str:
    """
    Return the line in which pytest says what is wrong: the last that speaks of an error, else the last.
    """
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "error:" in line.lower()), lines[-1] if lines else "")


def _verdict(root: ET.Element) -> tuple[str, str]:
    for tag, state in (("error", "stale"), ("failure", "open"), ("skipped", "undecided")):
        for element in root.iter(tag):
            message = (element.get("message") or element.text or "").strip().splitlines()
            reason = message[0] if message else ""
            return ("stale", reason) if "stale case: " in reason else (state, reason)
    return "fixed", ""
