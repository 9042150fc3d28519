"""Searches of many targets, one after another, within one budget of time."""

from .plan import Plan as Plan
from .run import run as run

__all__ = ["Plan", "run"]
