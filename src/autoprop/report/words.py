"""How numbers and durations are written for people."""

from __future__ import annotations

__all__ = ["count", "duration"]


def duration(seconds: float) -> str:
    """
    Write a time as ``3.2 s``, ``4m10s`` or ``1h02m``.
    """
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02d}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}m"


def count(number: int, noun: str, plural: str = "") -> str:
    """
    Write a number with its noun: ``1 finding``, ``2 findings``.
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
