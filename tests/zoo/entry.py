"""What an entry of the zoo says: a function, where to look, and what the laws must answer there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

__all__ = ["Planted", "Sound"]


@attrs.frozen(eq=False)
class Planted:
    """
    A function with one planted fault.

    Attributes:
        name: what the fault is called.
        law: the law that must catch it.
        fn: the function.
        args: typical arguments; the fault may not show there.
        trigger: arguments at which the fault shows; ``args`` where it shows everywhere.
        contract: options of its `Target`.
    """

    name: str
    law: str
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    trigger: tuple[Any, ...] = attrs.field(default=attrs.Factory(lambda self: self.args, takes_self=True), kw_only=True)
    contract: Mapping[str, Any] = attrs.field(factory=dict, kw_only=True)


@attrs.frozen(eq=False)
class Sound:
    """
    A function that no law may accuse.

    Attributes:
        name: what is tricky about it.
        law: the law whose sound partner it is; it must say `Holds` at ``args``.
        fn: the function.
        args: typical arguments.
        tricky: arguments at which a careless check would accuse it.
        contract: options of its `Target`.
    """

    name: str
    law: str
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    tricky: tuple[Any, ...] = attrs.field(default=attrs.Factory(lambda self: self.args, takes_self=True), kw_only=True)
    contract: Mapping[str, Any] = attrs.field(factory=dict, kw_only=True)
