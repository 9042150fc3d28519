"""Readers of a run's events: the screen, JSON lines, JUnit XML."""

from .reader import Reader as Reader
from .summary import Summary as Summary

__all__ = ["Reader", "Summary"]
