"""Users' own laws: the worked example of the documentation, run as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest
from click.testing import CliRunner

import autoprop
from autoprop import Holds, UsageError
from autoprop.properties import LAWS

PAGE = Path(__file__).parents[1] / "docs" / "own_laws.md"
BLOCKS = dict(re.findall(r"```python\n# (\S+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))


@pytest.fixture
def restored() -> Iterator[None]:
    """
    The table of laws as it was.
    """
    before = dict(LAWS)
    yield
    LAWS.clear()
    LAWS.update(before)


@pytest.mark.slow
def test_worked_example(pytester: pytest.Pytester) -> None:
    """The law of the page is an item like the others, and accuses the loss that it should."""
    pytester.mkpydir("mylib").joinpath("laws.py").write_text(BLOCKS["mylib/laws.py"], encoding="utf-8")
    pytester.path.joinpath("test_losses.py").write_text(BLOCKS["test_losses.py"], encoding="utf-8")
    pytester.syspathinsert()
    result = pytester.runpytest_subprocess("-v", "-p", "no:cacheprovider", "--autoprop-profile=dev")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*test_regularised?shift? FAILED*"])
    result.stdout.fnmatch_lines(["*shift: f(logits + 1) = f(logits) fails for regularised*"])


@pytest.mark.usefixtures("restored")
def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module of the targets defines the law, and `fuzz` judges it."""
    monkeypatch.chdir(tmp_path)
    source = BLOCKS["mylib/laws.py"] + "\n" + BLOCKS["test_losses.py"].replace("import mylib.laws", "")
    source = re.sub(r"test_\w+ = .*", "", source) + "\nTARGETS = [autoprop.Target(regularised, LOGITS)]\n"
    tmp_path.joinpath("own_law_targets.py").write_text(source, encoding="utf-8")
    from autoprop.cli import main

    result = CliRunner().invoke(
        main, ["fuzz", "own_law_targets.py", "--property", "shift", "--time", "5s", "--corpus", "c"]
    )
    assert result.exit_code == 1, result.output
    assert "f(logits + 1) = f(logits) fails" in result.output


@pytest.mark.usefixtures("restored")
def test_defined_twice() -> None:
    """A name that is taken is refused; the same definition may be imported again."""

    def define(module: str) -> Any:
        def numeric(subject: Any, point: Any) -> Any:
            """
            X = x
            """
            return Holds()

        numeric.__module__ = module
        return autoprop.law("mine")(numeric)

    with pytest.raises(UsageError, match=r"law 'numeric' is already defined in autoprop\.properties\.numeric"):
        define("mine")
    del LAWS["numeric"]
    define("mine")
    assert define("mine")(lambda x: jnp.sum(x), jnp.ones(2)) == Holds()
