"""Stored cases, judged again."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import attrs
import jax
import jax.numpy as jnp
import pytest

import autoprop.corpus.rerun
from autoprop._environment import Environment
from autoprop._errors import UsageError
from autoprop._events import Finished, Found, Started
from autoprop._finding import Finding
from autoprop._point import Point
from autoprop._target import Target
from autoprop.corpus.record import from_arguments, from_finding
from autoprop.corpus.replay import replay
from autoprop.corpus.rerun import rerun
from autoprop.corpus.store import Store
from autoprop.properties import judge

POINT = Point((jnp.array([1.0, -2.0]),))


@jax.custom_vjp
def wrong(x: Any) -> Any:
    """
    Square and add, with a rule of the wrong sign.
    """
    return jnp.sum(x * x)


wrong.defvjp(lambda x: (jnp.sum(x * x), x), lambda x, c: (-2 * c * x,))


def sound(x: Any) -> Any:
    """
    Square and add.
    """
    return jnp.sum(x * x)


def other_arguments(x: Any, y: Any) -> Any:
    """
    Take two arguments.
    """
    return jnp.sum(x * y)


def other_shape(x: Any) -> Any:
    """
    Take three elements.
    """
    return jnp.sum(x * jnp.ones((3,)))


def saved(folder: Path, **changes: Any) -> Path:
    """
    Store the case of the wrong rule.
    """
    finding = judge(Target(wrong, POINT.primals, name="pkg.mod:f"), "numeric", POINT)
    assert isinstance(finding, Finding)
    return Store(folder).save(from_finding(finding).replace(**changes)).path


def replayed(folder: Path, fn: Any) -> Found:
    """
    Replay a corpus of one case with ``fn`` in the place of its target.
    """
    events = list(replay(folder, resolve=lambda _: Target(fn, POINT.primals)))
    assert [type(event) for event in events] == [Started, Found, Finished]
    found = events[1]
    assert isinstance(found, Found)
    return found


def test_case_is_open_while_the_law_is_violated(tmp_path: Path) -> None:
    """
    The same fault is an open case, with its file and a fresh report.
    """
    path = saved(tmp_path)
    found = replayed(tmp_path, wrong)
    assert (found.state, found.case, found.finding.case, found.finding.target) == (
        "open",
        str(path),
        str(path),
        "pkg.mod:f",
    )


def test_case_is_fixed_when_the_law_holds(tmp_path: Path) -> None:
    """
    A corrected function makes the case fixed.
    """
    saved(tmp_path)
    assert replayed(tmp_path, sound).state == "fixed"


@pytest.mark.parametrize(
    ("fn", "reason"),
    [
        (
            other_arguments,
            "the case stores 1 arguments, which pkg.mod:f does not take: missing a required argument: 'y'",
        ),
        (other_shape, "pkg.mod:f raises TypeError: mul got incompatible shapes for broadcasting: (2,), (3,)."),
    ],
)
def test_case_is_stale_when_its_arguments_do_not_fit(fn: Any, reason: str, tmp_path: Path) -> None:
    """
    A function that no longer takes the stored arguments makes the case stale.
    """
    saved(tmp_path)
    found = replayed(tmp_path, fn)
    assert (found.state, found.reason[: len(reason) - 1]) == ("stale", reason[:-1])


def test_case_is_stale_when_its_target_is_gone(tmp_path: Path) -> None:
    """
    A target that cannot be found makes the case stale, with the reason.
    """

    def resolve(_: str) -> Target:
        raise UsageError("it is gone")

    saved(tmp_path)
    found = [event for event in replay(tmp_path, resolve=resolve) if isinstance(event, Found)]
    assert [(each.state, each.reason) for each in found] == [("stale", "it is gone")]


def test_case_is_stale_when_its_law_does_not_apply(tmp_path: Path) -> None:
    """
    A law that the target's contract now excludes makes the case stale.
    """
    saved(tmp_path)
    target = Target(wrong, POINT.primals, intended=("custom_rules",))
    (found,) = (event for event in replay(tmp_path, resolve=lambda _: target) if isinstance(event, Found))
    assert (found.state, "does not apply" in found.reason) == ("stale", True)


def test_refused_file_is_stale_and_the_run_goes_on(tmp_path: Path) -> None:
    """
    A file that is no case is reported with its reason; the next one is still judged.
    """
    path = saved(tmp_path)
    path.with_name("adjoint-00000000.json").write_text("{}", encoding="utf-8")
    events = list(replay(tmp_path, resolve=lambda _: Target(wrong, POINT.primals)))
    found = [event for event in events if isinstance(event, Found)]
    assert [(each.state, each.finding.property) for each in found] == [("stale", "adjoint"), ("open", "numeric")]
    assert "autoprop_case" in found[0].reason


def test_tolerated_case_is_known(tmp_path: Path) -> None:
    """
    A case that says why it is tolerated does not count as open.
    """
    saved(tmp_path, xfail="upstream fault")
    found = replayed(tmp_path, wrong)
    assert (found.state, found.reason) == ("known", "tolerated: upstream fault")


def test_tolerated_case_that_holds_asks_for_removal(tmp_path: Path) -> None:
    """
    A tolerated case that is fixed says what to remove.
    """
    saved(tmp_path, xfail="upstream fault")
    found = replayed(tmp_path, sound)
    assert (found.state, found.reason) == ("fixed", "no longer violated: remove its xfail")


def test_case_is_judged_with_its_own_precision(tmp_path: Path) -> None:
    """
    A case found with 64-bit values on is judged with them on, at its exact arguments.
    """
    with jax.enable_x64(True):
        point = Point((jnp.array([1.0, -2.0]),))
        finding = judge(Target(wrong, point.primals, name="f"), "numeric", point)
        assert isinstance(finding, Finding)
        Store(tmp_path).save(from_finding(finding.replace(environment=Environment.current())))
    found = replayed(tmp_path, wrong)
    assert (found.state, found.finding.point.primals[0].dtype.name) == ("open", "float64")


GIVEN = """
from hypothesis import given, strategies as st

