"""The events of a campaign."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest

from autoprop._discover import Discovered
from autoprop._environment import Environment
from autoprop._errors import UsageError
from autoprop._events import Checked, Counts, Event, Finished, Found, Started
from autoprop._finding import Finding
from autoprop._point import Point
from autoprop._settings import Settings
from autoprop._target import Target
from autoprop._verdict import Mismatch
from autoprop.campaign import Plan, run
from autoprop.campaign.plan import share
from autoprop.campaign.tally import Tally
from autoprop.corpus.record import from_finding
from autoprop.corpus.store import Store


def double(x: Any) -> Any:
    """
    Return a sound function's value.
    """
    return 2.0 * x


TARGET = Discovered("m:double", Target(double, (1.0,)), "m")


def finding(law: str = "jit", leaf: str = "value", target: str = "double") -> Finding:
    """
    Return a finding, as a search yields it.
    """
    return Finding(
        property=law,
        formula="jit(f)(x) = f(x)",
        target=target,
        point=Point((jnp.float32(3.0),)),
        mismatches=(Mismatch(leaf, (), (("jit", "1"), ("eager", "2")), 1.0, 0.0, "planted"),),
        environment=Environment.current(),
        argnames=("x",),
    )


class Search:
    """
    A search that finds ``laws`` broken, and records how it was called.
    """

    def __init__(self, *laws: str, seconds: float = 0.0) -> None:
        self.laws = laws
        self.seconds = seconds
        self.calls: list[tuple[Settings, tuple[str, ...] | None]] = []

    def __call__(self, target: Target, settings: Settings, *, properties: tuple[str, ...] | None) -> Iterator[Event]:
        """
        Yield the events of one search.
        """
        self.calls.append((settings, properties))
        time.sleep(self.seconds)
        counts = {law: Counts(holds=3) for law in ("jit", "vmap") if properties is None or law in properties}
        counts |= {"live": Counts(not_applicable="no leaf is live")} if properties is None else {}
        yield Checked(target.name, counts, points=3, seconds=1.0, done=False)
        for law in self.laws:
            if law in counts:
                counts[law] = Counts(holds=2, violated=1)
                yield Found(finding(law))
        yield Checked(target.name, counts, points=4, seconds=1.5, done=True)


def events(folder: Path, search: Any, **options: Any) -> list[Event]:
    """
    Return the events of a campaign over the target.
    """
    return list(run(Plan(targets=options.pop("targets", (TARGET,)), store=Store(folder), **options), explore=search))


def of(kind: type, found: list[Event]) -> list[Any]:
    """
    Return the events of one kind.
    """
    return [event for event in found if isinstance(event, kind)]


def test_sound_target_is_searched_once(tmp_path: Path) -> None:
    """
    Without a budget each target is searched once, with the settings of the plan; the events use its id.
    """
    search = Search()
    settings = Settings(seed=3, rows=7)
    found = events(tmp_path, search, settings=settings)
    assert [type(event) for event in found] == [Started, Checked, Checked, Checked, Finished]
    assert [(each.target, each.points, each.done) for each in of(Checked, found)] == [
        ("m:double", 3, False),
        ("m:double", 4, False),
        ("m:double", 4, True),
    ]
    assert search.calls == [(settings, None)]


def test_finding_is_saved_under_the_targets_id(tmp_path: Path) -> None:
    """
    A finding is new, is stored, and names its file.
    """
    (found,) = of(Found, events(tmp_path, Search("jit")))
    (path,) = Store(tmp_path).cases("m:double")
    assert (found.state, found.case, found.finding.case, found.finding.target) == (
        "new",
        path.as_posix(),
        path.as_posix(),
        "m:double",
    )


def test_finding_is_not_saved_if_saving_is_off(tmp_path: Path) -> None:
    """
    With saving off nothing is written, and the event says so.
    """
    (found,) = of(Found, events(tmp_path, Search("jit"), save=False))
    assert (found.case, found.reason, Store(tmp_path).cases()) == (None, "saving is off", [])


def test_finding_that_cannot_be_stored_says_why(tmp_path: Path) -> None:
    """
    A corpus that cannot be written costs the case, not the finding.
    """
    (tmp_path / "m-double").mkdir()
    for path in [*tmp_path.iterdir()]:
        path.rmdir()
    blocked = tmp_path / "corpus"
    Store(blocked).save(from_finding(finding(target="m:double", law="vmap")))
    (folder,) = blocked.iterdir()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.write_text("a file in the place of the folder", encoding="utf-8")
    (found,) = of(Found, events(blocked, Search("jit")))
    assert (found.state, found.case, found.reason.startswith("could not be saved: ")) == ("new", None, True)


def test_stored_case_is_judged_first(tmp_path: Path) -> None:
    """
    The targets' own cases are judged again before the search; those of other targets are not.
    """
    for target in ("m:double", "m:other"):
        Store(tmp_path).save(from_finding(finding(target=target)))
    found = events(tmp_path, Search())
    assert isinstance(found[1], Found)
    assert [(each.state, each.finding.target) for each in of(Found, found)] == [("fixed", "m:double")]


def test_known_finding_is_not_saved_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    A finding with the target, law and leaf of an open case is known: it has that case, and no other file appears.
    """
    stored = finding(target="m:double").replace(point=Point((jnp.float32(99.0),)))
    path = Store(tmp_path).save(from_finding(stored)).path
    monkeypatch.setattr("autoprop.properties.judge", lambda *_: stored)
    found = events(tmp_path, Search("jit", "vmap"))
    assert [(each.state, each.finding.property) for each in of(Found, found)] == [
        ("open", "jit"),
        ("known", "jit"),
        ("new", "vmap"),
    ]
    assert of(Found, found)[1].case == str(path)
    assert len(Store(tmp_path).cases()) == 2
    assert [each.property for each in found[-1].findings] == ["jit", "vmap"]


