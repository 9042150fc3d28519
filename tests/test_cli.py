"""The command line: its words, what it prints, its exit statuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from autoprop._errors import UsageError
from autoprop._events import Checked, Counts, Event, Found
from autoprop._finding import Finding
from autoprop._point import Point
from autoprop._settings import Settings
from autoprop._target import Target
from autoprop.cli import main, seconds
from autoprop.corpus.record import from_finding
from autoprop.corpus.store import Store
from autoprop.properties import judge

TARGETS = """
import jax
import jax.numpy as jnp
from autoprop import Target

@jax.custom_vjp
def wrong(x):
    return jnp.sum(x * x)

wrong.defvjp(lambda x: (jnp.sum(x * x), x), lambda x, c: (-2 * c * x,))

def sound(x):
    return jnp.sum(x * x)

def bad(x):
    raise ValueError("no")

X = (jnp.array([1.0, -2.0]),)
TARGETS = [Target(each, X) for each in (wrong, sound, bad)]
"""


def explore(target: Target, settings: Settings, *, properties: tuple[str, ...] | None = None) -> Iterator[Event]:
    """
    Judge the law `numeric` at one point, in the place of a search.
    """
    if target.name == "bad":
        raise UsageError("the function raises on every input")
    if target.name == "mute":
        yield Checked(target.name, {"numeric": Counts(undecided=1, reasons={"overflow": 1})}, 1, 0.1, True)
        return
    if target.name == "stop":
        raise KeyboardInterrupt
    point = Point(target.args, settings.seed)
    verdict = judge(target, "numeric", point)
    if isinstance(verdict, Finding):
        yield Found(verdict)
    broken = isinstance(verdict, Finding)
    yield Checked(target.name, {"numeric": Counts(holds=int(not broken), violated=int(broken))}, 1, 0.1, True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """
    Make a working directory with a file of targets.
    """
    (tmp_path / "cli_targets.py").write_text(TARGETS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    yield tmp_path
    sys.modules.pop("cli_targets", None)


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """
    Let searches in the working directory judge one point.
    """
    fake = types.ModuleType("autoprop._search")
    fake.explore = explore  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "autoprop._search", fake)
    return folder


def call(*words: str) -> Result:
    """
    Run the command.
    """
    return CliRunner().invoke(main, words, catch_exceptions=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90", 90),
        ("90s", 90),
        ("10m", 600),
        ("1h30m", 5400),
        ("1h", 3600),
        ("0.5", 0.5),
        ("1h1m1s", 3661),
        ("1.5h", 5400),
    ],
)
def test_durations_are_read(text: str, expected: float) -> None:
    """
    Seconds, minutes and hours are read, alone or together.
    """
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "ten", "0", "0m", "-5", "5d", "10m1h"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    """
    Anything else is refused with examples.
    """
    with pytest.raises(UsageError, match="must be a duration above zero, such as 90, 90s, 10m or 1h30m"):
        seconds(text)


def test_fuzz_exits_0_if_nothing_is_found(here: Path) -> None:
    """
    A sound target: status 0, no file.
    """
    result = call("fuzz", "cli_targets.py:sound")
    assert (result.exit_code, Store("tests/corpus").cases()) == (0, [])
    assert "0 findings, 1 target, 1 point" in result.output


def test_fuzz_exits_1_with_a_finding(here: Path) -> None:
    """
    A wrong rule: status 1, the whole report with the saved case and its command.
    """
    result = call("fuzz", "cli_targets.py:wrong")
    (path,) = Store("tests/corpus").cases("cli_targets.py:wrong")
    assert result.exit_code == 1
    assert "fails for cli_targets.py:wrong\n" in result.output
    assert f"  saved as {path.as_posix()}\n  replay: autoprop replay {path.stem[-8:]}\n" in result.output


def test_second_fuzz_knows_the_finding(here: Path) -> None:
    """
    The stored case is judged first and is open; the search's finding is known and not saved again; status 1.
    """
    call("fuzz", "cli_targets.py:wrong")
    result = call("fuzz", "cli_targets.py:wrong", "--seed", "1")
    assert (result.exit_code, len(Store("tests/corpus").cases())) == (1, 1)
    assert "0 new findings, 1 open, 1 known" in result.output


def test_fuzz_saves_nothing_if_told_so(here: Path) -> None:
    """
    With --no-save the finding is shown and not stored.
    """
    result = call("fuzz", "cli_targets.py:wrong", "--no-save")
    assert (result.exit_code, Store("tests/corpus").cases()) == (1, [])
    assert "not saved: saving is off" in result.output


def test_fuzz_exits_2_if_a_target_cannot_be_searched(here: Path) -> None:
    """
    A target that raises everywhere is an error row; the status is 2 though another one is sound.
    """
    result = call("fuzz", "cli_targets.py:bad", "cli_targets.py:sound")
    assert result.exit_code == 2
    assert "error: cli_targets.py:bad: the function raises on every input" in result.output


def test_fuzz_goes_on_after_an_error(here: Path) -> None:
    """
    An error does not hide a finding: status 1.
    """
    assert call("fuzz", "cli_targets.py:bad", "cli_targets.py:wrong").exit_code == 1


def test_fuzz_exits_3_if_nothing_is_decided(here: Path) -> None:
    """
    Laws that could not be judged are no success: status 3, with the reason.
    """
    Path("cli_targets.py").write_text(TARGETS + "TARGETS.append(Target(sound, X, name='mute'))\n", encoding="utf-8")
    result = call("fuzz", "cli_targets.py:mute")
    assert result.exit_code == 3
    assert "nothing was decided" in result.output
    assert "overflow" in result.output


def test_interrupted_fuzz_keeps_what_was_found(here: Path) -> None:
    """
    After an interruption the closing table is shown; the status is 1 with a finding, 130 without.
    """
    Path("cli_targets.py").write_text(TARGETS + "TARGETS.append(Target(sound, X, name='stop'))\n", encoding="utf-8")
    result = call("fuzz", "cli_targets.py:wrong", "cli_targets.py:stop", "cli_targets.py:sound", "--json", "run.jsonl")
    assert result.exit_code == 1
    assert "interrupted" in result.output
    assert "not reached" in result.output
    last = json.loads(Path("run.jsonl").read_text("utf-8").splitlines()[-1])
    assert (last["event"], last["errors"]) == ("finished", ["interrupted"])
    assert call("fuzz", "cli_targets.py:stop").exit_code == 130


def test_fuzz_writes_files(here: Path) -> None:
    """
    --json and --junit write the run.
    """
    call("fuzz", "cli_targets.py:sound", "--json", "run.jsonl", "--junit", "run.xml", "--rows", "4", "--epoch", "2")
    started = json.loads(Path("run.jsonl").read_text("utf-8").splitlines()[0])
    assert (started["settings"]["rows"], started["settings"]["epoch"]) == (4, 2)
    assert 'tests="1"' in Path("run.xml").read_text("utf-8")


SEARCHED = """
from hypothesis_jax import array

