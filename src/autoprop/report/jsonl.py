"""The events of a run as JSON lines, for programs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import IO, Any

import attrs

from autoprop._errors import UsageError
from autoprop._events import Event, Found
from autoprop._finding import Finding
from autoprop._source import assignments

__all__ = ["JsonLines", "as_data"]


def _finding(finding: Finding) -> dict[str, Any]:
    names = ("property", "formula", "target", "cause", "notes", "case")
    return {name: getattr(finding, name) for name in names} | {
        "mismatches": [attrs.asdict(mismatch) for mismatch in finding.mismatches],
        "point": {
            "source": assignments(finding.argnames, finding.point.primals),
            "seed": finding.point.seed,
            "family": finding.point.family,
        },
        "environment": attrs.asdict(finding.environment),
    }


def _plain(value: Any) -> Any:
    """
    Replace what JSON has no word for: NaN and infinities become text.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def as_data(event: Event) -> dict[str, Any]:
    """
    Return an event as JSON-able data; ``event`` is its name in lower case.
    """
    kind = {"event": type(event).__name__.lower()}
    if isinstance(event, Found):
        fields = {"state": event.state, "reason": event.reason, "case": event.case, "finding": _finding(event.finding)}
    else:
        fields = attrs.asdict(event, filter=lambda attribute, _: attribute.name != "findings")
    data: dict[str, Any] = _plain(kind | fields)
    return data


class JsonLines:
    """
    Writes each event to a file as it happens.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file: IO[str] = path.open("w", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"--json={path} cannot be written: {error.strerror or error}") from None

    def read(self, event: Event) -> None:
        """
        Write one line.
        """
        json.dump(as_data(event), self._file, ensure_ascii=False)
        self._file.write("\n")
        self._file.flush()

    def close(self) -> None:
        """
        Close the file.
        """
        self._file.close()
