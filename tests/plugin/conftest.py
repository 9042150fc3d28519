"""Whole runs of pytest in a process of their own, and what their items said."""

import os
import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ET
from importlib import metadata
from pathlib import Path

import attrs
import pytest

ROOT = Path(__file__).parents[2]


@attrs.frozen
class Result:
    """
    What a run of pytest did: exit status, text, and for each item its outcome and text.
    """

    status: int
    text: str
    outcomes: dict[str, str]
    texts: dict[str, str]

    def lines(self, start: str) -> list[str]:
        """
        Return the lines of the output that start with some text.
        """
        return [line for line in self.text.splitlines() if line.startswith(start)]


class Project:
    """
    A folder of tests.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, source: str) -> None:
        """
        Write a file.
        """
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source))

    def replace(self, name: str, old: str, new: str) -> None:
        """
        Change a file.
        """
        path = self.folder / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    def cases(self) -> list[str]:
        """
        Return the files of the corpus, relative to the folder.
        """
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.glob("tests/corpus/*/*"))

    def run(self, *words: str, plugin: bool | None = True) -> Result:
        """
        Run pytest, with the plugin, without it, or (None) as the words say.
        """
        junit = self.folder / "junit.xml"
        junit.unlink(missing_ok=True)
        installed = metadata.entry_points(group="pytest11", name="autoprop")
        on = [] if installed else ["-p", "autoprop.pytest_plugin"]
        choice = {True: on, False: ["-p", "no:autoprop"], None: []}[plugin]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *choice, "--import-mode=importlib", f"--junitxml={junit}", *words],
            cwd=self.folder,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        outcomes, texts = _items(junit) if junit.exists() else ({}, {})
        return Result(done.returncode, done.stdout + done.stderr, outcomes, texts)


def environment() -> dict[str, str]:
    """
    Return the environment of a run: this checkout, jax on the CPU, no options from outside.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_", "JAX_"))}
    path = os.pathsep.join(str(ROOT / name) for name in ("src", "strategies"))
    return kept | {"PYTHONPATH": path, "JAX_PLATFORMS": "cpu", "COLUMNS": "160"}


def _items(junit: Path) -> tuple[dict[str, str], dict[str, str]]:
    outcomes, texts = {}, {}
    for case in ET.parse(junit).getroot().iter("testcase"):
        name = case.attrib["name"]
        above = case.attrib["classname"].rpartition(".")[2]
        key = f"{above}::{name}" if above.startswith("Test") else name
        found = [child for child in case if child.tag in ("failure", "error", "skipped")]
        outcomes[key] = found[0].tag if found else "passed"
        texts[key] = "\n".join(f"{child.attrib.get('message', '')}\n{child.text or ''}" for child in found)
    return outcomes, texts


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """
    Return an empty project.
    """
    return Project(tmp_path)


@pytest.fixture(scope="module")
def module_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """
    Return an empty project that the tests of one module share.
    """
    return Project(tmp_path_factory.mktemp("project"))
