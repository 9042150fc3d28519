"""The search for a point at which a law is broken: few signatures, many rows, careful confirmation, shrinking."""

from __future__ import annotations

from ._check import check
from .run import Outcome, explore, search

__all__ = ["Outcome", "check", "explore", "search"]
