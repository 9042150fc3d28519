"""The capture and replay of ``@given`` methods of `unittest.TestCase`, which pytest cannot parametrize."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autoprop._errors import CorpusError

from . import given, notices, replay
from .items import seen, target_id
from .options import Options

__all__ = ["adopt", "function_of", "refuse_stale"]


def adopt(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Capture, and prepare the replay of, ``@given`` methods of `unittest.TestCase`, which pytest does not parametrize.
    """
    options = Options.of(config)
    for item in items:
        function = function_of(item)
        if function is None:
            continue
        test = target_id(item)
        seen(config).add(test)
        if not given.is_given(function):
            continue
        if options.capture != "off":
            given.install(function)
        if not getattr(function, "__autoprop_examples__", False):
            function.__autoprop_examples__ = True  # type: ignore[attr-defined]
            _add_examples(item, function, options.cases(test), options)


def function_of(item: pytest.Item) -> Callable[..., Any] | None:
    """
    Return the function of an item that is a method of a `unittest.TestCase`, or None for any other.
    """
    cls = getattr(item, "cls", None)
    if not (isinstance(item, pytest.Function) and isinstance(cls, type) and issubclass(cls, unittest.TestCase)):
        return None
    found = getattr(cls, item.originalname, None)
    return found if callable(found) else None


STALE: pytest.StashKey[list[str]] = pytest.StashKey()


def _add_examples(item: pytest.Item, function: Callable[..., Any], cases: list[Path], options: Options) -> None:
    for path in cases:
        try:
            replay.add_example(function, path, options)
        except CorpusError as error:
            item.stash.setdefault(STALE, []).append(f"stale case: {error}")
        except pytest.skip.Exception as skipped:
            notices.notify(item, "undecided", str(skipped))


def refuse_stale(item: pytest.Item) -> None:
    """
    Fail a `unittest.TestCase` method with a stale case, which has no item of its own to fail.
    """
    found = item.stash.get(STALE, [])
    if found:
        for text in found:
            notices.notify(item, "stale", text.removeprefix("stale case: "))
        pytest.fail("\n".join(found), pytrace=False)