TARGETS = [Target(each, array(""), properties=("numeric",)) for each in (wrong, sound)]
"""


def test_real_search_finds_keeps_and_replays(folder: Path) -> None:
    """
    A real search accuses the wrong rule and not the sound one, and its case is open afterwards.
    """
    Path("cli_targets.py").write_text(TARGETS + SEARCHED, encoding="utf-8")
    result = call("fuzz", "cli_targets.py", "--rows", "16")
    assert result.exit_code == 1
    assert [path.stem[:8] for path in Store("tests/corpus").cases()] == ["numeric-"]
    assert [path.stem[:8] for path in Store("tests/corpus").cases("cli_targets.py:wrong")] == ["numeric-"]
    assert call("replay").output.splitlines()[-1].startswith("1 open, ")


HIDING = """
import jax
import jax.numpy as jnp
from autoprop import Target
from hypothesis_jax import array

def weighted(x):
    return jnp.sum(x**2) * jax.lax.stop_gradient(jnp.sqrt(jnp.sum(x**2)))

TARGETS = [Target(weighted, array("n"), properties=("finite",), intended="stop_gradient")]
"""


def test_programs_are_kept(folder: Path) -> None:
    """The folder holds what was compiled; the second run writes nothing more, and JAX's options are as before."""
    import jax

    Path("cli_targets.py").write_text(TARGETS + SEARCHED, encoding="utf-8")
    words = ["fuzz", "cli_targets.py", "--rows", "16", "--no-save", "--programs", "programs"]

    def kept() -> list[Path]:
        return sorted(path for path in (folder / "programs").rglob("*") if path.name.endswith("-cache"))

    call(*words)
    first = kept()
    assert first
    jax.clear_caches()
    call(*words)
    assert kept() == first
    assert jax.config.jax_compilation_cache_dir is None


def test_real_search_remarks(folder: Path) -> None:
    """
    What a stop hides is told at the end and in the files, once; the run exits with 0.
    """
    Path("cli_targets.py").write_text(HIDING, encoding="utf-8")
    result = call("fuzz", "cli_targets.py", "--rows", "64", "--json", "run.jsonl")
    text = " ".join(result.output.split())
    assert result.exit_code == 0
    assert text.count("hides a derivative that is not finite") == 1
    assert "remarks: finite for cli_targets.py:weighted: stop_gradient (" in text
    last = json.loads(Path("run.jsonl").read_text("utf-8").splitlines()[-2])
    assert f"{folder / 'cli_targets.py'}:8)" in last["counts"]["finite"]["remark"]


