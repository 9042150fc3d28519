"""Runs written for programs: JSON lines and JUnit XML."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import attrs
import pytest

from autoprop._environment import Environment
from autoprop._errors import UsageError
from autoprop._events import Checked, Counts, Event, Finished, Found, Started
from autoprop._finding import Finding
from autoprop._point import Point
from autoprop._settings import Settings
from autoprop._verdict import Mismatch
from autoprop.report.jsonl import JsonLines
from autoprop.report.junit import JUnit

ENVIRONMENT = Environment(
    python="3.12.1", jax="0.11.2", jaxlib="0.11.2", numpy="2.5.5", hypothesis="6.170.17", autoprop="0.1.0",
    platform="Linux x86_64", device="cpu", x64=False, matmul_precision="default",
)  # fmt: skip
FINDING = Finding(
    property="jit",
    formula="jit(f)(x) = f(x)",
    target="m:f",
    point=Point((2.0, "\x00"), seed=4, family="ties"),
    mismatches=(Mismatch("value", (0,), (("jit", "1"), ("eager", "nan")), float("nan"), 0.0, "planted \x01"),),
    environment=ENVIRONMENT,
    argnames=("x", "s"),
    case="tests/corpus/x/jit-0123abcd.json",
)
COUNTS = {
    "jit": Counts(holds=5, violated=1),
    "vmap": Counts(holds=6),
    "finite": Counts(holds=6, remark="stop_gradient hides \x01"),
    "numeric": Counts(undecided=6, reasons={"overflow": 6}),
    "live": Counts(not_applicable="no leaf is live"),
}
RUN: list[Event] = [
    Started(("m:f", "m:bad"), Settings(seed=7), ENVIRONMENT),
    Found(FINDING, FINDING.case, "new"),
    Found(FINDING, FINDING.case, "fixed"),
    Checked("m:f", COUNTS, 6, 1.5, True),
    Checked("m:bad", {}, 0, 0.1, True, error="it raises"),
    Finished((FINDING,), 6, 2.0),
]


def test_each_event_is_a_line(tmp_path: Path) -> None:
    """
    The file holds one JSON object for each event, in order.
    """
    writer = JsonLines(tmp_path / "run.jsonl")
    for event in RUN:
        writer.read(event)
    writer.close()
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text("utf-8").splitlines()]
    assert [line["event"] for line in lines] == ["started", "found", "found", "checked", "checked", "finished"]
    assert lines[0]["settings"]["seed"] == 7
    assert lines[1]["state"] == "new"
    assert lines[1]["finding"]["point"] == {"source": ["x = 2.0", r"s = '\x00'"], "seed": 4, "family": "ties"}
    assert lines[1]["finding"]["mismatches"][0]["difference"] == "nan"
    assert lines[3]["counts"]["numeric"]["reasons"] == {"overflow": 6}
    assert lines[3]["counts"]["finite"]["remark"] == "stop_gradient hides \x01"
    assert lines[4]["error"] == "it raises"


def test_junit_has_a_case_for_each_law(tmp_path: Path) -> None:
    """
    A broken law is a failure, an undecided or inapplicable one is skipped, a target that cannot be searched an error.
    """
    writer = JUnit(tmp_path / "run.xml")
    for event in RUN:
        writer.read(event)
    writer.close()
    root = ET.parse(tmp_path / "run.xml").getroot()
    cases = {
        (case.get("classname"), case.get("name")): [(child.tag, child.get("message")) for child in case]
        for case in root.iter("testcase")
    }
    assert cases == {
        ("m:f", "corpus jit-0123abcd"): [],
        ("m:f", "jit"): [("failure", "jit(f)(x) = f(x) fails")],
        ("m:f", "vmap"): [],
        ("m:f", "finite"): [("system-out", None)],
        ("m:f", "numeric"): [("skipped", "decided nothing: overflow (6)")],
        ("m:f", "live"): [("skipped", "not applicable: no leaf is live")],
        ("m:bad", "search"): [("error", "it raises")],
    }
    assert [each.text for each in root.iter("system-out")] == ["stop_gradient hides \N{REPLACEMENT CHARACTER}"]
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "7",
        "failures": "1",
        "errors": "1",
        "skipped": "2",
    }


def test_files_are_written_after_an_interruption(tmp_path: Path) -> None:
    """
    A run that ends early still leaves a readable file.
    """
    writer = JUnit(tmp_path / "run.xml")
    for event in RUN[:2]:
        writer.read(event)
    writer.close()
    assert [suite.get("name") for suite in ET.parse(tmp_path / "run.xml").getroot()] == ["m:f", "m:bad"]


@pytest.mark.parametrize("kind", [JsonLines, JUnit])
def test_unwritable_file_is_refused_at_once(kind: type, tmp_path: Path) -> None:
    """
    A file that cannot be written is refused before the run.
    """
    with pytest.raises(UsageError, match="cannot be written"):
        kind(tmp_path / "missing" / "run.out")


def test_finding_that_was_replayed_as_open_is_a_failure(tmp_path: Path) -> None:
    """
    An open case is a failure of its own.
    """
    writer = JUnit(tmp_path / "run.xml")
    writer.read(Found(FINDING, FINDING.case, "open"))
    writer.read(attrs.evolve(RUN[-1], seconds=1.0))
    writer.close()
    root = ET.parse(tmp_path / "run.xml").getroot()
    assert [(case.get("name"), case[0].tag) for case in root.iter("testcase")] == [("corpus jit-0123abcd", "failure")]
