"""A function's value and automatic derivatives in the user's own dtype, by one program that laws share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._subject import Subject
from .._trees import on_device
from .automatic import both_modes
from .bounded import fast

__all__ = ["derivatives_program", "value_and_derivatives"]


def derivatives_program(subject: Subject) -> Callable[..., Any]:
    """
    Return the program of `value_and_derivatives`, of lists of leaves; compiled at its first use.
    """

    def build() -> Any:
        def program(m: Any, h: Any, t: Any, c: Any) -> Any:
            return both_modes(lambda x: subject.f(x, h), m, t, c)

        return fast(subject, program)

    return subject.compiled("derivatives", build)


def value_and_derivatives(
    subject: Subject, moved: Sequence[Any], held: Sequence[Any], v: Sequence[Any], u: Sequence[Any]
) -> tuple[list[Any], list[Any] | None, list[Any] | None]:
    """
    Return f(x), J·v by forward mode and Jᵀ·u by reverse mode; None for a mode that is not there. A function that cannot
    be traced is differentiated eagerly.

    Args:
        subject: the target at the signature of the arguments.
        moved: the moved leaves.
        held: the held leaves.
        v: tangents of the moved leaves.
        u: cotangents of the inexact outputs.
    """
    if not subject.is_traceable:
        return both_modes(lambda x: subject.f(x, held), [on_device(x) for x in moved], list(v), list(u))
    found: tuple[list[Any], list[Any] | None, list[Any] | None]
    found = derivatives_program(subject)(list(moved), list(held), list(v), list(u))
    return found
