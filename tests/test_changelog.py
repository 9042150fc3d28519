"""The changelog and its fragments."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
KINDS = [kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"]]
FRAGMENTS = sorted((ROOT / "changelog.d").glob("*.md"))
MARK = PROJECT["tool"]["towncrier"]["start_string"].strip()


def released() -> list[tuple[int, ...]]:
    """
    Return the versions that the changelog has headings for, from top to bottom.
    """
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (\d+)\.(\d+)\.(\d+) \(\d{4}-\d{2}-\d{2}\)$", text, re.MULTILINE)
    return [tuple(int(number) for number in heading) for heading in headings]


def version() -> tuple[int, ...]:
    """
    Return the version of pyproject.toml.
    """
    return tuple(int(number) for number in PROJECT["project"]["version"].split("."))


def test_place_of_releases() -> None:
    """The changelog marks the place where towncrier writes a release."""
    assert (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").count(MARK) == 1


def test_releases_descend() -> None:
    """The newest release is on top, and none is listed twice."""
    assert released() == sorted(set(released()), reverse=True)


def test_newest_release() -> None:
    """The newest heading is the version of the project; until there is one, fragments say what the first will bring."""
    assert released()[0] == version() if released() else FRAGMENTS != []


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_fragment_name(path: Path) -> None:
    """A fragment is called <slug>.<kind>.md, with a kind that towncrier knows."""
    match = re.fullmatch(r"\+?[a-z0-9-]+\.([a-z]+)\.md", path.name)
    assert match is not None
    assert match[1] in KINDS


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_fragment_text(path: Path) -> None:
    """A fragment says something, in sentences."""
    assert path.read_text(encoding="utf-8").strip().endswith(".")
