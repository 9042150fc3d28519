"""How long and how widely a search looks: what may be said, and what may not."""

from __future__ import annotations

from typing import Any

import pytest

from autoprop import Settings, UsageError
from autoprop._settings import PROFILES


def test_defaults() -> None:
    """Without a word there is a number of points and no limit of time; with a limit of time there is no number."""
    assert (Settings().examples, Settings().seconds) == (2048, None)
    assert (Settings(seconds=5).examples, Settings(seconds=5).seconds) == (None, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"examples": 0}, "examples=0 must be a positive integer"),
        ({"examples": -3}, "examples=-3 must be"),
        ({"rows": True}, "rows=True must be"),
        ({"rows": "8"}, "rows='8' must be"),
        ({"seconds": 0}, "seconds=0 must be"),
        ({"signatures": 0}, "signatures=0 must be"),
        ({"seed": -1}, "seed=-1 must be an integer of at least 0"),
        ({"seed": 1.5}, "seed=1.5 must be an integer"),
        ({"epoch": -1}, "epoch=-1 must be an integer of at least 0"),
        ({"examples": None}, "would never end"),
        ({"examples": 1.5}, "examples=1.5"),
        ({"rows": 2.5}, "rows=2.5"),
        ({"seconds": float("nan")}, "seconds=nan"),
    ],
)
def test_wrong_settings(options: dict[str, Any], message: str) -> None:
    """A wrong value is named, with what it should be."""
    with pytest.raises(UsageError, match=message):
        Settings(**options)


def test_profiles() -> None:
    """The profiles go from quick to thorough."""
    dev, ci, deep = (PROFILES[name].examples for name in ("dev", "ci", "deep"))
    assert dev is not None
    assert ci is not None
    assert deep is not None
    assert dev < ci < deep
