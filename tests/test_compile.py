"""Compiled programs are given back before the system has no room for more."""

from __future__ import annotations

import threading
from pathlib import Path

import jax
import numpy as np
import pytest

from autoprop import Target, search
from autoprop._compile import Program, begin, relieve
from hypothesis_jax import like

MOST = 85  # programs of a default search of a small function of one signature


@pytest.mark.parametrize(("limit", "expected"), [("10\n", False), ("9\n", True), ("none", False)])
def test_programs_are_given_back(tmp_path: Path, limit: str, expected: bool) -> None:
    """Above half of the limit every jitted function is compiled anew at its next call; below, none is."""
    (tmp_path / "self").mkdir()
    (tmp_path / "self/maps").write_text("a map\n" * 5)
    (tmp_path / "sys/vm").mkdir(parents=True)
    (tmp_path / "sys/vm/max_map_count").write_text(limit)
    traced: list[int] = []
    program = jax.jit(lambda x: (traced.append(1), 2 * x)[1])
    program(np.ones(2, np.float32))
    assert relieve(tmp_path) is expected
    assert program(np.ones(2, np.float32))[0] == 2
    assert len(traced) == 1 + expected


def test_other_systems(tmp_path: Path) -> None:
    """Where there is no such file nothing is done."""
    assert not relieve(tmp_path)


def test_ahead(monkeypatch: pytest.MonkeyPatch, programs: list[str]) -> None:
    """What is compiled ahead is traced once, in the thread of the caller, and not compiled again by the call."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    traced: list[str] = []
    program = Program(lambda x: (traced.append(threading.current_thread().name), 3 * x)[1])
    program.ahead(np.ones(5, np.float32))
    found = np.asarray(program(np.ones(5, np.float32)))
    assert found.tolist() == [3] * 5
    assert traced == [threading.current_thread().name]
    assert len(programs) == 1


def test_ahead_on_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one core nothing would be gained: nothing is traced before the call."""
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    traced: list[int] = []
    Program(lambda x: (traced.append(1), x)[1]).ahead(np.ones(2, np.float32))
    assert not traced


def test_what_raises_ahead_raises_in_the_call() -> None:
    """The call tells what is wrong."""

    def refuses(x: jax.Array) -> jax.Array:
        raise ValueError(f"no {x.shape}")

    program = Program(refuses)
    program.ahead(np.ones(2, np.float32))
    with pytest.raises(ValueError, match=r"no \(2,\)"):
        program(np.ones(2, np.float32))


def test_work_is_begun() -> None:
    """Work stops at its first program that was not run before; work without one is done."""
    program, after = Program(lambda x: x + 1), []

    def work() -> str:
        program(np.ones(3, np.float32))
        after.append("run")
        return "done"

    assert begin(work) is None
    assert begin(work) is None
    assert after == []
    assert work() == "done"
    assert begin(work) == "done"
    assert begin(lambda: 1 / 0) is None


def test_few_programs(programs: list[str]) -> None:
    """A default search of a small function compiles few programs: numbers are stacked and moved on the host."""
    outcome = search(Target(lambda x, w: (x * w).sum(), like(np.ones(7, np.float32), np.ones(7, np.float32))))
    assert outcome.points >= 2000
    assert len(programs) < MOST