@given(st.integers())
def test_small(n):
    assert n < 5
"""


def test_given_case_of_a_test_that_is_gone_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    The case of a ``@given`` test that pytest does not find is stale.
    """
    monkeypatch.chdir(tmp_path)
    saved_path = (
        Store(tmp_path / "corpus").save(from_arguments("test_gone.py::test_f", {"n": 7}, error="AssertionError")).path
    )
    state, reason = rerun(Store(tmp_path / "corpus").load(saved_path), saved_path)
    assert (state, reason.startswith("pytest does not run test_gone.py::test_f[corpus-")) == ("stale", True)


def test_given_case_is_run_by_pytest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    The case of a ``@given`` test is open while its test fails at the stored arguments, and shows them.
    """
    monkeypatch.chdir(tmp_path)
    if not entry_points(group="pytest11", name="autoprop"):  # run from a checkout that is not installed
        monkeypatch.setenv("PYTEST_PLUGINS", "autoprop.pytest_plugin")
    Path("test_given.py").write_text(GIVEN, encoding="utf-8")
    for value in (7, 3):
        Store(tmp_path / "corpus").save(
            from_arguments("test_given.py::test_small", {"n": value}, error="AssertionError")
        )
    found = [event for event in replay(tmp_path / "corpus") if isinstance(event, Found)]
    assert {each.finding.point.primals: each.state for each in found} == {(7,): "open", (3,): "fixed"}


def test_given_case_without_pytest_tells_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Where pytest is not installed the case is undecided, and the command is told.
    """
    monkeypatch.setattr(autoprop.corpus.rerun.importlib.util, "find_spec", lambda _: None)
    path = Store(tmp_path).save(from_arguments("test_x.py::test_f", {"n": 7}, error="AssertionError")).path
    state, reason = rerun(Store(tmp_path).load(path), path)
    digest = path.stem.rpartition("-")[2]
    assert state == "undecided"
    assert reason == f'pytest is not installed; with it, run: python -m pytest "test_x.py::test_f[corpus-{digest}]"'


def test_environment_of_a_finding_is_kept(tmp_path: Path) -> None:
    """
    A fixed case still tells where it was found.
    """
    environment = attrs.evolve(Environment.current(), jax="0.0.1")
    saved(tmp_path, environment=environment)
    assert replayed(tmp_path, sound).finding.environment == environment
