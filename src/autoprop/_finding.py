"""A violated law of a target, with all that is needed to read, reproduce and keep it."""

from __future__ import annotations

import builtins
from typing import Any

import attrs

from ._environment import Environment
from ._point import Point
from ._verdict import Mismatch

__all__ = ["Finding"]


@attrs.frozen(eq=False)
class Finding:
    """
    A violated law of a target. ``str(finding)`` is the report a person reads.

    Attributes:
        property: name of the law.
        formula: the law in one line.
        target: name of the target.
        point: the (shrunk) point at which the law is broken.
        mismatches: the routes that disagree, the worst first.
        environment: where it was found.
        argnames: name of each argument, to print the point as source.
        cause: file, line and function of the equation at fault, or None where it is not known.
        notes: advice, one sentence each.
        case: name of the corpus file that holds it, or None.
    """

    property: str
    formula: str
    target: str
    point: Point
    mismatches: tuple[Mismatch, ...] = attrs.field(validator=attrs.validators.min_len(1))
    environment: Environment
    argnames: tuple[str, ...] = ()
    cause: str | None = None
    notes: tuple[str, ...] = ()
    case: str | None = None

    @builtins.property  # `property` is the law's name in this class
    def mismatch(self) -> Mismatch:
        """
        The worst mismatch.
        """
        return self.mismatches[0]

    def replace(self, **changes: Any) -> Finding:
        """
        Return a copy with some attributes changed.
        """
        return attrs.evolve(self, **changes)

    def __str__(self) -> str:
        from ._render import render

        return render(self)
