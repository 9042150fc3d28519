"""What searches compile, kept from one run of pytest to the next in pytest's own cache folder."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from .._programs import kept_in

__all__ = ["kept"]

FOLDER = "autoprop-programs"


def kept(config: pytest.Config) -> AbstractContextManager[None]:
    """
    Keep, and take from earlier runs, what is compiled meanwhile. Does nothing where pytest keeps nothing
    (``-p no:cacheprovider``); ``--cache-clear`` empties the folder.
    """
    cache = getattr(config, "cache", None)
    worker = getattr(config, "workerinput", {}).get("workerid", "main")
    return kept_in(None if cache is None else Path(cache.mkdir(FOLDER)), worker)
