"""What options of every door default to; imports nothing, so that a plugin at rest costs nothing."""

from __future__ import annotations

__all__ = ["CORPUS"]

CORPUS = "tests/corpus"  # the folder of stored cases, from the working directory or pytest's root
