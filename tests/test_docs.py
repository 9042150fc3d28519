"""The generated pages of the documentation are those that the docstrings give today."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from autoprop.properties import LAWS

DOCS = Path(__file__).parents[1] / "docs"
_SPEC = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
assert _SPEC is not None
assert _SPEC.loader is not None
generate = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(generate)


@pytest.mark.parametrize("path", generate.pages())
def test_page_is_up_to_date(path: str) -> None:
    """`python docs/generate.py` was run after the last change of a docstring."""
    assert DOCS.joinpath(path).read_text(encoding="utf-8") == generate.pages()[path]


def test_no_page_of_a_law_that_is_gone() -> None:
    """Every page belongs to a law."""
    assert {path.stem for path in DOCS.glob("laws/*.md")} == {*LAWS, "README"}


@pytest.mark.parametrize("name", LAWS)
def test_each_law_says_all(name: str) -> None:
    """A law says why it must hold, what it catches and what it does not."""
    text = LAWS[name].doc
    assert "**Catches**" in text
    assert "**Does not catch**" in text
