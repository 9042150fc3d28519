"""The benchmark of speed: how its records are kept and shown."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = str(Path(__file__).parents[1] / "benchmarks")
HERE, ELSEWHERE = {"python": "3.12"}, {"python": "3.13"}


@pytest.fixture
def speed_page(monkeypatch: pytest.MonkeyPatch) -> Any:
    """
    Return the module that shows the records.
    """
    monkeypatch.syspath_prepend(FOLDER)
    sys.modules.pop("speed_page", None)
    return importlib.import_module("speed_page")


def rate(points: int, contender: str = "autoprop") -> dict[str, Any]:
    """
    Return a record of the small function.
    """
    names = {"kind": "rate", "work": "small", "contender": contender, "limit": 2.0}
    return names | {"points": points, "seconds": 2.0, "programs": 7, "memory": 300.0, "accused": 0}


def first(work: str, contender: str, found: str | None, seconds: float) -> dict[str, Any]:
    """
    Return a record of a fault.
    """
    return {"kind": "first", "work": work, "contender": contender, "found": found, "seconds": seconds, "limit": 20.0}


def book(speed_page: Any, *records: dict[str, Any]) -> Any:
    """
    Return the file that holds these records.
    """
    data: Any = {}
    for number, record in enumerate(records):
        data = speed_page.merged(data, str(number), record, HERE)
    return data


def test_records_are_merged(speed_page: Any) -> None:
    """A record replaces the one of the same key, and says in which environment it was made."""
    data = book(speed_page, rate(100), rate(200))
    data = speed_page.merged(data, "0", rate(400), ELSEWHERE)
    assert data["environments"] == [HERE, ELSEWHERE]
    assert [(key, one["points"], one["environment"]) for key, one in data["records"].items()] == [
        ("0", 400, 1),
        ("1", 200, 0),
    ]


def test_the_median_leaves_failures_out(speed_page: Any) -> None:
    """Repeats give their median; a measurement that failed gives none."""
    failed = {"kind": "rate", "work": "small", "contender": "chex", "limit": 2.0, "error": "not ready after 9 s"}
    data = book(speed_page, rate(100), rate(200), rate(900), failed)
    assert speed_page.medians(data, "rate", "rate") == {("small", "autoprop"): 100.0}


def test_the_page_has_every_row(speed_page: Any) -> None:
    """Contenders stand in their order, with a dash and the reason where there is no figure."""
    failed = {"kind": "rate", "work": "small", "contender": "chex", "limit": 2.0, "error": "not ready after 9 s"}
    text = speed_page.page(book(speed_page, rate(5000), rate(10, "check_grads"), failed))
    rows = [line for line in text.splitlines() if line.startswith("| small")]
    assert rows == [
        "| small | Hypothesis + check_grads | 5 | 10 | 7 | 300 | 0 |",
        "| small | Hypothesis + chex | – | – | – | – | – |",
        "| small | autoprop, 3 laws | 2,500 | 5,000 | 7 | 300 | 0 |",
    ]
    assert "- `2`: not ready after 9 s" in text


def test_an_accused_sound_version_is_no_finding(speed_page: Any) -> None:
    """The ratio is that of faults which both find; an accusation of the sound version takes the finding away."""
    records = [
        *[first("a", "autoprop all", "numeric", 2.0), first("a", "check_grads", "wrong", 6.0)],
        *[first("b", "autoprop all", "finite", 1.0), first("b", "check_grads", "wrong", 9.0)],
        first("b:fixed", "check_grads", "wrong", 9.0),
        *[first("c", "autoprop all", "finite", 3.0), first("c", "check_grads", None, 20.0)],
    ]
    lines = speed_page.zoo_lines(book(speed_page, *records))
    assert lines[0] == "- autoprop, all laws: 3 of 3 faults found, median 2.00 s"
    assert lines[1] == "- Hypothesis + check_grads: 1 of 3 faults found, median 6.00 s"
    assert "of the 1 that both find: median 2.00 s against 6.00 s; autoprop is 3.00 times as fast" in lines[-1]