USAGE = {
    ("fuzz",): "Missing argument",
    ("fuzz", "missing.py"): "no file is called 'missing.py'",
    ("fuzz", "cli_targets.py", "--time", "soon"): "must be a duration above zero",
    ("fuzz", "cli_targets.py", "--property", "adjiont"): "did you mean adjoint",
    ("fuzz", "cli_targets.py", "--json", "no/run.jsonl"): "cannot be written",
    ("replay",): "tests/corpus holds no case; give the folder of the corpus as --corpus=DIR",
    ("replay", "1f3a9c02"): "no case has the id '1f3a9c02'",
    ("laws", "adjiont"): "did you mean adjoint",
    ("dance",): "No such command",
}


@pytest.mark.parametrize("words", USAGE)
def test_wrong_calls_exit_2(words: tuple[str, ...], here: Path) -> None:
    """
    A wrong call says what is wrong in one line, without a traceback.
    """
    result = call(*words)
    assert result.exit_code == 2
    assert USAGE[words] in result.output
    assert "Traceback" not in result.output


def test_replay_exits_1_while_a_case_is_open(here: Path) -> None:
    """
    A fault that is still there: status 1, the whole report.
    """
    call("fuzz", "cli_targets.py:wrong")
    result = call("replay")
    assert result.exit_code == 1
    assert "open: numeric: " in result.output
    assert "fails for cli_targets.py:wrong\n" in result.output


def test_replay_exits_0_when_every_case_is_fixed(here: Path) -> None:
    """
    After the fix: status 0.
    """
    call("fuzz", "cli_targets.py:wrong")
    Path("cli_targets.py").write_text(TARGETS.replace("-2 * c", "2 * c"), encoding="utf-8")
    del sys.modules["cli_targets"]
    result = call("replay")
    assert (result.exit_code, "fixed numeric for cli_targets.py:wrong" in result.output) == (0, True)


def test_replay_exits_1_when_a_case_is_stale(here: Path) -> None:
    """
    A target that is gone: status 1, with the reason.
    """
    call("fuzz", "cli_targets.py:wrong")
    Path("cli_targets.py").unlink()
    del sys.modules["cli_targets"]
    result = call("replay")
    assert result.exit_code == 1
    assert "no file is called 'cli_targets.py'" in result.output


@pytest.mark.parametrize("word", ["cli_targets.py:wrong", "cli_targets.py", "hash", "file", "prefix"])
def test_replay_finds_cases_by_word(word: str, here: Path) -> None:
    """
    Cases are chosen by target, by the targets of a file, by hash, by file, by the start of a hash.
    """
    call("fuzz", "cli_targets.py:wrong")
    (path,) = Store("tests/corpus").cases()
    finding = judge(Target(lambda x: x, (1.0,), name="m:other", reference=lambda x: -x), "reference", Point((1.0,)))
    assert isinstance(finding, Finding)
    Store("tests/corpus").save(from_finding(finding))
    digest = path.stem.rpartition("-")[2]
    result = call("replay", {"hash": digest, "file": str(path), "prefix": digest[:4]}.get(word, word))
    assert result.output.splitlines()[-1].startswith("1 open, ")
    assert "m:other" not in result.output


def test_laws_lists_every_law() -> None:
    """
    Every law is listed with its group.
    """
    from autoprop.properties import LAWS

    output = call("laws").output
    assert [name for name, law in LAWS.items() if name not in output or law.group not in output] == []


def test_laws_shows_one_law() -> None:
    """
    A law's page has its formula and what it catches.
    """
    output = call("laws", "adjoint").output
    assert output.splitlines()[0] == "adjoint (modes)"
    assert "Catches" in output


def test_info_tells_the_environment(here: Path) -> None:
    """
    Versions, devices and the size of the corpus are told.
    """
    output = call("info").output
    for word in ("jaxlib", "x64", "devices", "0 cases"):
        assert word in output


@pytest.mark.parametrize("words", [["--help"], ["laws", "--help"], ["fuzz", "--help"]])
def test_help_imports_no_jax(words: list[str]) -> None:
    """
    Help is shown without loading JAX, NumPy, Hypothesis or rich, which would take most of a second.
    """
    program = (
        "import sys\n"
        "from autoprop.cli import main\n"
        "try:\n    main(sys.argv[1:])\n"
        "finally:\n    print(sorted({'jax', 'numpy', 'hypothesis', 'rich'} & set(sys.modules)), file=sys.stderr)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, env=environment, check=True, timeout=60
    )
    assert (ran.stderr.strip(), ran.stdout.startswith("Usage:")) == ("[]", True)


def test_module_runs_as_a_program() -> None:
    """
    ``python -m autoprop`` is the command.
    """
    environment: dict[str, Any] = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-m", "autoprop", "--help"],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
        timeout=60,
    )
    assert "fuzz" in ran.stdout
