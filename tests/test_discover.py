"""Finding targets by words, and again by their ids."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autoprop._discover import discover, resolve
from autoprop._errors import AutopropWarning, UsageError

TARGETS = """
import autoprop
from autoprop import Target

def square(x):
    return x * x

square_target = Target(square, (1.0,))
TARGETS = [Target(square, (2.0,), name="cube"), square_target]
"""

TESTS = """
from autoprop import Target

def test_square():
    pass

test_square.__autoprop_target__ = Target(abs, (1.0,))

class TestGroup:
    def test_inside(self):
        pass
    test_inside.__autoprop_target__ = Target(abs, (1.0,), name="inside")
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """
    Make a working directory with a package, a file of tests, and files that hold no target.
    """
    files = {
        "found_pkg/__init__.py": "",
        "found_pkg/targets.py": TARGETS,
        "found_tests/test_found.py": TESTS,
        "found_tests/unrelated.py": "raise SystemExit('must not be imported')",
        "found_tests/.hidden/autoprop_hidden.py": "raise SystemExit('must not be imported')",
        "found_empty/none.py": "import autoprop\n",
        "found_bad/twice.py": "from autoprop import Target\nTARGETS = [Target(abs, (1.0,)), Target(abs, (2.0,))]\n",
        "found_bad/broken.py": "import autoprop\n\nx = 1 / 0\n",
        "found_bad/wrong.py": "TARGETS = [abs]  # autoprop\n",
        "found_skips/skips.py": "import pytest\n\nautoprop = pytest.importorskip('no_such_module_at_all')\n",
        "found_skips/targets.py": TARGETS,
        "found_odd/my-targets.py": TARGETS,
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith(("found_", "autoprop_file_")):
            del sys.modules[name]


WORDS = {
    "found_pkg.targets": ["found_pkg.targets:square", "found_pkg.targets:cube"],
    "found_pkg.targets:cube": ["found_pkg.targets:cube"],
    "found_pkg.targets:square_target": ["found_pkg.targets:square"],
    "found_pkg/targets.py": ["found_pkg/targets.py:square", "found_pkg/targets.py:cube"],
    "found_pkg/targets.py:cube": ["found_pkg/targets.py:cube"],
    "found_pkg": ["found_pkg/targets.py:square", "found_pkg/targets.py:cube"],
    "found_odd/my-targets.py:cube": ["found_odd/my-targets.py:cube"],
    "found_tests": ["found_tests/test_found.py::test_square", "found_tests/test_found.py::TestGroup::test_inside"],
    "found_tests/test_found.py::test_square": ["found_tests/test_found.py::test_square"],
    "found_tests/test_found.py::test_square[jit]": ["found_tests/test_found.py::test_square"],
    "found_tests/test_found.py::TestGroup::test_inside": ["found_tests/test_found.py::TestGroup::test_inside"],
    "found_tests.test_found": [
        "found_tests/test_found.py::test_square",
        "found_tests/test_found.py::TestGroup::test_inside",
    ],
}


@pytest.mark.parametrize("word", WORDS)
def test_words_find_targets(word: str, root: Path) -> None:
    """
    Each kind of word finds its targets, in source order, under their ids.
    """
    assert [each.id for each in discover([word])] == WORDS[word]


def test_each_target_is_found_once(root: Path) -> None:
    """
    Words that mean the same target find it once.
    """
    words = ["found_pkg.targets:cube", "found_pkg.targets", "found_pkg.targets:cube"]
    assert [each.id for each in discover(words)] == ["found_pkg.targets:cube", "found_pkg.targets:square"]


@pytest.mark.parametrize("word", ["found_pkg.targets:cube", "found_tests", "found_odd"])
def test_ids_resolve_to_their_target(word: str, root: Path) -> None:
    """
    An id leads back to the same object.
    """
    for each in discover([word]):
        assert resolve(each.id) is each.target


ERRORS = {
    "found_empty/none.py": "found_empty/none.py holds no target: define TARGETS = [Target(...)] or use autoprop.verify",
    "found_empty": "no file below found_empty holds a target: define TARGETS = [Target(...)] or use autoprop.verify",
    "found_pkg.targets:cub": "found_pkg.targets holds no target 'cub'; do you mean 'cube'?",
    "found_pkg/targets.py:zzzz": "found_pkg/targets.py holds no target 'zzzz'; it holds square, cube",
    "found_bad/twice.py": "found_bad/twice.py: two targets are called 'abs'; give one of them another name",
    "found_bad/wrong.py": "found_bad/wrong.py: TARGETS=[<built-in function abs>] must be a list of Target",
    "found_skips/skips.py": "found_skips/skips.py skips itself: could not import 'no_such_module_at_all'",
    "found_pkg.missing": "no module is called 'found_pkg.missing'",
    "nowhere/at_all.py": "no file is called 'nowhere/at_all.py'",
    "found_odd:cube": "'found_odd:cube': found_odd is a folder, in which 'cube' is not looked for; give its file",
    "found_pkg:cube": "found_pkg holds no target",
}


@pytest.mark.parametrize("word", ERRORS)
def test_errors_say_what_is_wrong(word: str, root: Path) -> None:
    """
    A word that finds nothing says why, with the remedy.
    """
    with pytest.raises(UsageError) as caught:
        discover([word])
    assert str(caught.value)[: len(ERRORS[word])] == ERRORS[word]


def test_failing_import_names_the_line(root: Path) -> None:
    """
    A file that raises is named with the error and its line.
    """
    with pytest.raises(UsageError) as caught:
        discover(["found_bad/broken.py"])
    path = root / "found_bad" / "broken.py"
    assert str(caught.value) == f"cannot import {path}: ZeroDivisionError: division by zero ({path}:3)"


def test_folder_tells_of_files_that_skip_themselves(root: Path) -> None:
    """
    In a folder a file that skips itself is left out, with a warning.
    """
    with pytest.warns(AutopropWarning, match=r"found_skips/skips.py skips itself") as caught:
        found = discover(["found_skips"])
    assert [each.id for each in found] == ["found_skips/targets.py:square", "found_skips/targets.py:cube"]
    assert len(caught) == 1
