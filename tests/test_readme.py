"""README.md: its programs run, its output is real, and its commands are the ones that CI runs."""

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from autoprop.cli import main

TEXT = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """
    Return the fenced blocks of a language, in order.
    """
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


UNIT, IN_PYTEST, IN_HYPOTHESIS = blocks("python")


def run(block: str) -> dict[str, Any]:
    """
    Run a block as a module and return its names.
    """
    names: dict[str, Any] = {"__name__": "readme"}
    exec(compile(block, "README.md", "exec"), names)
    return names


def test_pytest_door() -> None:
    """The program for pytest makes two tests, each of which carries its target."""
    names = run(IN_PYTEST)
    assert [names[test].__autoprop_target__.fn.__name__ for test in ("test_mse", "test_entropy")] == [
        "mse",
        "test_entropy",
    ]


def test_hypothesis_door() -> None:
    """The test for Hypothesis passes."""
    assert run(IN_HYPOTHESIS)["test_softplus"]() is None


@pytest.mark.slow
def test_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searching the first program prints what the README shows, line by line."""
    (tmp_path / "unit.py").write_text(UNIT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    printed = CliRunner(env={"COLUMNS": "100"}).invoke(main, ["fuzz", "unit.py"]).output.splitlines()
    command, *shown = blocks("text")[0].splitlines()
    assert (command, [line for line in shown if line not in printed]) == ("$ autoprop fuzz unit.py", [])


def test_commands() -> None:
    """There are two blocks of commands: the first runs the main job, the second the tests."""
    last = [block.splitlines()[-1].partition(" --")[0] for block in blocks("sh")]
    assert last == [".venv/bin/autoprop fuzz examples/", '.venv/bin/pytest -n 2 -m "not slow"']


def test_commands_start_afresh() -> None:
    """Both blocks begin with an environment of their own."""
    assert [block.splitlines()[0] for block in blocks("sh")] == ["python3 -m venv .venv"] * 2
