"""Compiled programs are given back before the system has no room for more."""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import pytest

from autoprop._compile import relieve


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
