"""How long and how widely a search looks."""

from __future__ import annotations

from typing import Any

import attrs

from ._errors import UsageError

__all__ = ["PROFILES", "Settings"]


def _positive(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        raise UsageError(f"Settings: {attribute.name}={value!r} must be a positive number")


def _count(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise UsageError(f"Settings: {attribute.name}={value!r} must be a positive integer")


def _natural(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UsageError(f"Settings: {attribute.name}={value!r} must be an integer of at least 0")


@attrs.frozen(kw_only=True)
class Settings:
    """
    How long and how widely a search looks.

    Attributes:
        examples: how many points are screened at most. None: as many as ``seconds`` allow.
        rows: how many points one compiled program screens at once.
        seed: the seed of everything that is drawn.
        seconds: wall time in seconds, or None. Checked between programs: one compilation may run over it.
        epoch: which pool of signatures (shapes, dtypes, trees) is used; 0 in tests, moved on by the fuzzer.
        signatures: how many signatures an epoch has at most.
    """

    seconds: float | None = attrs.field(default=None, validator=attrs.validators.optional(_positive))
    examples: int | None = attrs.field(
        default=attrs.Factory(lambda self: None if self.seconds is not None else 2048, takes_self=True),
        validator=attrs.validators.optional(_count),
    )
    rows: int = attrs.field(default=256, validator=_count)
    seed: int = attrs.field(default=0, validator=_natural)
    epoch: int = attrs.field(default=0, validator=_natural)
    signatures: int = attrs.field(default=8, validator=_count)

    def __attrs_post_init__(self) -> None:
        if self.examples is None and self.seconds is None:
            raise UsageError("Settings: examples=None and seconds=None would never end; give one of them")


PROFILES = {
    "dev": Settings(examples=512, signatures=4),
    "ci": Settings(examples=2048),
    "deep": Settings(examples=65536, rows=1024),
}
