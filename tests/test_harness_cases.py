"""The survey of the cases that JAX tests its primitives with."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = str(Path(__file__).parents[1] / "benchmarks")
PRIVATE = "jax._src.internal_test_util"


def load() -> ModuleType:
    """
    Import the survey anew.
    """
    sys.modules.pop("harness_cases", None)
    sys.path.insert(0, FOLDER)
    try:
        return importlib.import_module("harness_cases")
    finally:
        sys.path.remove(FOLDER)


@pytest.mark.slow
def test_most_primitives_have_cases() -> None:
    """There are two thousand cases of a hundred primitives, each under a name of its own."""
    names = [target.name for target in load().TARGETS]
    assert (len(set(names)) == len(names) >= 2000, len({name.split("/")[0] for name in names}) >= 100) == (True, True)


def test_a_missing_module_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version of JAX without the private module is named, and the survey to run instead."""
    monkeypatch.setitem(sys.modules, f"{PRIVATE}.test_harnesses", None)
    monkeypatch.delattr(importlib.import_module(PRIVATE), "test_harnesses", raising=False)
    with pytest.raises(ImportError, match=r"has no jax._src.*public_functions.py instead"):
        load()
