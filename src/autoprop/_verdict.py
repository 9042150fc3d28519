"""What a law says at a point: it holds, it is violated, or it could not be decided."""

from __future__ import annotations

import attrs

__all__ = ["Holds", "Mismatch", "Undecided", "Verdict", "Violated"]


@attrs.frozen
class Mismatch:
    """
    Two routes to one quantity that do not agree.

    Attributes:
        leaf: the leaf by name and path, such as ``params['w']`` or ``value``.
        index: position of the worst element inside the leaf; ``()`` for a scalar.
        routes: pairs of a route's name and what it gave there, as text of at most nine significant digits.
        difference: distance between the routes in the units of the quantity, or None where it is not a number.
        bound: the largest distance that would have been accepted, or None.
        origin: where the bound comes from, or why the difference is a fault.
        count: how many elements of the leaf disagree.
        total: how many elements the leaf has.
    """

    leaf: str
    index: tuple[int, ...]
    routes: tuple[tuple[str, str], ...]
    difference: float | None
    bound: float | None
    origin: str
    count: int = 1
    total: int = 1


@attrs.frozen
class Holds:
    """
    The law holds at this point.

    Attributes:
        remark: what deserves to be known all the same, in one line; empty for nothing.
    """

    remark: str = ""


@attrs.frozen
class Violated:
    """
    The law is broken at this point; the worst mismatch comes first.
    """

    mismatches: tuple[Mismatch, ...] = attrs.field(validator=attrs.validators.min_len(1))

    @property
    def worst(self) -> Mismatch:
        """
        The mismatch to show first.
        """
        return self.mismatches[0]


@attrs.frozen
class Undecided:
    """
    The law could not be judged at this point; the reason is counted and shown.
    """

    reason: str


Verdict = Holds | Violated | Undecided