def test_target_that_raises_is_an_error_and_the_run_goes_on(tmp_path: Path) -> None:
    """
    What a search raises becomes the target's error; the next target is searched.
    """
    sound = Search()

    def search(target: Target, settings: Settings, **options: Any) -> Iterator[Event]:
        if target.name == "bad":
            raise UsageError("no input is accepted")
        if target.name == "worse":
            raise ZeroDivisionError("1 / 0")
        yield from sound(target, settings, **options)

    others = [Discovered(f"m:{name}", Target(double, (1.0,), name=name), "m") for name in ("bad", "worse")]
    found = events(tmp_path, search, targets=(*others, TARGET))
    assert {each.target: each.error for each in of(Checked, found) if each.done} == {
        "m:bad": "no input is accepted",
        "m:worse": "the search stopped with ZeroDivisionError: 1 / 0",
        "m:double": None,
    }
    assert found[-1].errors == (
        "m:bad: no input is accepted",
        "m:worse: the search stopped with ZeroDivisionError: 1 / 0",
    )


def test_time_is_used_by_further_epochs(tmp_path: Path) -> None:
    """
    With a budget the targets are searched in rounds, one epoch further each time, until it is used; counts add up.
    """
    search = Search(seconds=0.3)
    found = events(tmp_path, search, seconds=1.4, settings=Settings(epoch=5))
    assert [settings.epoch for settings, _ in search.calls] == [5, 6, 7, 8][: len(search.calls)]
    assert len(search.calls) >= 2
    assert all(settings.examples is None and settings.seconds <= 1.4 for settings, _ in search.calls)
    last = of(Checked, found)[-1]
    assert (last.points, last.counts["jit"].holds, last.done) == (4 * len(search.calls), 3 * len(search.calls), True)
    assert last.counts["live"].not_applicable == "no leaf is live"


def test_broken_law_is_left_out_of_later_rounds(tmp_path: Path) -> None:
    """
    Once a law is found broken, later rounds run the other laws that apply.
    """
    search = Search("jit", seconds=0.3)
    events(tmp_path, search, seconds=1.0)
    assert [laws for _, laws in search.calls][:2] == [None, ("vmap",)]


def test_campaign_ends_early_if_nothing_is_left(tmp_path: Path) -> None:
    """
    When every law of every target is broken the rest of the budget is not waited for.
    """
    search = Search("jit", "vmap")
    began = time.monotonic()
    events(tmp_path, search, seconds=60.0)
    assert (len(search.calls), time.monotonic() - began < 30.0) == (1, True)


def test_laws_that_are_asked_for_are_run(tmp_path: Path) -> None:
    """
    The plan's laws are handed to the search.
    """
    search = Search()
    events(tmp_path, search, properties=("vmap",))
    assert [laws for _, laws in search.calls] == [("vmap",)]


def test_target_keeps_to_its_own_laws(tmp_path: Path) -> None:
    """
    Of the laws asked for only those of the target's contract are run; where none is left, they do not apply.
    """
    search = Search()
    own = Discovered("m:own", Target(double, (1.0,), properties=("vmap",)), "m")
    events(tmp_path, search, targets=(own,), properties=("jit", "vmap"))
    assert [laws for _, laws in search.calls] == [("vmap",)]
    (last,) = of(Checked, events(tmp_path, search, targets=(own,), properties=("jit",)))
    assert (len(search.calls), last.counts["jit"].not_applicable) == (1, "the target asks for other laws")


@pytest.mark.parametrize(("left", "waiting", "expected"), [(30.0, 3, 10.0), (3600.0, 2, 60.0), (0.6, 3, 0.5)])
def test_time_is_shared_evenly(left: float, waiting: int, expected: float) -> None:
    """
    Each target that waits gets an even part of the time that is left, within bounds.
    """
    assert share(left, waiting) == expected


def test_first_remark_is_kept() -> None:
    """
    Of the remarks of several searches of a target the first is told.
    """
    tally = Tally(TARGET)
    for remark in ("", "hides one", "hides another"):
        counts = {"finite": Counts(holds=1, remark=remark)}
        tally.keep(Checked("m:double", counts, points=1, seconds=1.0, done=True))
    assert tally.checked(done=True).counts["finite"] == Counts(holds=3, remark="hides one")
