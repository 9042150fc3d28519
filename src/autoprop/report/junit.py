"""A run as JUnit XML, for continuous integration: one suite per target, one test case per law."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from autoprop._errors import UsageError
from autoprop._events import Counts, Event, Found, Started

from .summary import Summary, outcome

__all__ = ["JUnit"]

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _text(value: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", value)


class JUnit:
    """
    Writes the file when the run is over.
    """

    def __init__(self, path: Path) -> None:
        if not path.parent.is_dir() or path.is_dir():
            raise UsageError(f"--junit={path} cannot be written: {path.parent} must be a folder and {path.name} a file")
        self._path = path
        self._summary = Summary()
        self._properties: dict[str, str] = {}

    def read(self, event: Event) -> None:
        """
        Take the next event.
        """
        self._summary.read(event)
        if isinstance(event, Started):
            self._properties["environment"] = str(event.environment)
            if event.settings is not None:
                self._properties |= {"seed": str(event.settings.seed), "epoch": str(event.settings.epoch)}

    def close(self) -> None:
        """
        Write the file.
        """
        root = ET.Element("testsuites", name="autoprop", time=f"{self._summary.seconds:.3f}")
        names = dict.fromkeys([*self._summary.targets, *(each.finding.target for each in self._summary.found)])
        for name in names:
            self._suite(root, name)
        for count in ("tests", "failures", "errors", "skipped"):
            root.set(count, str(sum(int(suite.get(count, 0)) for suite in root)))
        ET.indent(root)
        ET.ElementTree(root).write(self._path, encoding="utf-8", xml_declaration=True)

    def _suite(self, root: ET.Element, name: str) -> None:
        row = self._summary.rows.get(name)
        suite = ET.SubElement(root, "testsuite", name=_text(name), time=f"{row.seconds if row else 0:.3f}")
        properties = ET.SubElement(suite, "properties")
        for key, value in self._properties.items():
            ET.SubElement(properties, "property", name=key, value=_text(value))
        found = [each for each in self._summary.found if each.finding.target == name]
        for each in found:
            if each.state not in ("new", "known"):
                _replayed(suite, name, each)
        for law, counts in (row.counts if row else {}).items():
            fresh = [each for each in found if each.finding.property == law and each.state in ("new", "known")]
            _law(suite, name, law, counts, fresh)
        if row is not None and row.error:
            case = ET.SubElement(suite, "testcase", classname=_text(name), name="search")
            ET.SubElement(case, "error", message=_text(row.error))
        for count, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(count, str(sum(1 for _ in suite.iter(tag))))


def _law(suite: ET.Element, name: str, law: str, counts: Counts, found: list[Found]) -> None:
    case = ET.SubElement(suite, "testcase", classname=_text(name), name=law)
    state = outcome(counts)
    for each in found:
        failure = ET.SubElement(case, "failure", message=_text(f"{each.finding.formula} fails"), type=law)
        failure.text = _text(str(each.finding))
    if state == "violated" and not found:
        ET.SubElement(case, "failure", message=f"violated at {counts.violated} points", type=law)
    elif state == "not applicable":
        ET.SubElement(case, "skipped", message=_text(f"not applicable: {counts.not_applicable}"))
    elif state == "held" and counts.remark:
        ET.SubElement(case, "system-out").text = _text(counts.remark)
    elif state == "undecided" and not found:
        reasons = "; ".join(f"{reason} ({points})" for reason, points in counts.reasons.items())
        ET.SubElement(case, "skipped", message=_text(f"decided nothing: {reasons or 'no point was judged'}"))


def _replayed(suite: ET.Element, name: str, each: Found) -> None:
    stem = Path(each.case or each.finding.property).stem
    case = ET.SubElement(suite, "testcase", classname=_text(name), name=f"corpus {stem}")
    if each.state in ("open", "stale"):
        failure = ET.SubElement(
            case, "failure", message=_text(f"{each.state}: {each.reason}"), type=each.finding.property
        )
        failure.text = _text(str(each.finding))
    elif each.state == "undecided":
        ET.SubElement(case, "skipped", message=_text(each.reason))
