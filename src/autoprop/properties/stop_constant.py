"""The law `stop_constant`: stopping is substituting the constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from .._point import Point
from .._subject import Subject
from .._trees import on_device
from .._verdict import Holds, Verdict
from ._compare import Routes, agree, attempt
from ._law import law, undecided_if_raises
from ._parts import Part, Place, constants, derivatives, in_common_modes, parts, program
from .numeric import applies_to_values

__all__ = ["stop_constant"]

WAYS = {"stopped": "nothing stopped", "constant": "constant"}  # what a stop is held against, by how the part is called


@law("stop_gradient", applies=applies_to_values, once=True)
def stop_constant(subject: Subject, point: Point) -> Verdict:
    """
    ∂f(…, stop_gradient(xᵢ), …) = ∂f(…, c, …) with the constant c = xᵢ

    A stopped argument is its value and nothing else. For each argument in turn the derivatives of the others are what
    they are with that value compiled in, and what they are with nothing stopped. Of a function of one argument the
    leaves are taken one at a time.

    **Catches** rules and functions that treat a tracer and a constant differently, rules with ``symbolic_zeros`` that
    take a stopped argument for a missing one.

    **Does not catch** stops in the wrong place inside of the function (`frozen`, `live`, `numeric`); more than the
    first eight arguments.
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises
    return in_common_modes(subject, point, lambda first: _compare(subject, point, first))


def _compare(subject: Subject, point: Point, first: Place) -> Verdict:
    for how, other in (("stopped", _free), ("constant", _baked)):
        verdict = _agrees(subject, point, first, how, other)
        if not isinstance(verdict, Holds):
            return verdict
    return Holds()


def _others(place: Place, part: Part) -> tuple[int, ...]:
    return tuple(i for i in range(len(place.moved)) if i not in part.leaves)


def _stopped(place: Place) -> list[Any]:
    """
    Value, tangents and gradients with each part stopped in turn.
    """
    subject, modes = place.subject, place.modes

    def all_of_them(moved: Any, held: Any, v: Any, u: Any) -> list[Any]:
        def stopping(part: Part) -> Any:
            def f(m: Any) -> list[Any]:
                return subject.f([jax.lax.stop_gradient(x) if i in part.leaves else x for i, x in enumerate(m)], held)

            return derivatives(f, moved, v, u, modes)

        return [stopping(part) for part in parts(subject)]

    run = subject.compiled(("each stopped", modes), lambda: program(subject, all_of_them))
    found: list[Any] = run([on_device(x) for x in place.moved], place.held, place.v, place.u)
    return found


def _agrees(subject: Subject, point: Point, first: Place, how: str, other: Callable[[Place], list[Any]]) -> Verdict:
    """
    Compare what a stop leaves to the others with another way to make a part a constant, part by part.
    """
    named = ((part, _others(first, part)) for part in parts(subject))
    paths = [path for part, others in named for path in first.paths(others, f"beside a {how} {part.name}")]

    def routes(primals: tuple[Any, ...]) -> Routes:
        place = Place(subject, primals, point.seed, first.modes)
        return Routes(
            (WAYS[how], "stop_gradient"), paths, attempt(lambda: other(place)), attempt(lambda: _without(place))
        )

    return agree(subject, point, routes)


def _free(place: Place) -> list[Any]:
    """
    Value, tangents and gradients of the others with nothing stopped.
    """
    found = []
    for part in parts(place.subject):
        others = _others(place, part)
        value, forward, reverse = place.plain(place.along(others))
        found += [value, forward, [reverse[i] for i in others] if reverse else []]
    return found


def _baked(place: Place) -> list[Any]:
    return [constants(place)[_others(place, part)] for part in parts(place.subject)]


def _without(place: Place) -> list[Any]:
    """
    What is stopped leaves to the others.
    """
    found = []
    for part, (value, forward, reverse) in zip(parts(place.subject), _stopped(place), strict=True):
        found += [value, forward, [reverse[i] for i in _others(place, part)] if reverse else []]
    return found
