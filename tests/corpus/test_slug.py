"""Names of targets become file names that are readable, safe and different."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoprop.corpus.slug import slug


@pytest.mark.parametrize("name", ["test_mse", "mylib.losses", "a", "x9_"])
def test_plain_names_stay(name: str) -> None:
    """
    A name that every file system accepts is kept.
    """
    assert slug(name) == name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mylib.losses:mse", "mylib.losses-mse-d325be39"),
        ("tests/test_x.py::test_f", "tests-test_x.py-test_f-48044536"),
        ("Loss", "Loss-df292782"),
        ("con", "con-1143da2b"),
        ("aux.f", "aux.f-cd7d9389"),
        ("x.py", "x.py-bd0c941a"),
        ("", "target-e3b0c442"),
        ("../..", "target-0cfd1c96"),
        ("größe", "gr-e-d353a267"),
    ],
)
def test_other_names_get_a_hash(name: str, expected: str) -> None:
    """
    Where characters are replaced, or the name would be special somewhere, a hash keeps it apart.
    """
    assert slug(name) == expected


@settings(max_examples=300, deadline=None, database=None)
@given(st.one_of(st.text(), st.from_regex(r"[a-zA-Z./:\\-]{1,80}")))
def test_any_text_is_safe(name: str) -> None:
    """
    Whatever the name, its slug is one short path component of plain characters that starts and ends visibly.
    """
    assert re.fullmatch(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?", slug(name))
    assert len(slug(name)) <= 80


@pytest.mark.parametrize(
    ("one", "other"), [("f", "F"), ("m:f", "m.f"), ("m:f", "m/f"), ("x" * 99, "x" * 98), ("\u00e9", "e\u0301")]
)
def test_different_names_have_different_slugs(one: str, other: str) -> None:
    """
    Names that differ only by letter case, by what is replaced, or at their far end stay apart on every file system.
    """
    assert slug(one).lower() != slug(other).lower()
