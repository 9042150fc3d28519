"""A function under a transform against the plain one: the routes that the laws of transforms share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from .._pairing import cotangents, tangents
from .._point import Point
from .._subject import Subject
from .._verdict import Holds, Undecided, Verdict
from ..oracles.automatic import missing_mode
from ..oracles.own import derivatives_program, value_and_derivatives
from ..oracles.same_program import expressions
from ._compare import Raised, Routes, agree, attempt
from ._law import undecided_if_raises

__all__ = ["Function", "Program", "at", "derivative", "directions", "plain", "plain_paths", "transformed"]

Function = Callable[[Any, Any], list[Any]]  # (moved, held) -> inexact outputs
Program = Callable[[Any, Any, Any, Any], Any]  # (moved, held, tangents, cotangents) -> leaves


def at(function: Function, held: Any) -> Callable[[Any], list[Any]]:
    """
    Return the function of the moved leaves alone.
    """
    return lambda moved: function(moved, held)


def derivative(subject: Subject, function: Function) -> Program:
    """
    Return a program of the value and Jᵀu of a function in the form of the subject's; Jv where it has no reverse mode,
    the value alone where it has no derivative.
    """
    missing = missing_mode(subject)

    def program(moved: Any, held: Any, v: Any, u: Any) -> Any:
        f = at(function, held)
        if not missing["reverse"]:
            value, pull = jax.vjp(f, moved)
            return value, pull(u)[0]
        return f(moved) if missing["forward"] else jax.jvp(f, (moved,), (v,))

    return program


def transformed(
    subject: Subject, point: Point, name: str, build: Callable[[], Program], modes: Sequence[str] | None = None
) -> Verdict:
    """
    Ask a program to have the value and the derivatives of the plain function, up to rounding.

    The plain side is one program for all laws of a signature. Where the two are the same expressions, neither is run.

    Args:
        subject: the target at the point's signature.
        point: where.
        name: what the transformed function is called in messages; its program is kept under that name.
        build: makes the program.
        modes: which derivatives the program returns behind the value; by default the one that `derivative` returns.
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises

    if _is_proven(subject, point, f"transformed:{name}", build, modes):
        return Holds()

    def routes(primals: tuple[Any, ...]) -> Routes:
        v, u = directions(subject, point, primals)
        program, (moved, held) = subject.compiled(f"transformed:{name}", build), subject.split(primals)
        return Routes(
            ("f", name),
            plain_paths(subject, modes),
            attempt(lambda: plain(subject, primals, v, u, modes)),
            attempt(lambda: program(moved, held, v, u)),
        )

    first = routes(point.primals)
    if isinstance(first.right, Raised) and isinstance(first.right.error, NotImplementedError):
        return Undecided(f"not possible in JAX: {str(first.right.error).splitlines()[0][:160]}")
    return agree(subject, point, lambda primals: first if primals is point.primals else routes(primals))


def _is_proven(
    subject: Subject, point: Point, name: str, build: Callable[[], Program], modes: Sequence[str] | None
) -> bool:
    """
    Say whether a program is what the plain one returns in these modes, expression by expression.
    """
    if not subject.is_traceable:
        return False
    arguments = (*subject.split(point.primals), *directions(subject, point, point.primals))
    found = expressions(subject, "derivatives", derivatives_program(subject), *arguments)
    if found is None:
        return False
    value, forward, reverse = found
    there = {"forward": forward, "reverse": reverse}
    wanted = [value, *(there[mode] for mode in _modes(subject, modes))]
    program = subject.compiled(name, build)
    if not hasattr(program, "trace"):
        program = build()  # it is run eagerly, and its own trace is not what it has been run as
    numbers = expressions(subject, name, program, *arguments)
    return numbers is not None and bool(jax.tree.leaves(wanted) == jax.tree.leaves(numbers))


def directions(subject: Subject, point: Point, primals: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """
    Return a point's tangents and cotangents in the dtypes that the function has at these arguments, which are the
    point's own or those promoted.
    """
    moved, held = subject.split(primals)
    outputs = subject.inexact_outputs if primals is point.primals else jax.eval_shape(subject.f, moved, held)
    return tangents(subject, moved, point.seed), cotangents(subject, point.seed, [y.dtype for y in outputs])


def plain(
    subject: Subject, primals: tuple[Any, ...], v: Any, u: Any, modes: Sequence[str] | None = None
) -> list[list[Any] | None]:
    """
    Return the value of the plain function and its derivatives in these modes; by default the one of `derivative`.
    """
    value, forward, reverse = value_and_derivatives(subject, *subject.split(primals), v, u)
    found = {"forward": forward, "reverse": reverse}
    return [value, *(found[mode] for mode in _modes(subject, modes))]


def plain_paths(subject: Subject, modes: Sequence[str] | None = None) -> list[str]:
    """
    Return the path of each leaf that `plain` returns.
    """
    names = {
        "reverse": [f"gradient of {path}" for path in subject.moved_paths],
        "forward": [f"tangent of {path}" for path in subject.output_paths],
    }
    return [*subject.output_paths, *(path for mode in _modes(subject, modes) for path in names[mode])]


def _modes(subject: Subject, modes: Sequence[str] | None) -> Sequence[str]:
    missing = missing_mode(subject)
    return modes if modes is not None else [mode for mode in ("reverse", "forward") if not missing[mode]][:1]
