"""What the tests of the laws share: the zoo, and the judgement of one law at one point."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1]))  # the zoo is a package beside this folder


@pytest.fixture
def judge() -> Callable[..., Any]:
    """
    Return a function: the verdict of a law of fn at given arguments.
    """
    from autoprop import Point, Target
    from autoprop._subject import Subject
    from autoprop.properties import LAWS

    def run(law: str, fn: Any, *args: Any, seed: int = 0, **contract: Any) -> Any:
        subject = Subject(Target(fn, args, **contract), args)
        assert LAWS[law].why_not(subject) is None
        return LAWS[law].judge(subject, Point(args, seed))

    return run
