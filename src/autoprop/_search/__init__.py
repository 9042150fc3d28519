"""The search for a point at which a law is broken: few signatures, many rows, careful confirmation, shrinking."""

from __future__ import annotations

from ._check import check
from .outcome import Outcome, search
from .run import explore

__all__ = ["Outcome", "check", "explore", "search"]
