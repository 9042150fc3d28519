"""The laws, one object each, and the table that lists them."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from .._errors import UsageError
from .._finding import Finding
from .._point import Point
from .._subject import Subject
from .._target import Target
from .._verdict import Verdict, Violated
from ._compare import Routes, agree, attempt, same
from ._law import Property, finding
from ._law import law as _property
from ._rows import Rows
from .adjoint import adjoint
from .argnums import argnums_order, value_and_grad
from .argnums_closure import argnums_closure
from .contract import expected_grad, reference, rejects
from .custom_rule import custom_rule
from .descent import descent
from .export import export
from .finite import finite
from .lattice import lattice
from .linearize import linearize
from .modes import linear, modes
from .nested_jit import nested_jit
from .numeric import numeric
from .precision import precision
from .randomness import key_determinism, key_reuse
from .remat import remat
from .repeatable import repeatable
from .retrace import retrace
from .second_order import numeric_second, symmetric
from .sharded import sharded
from .stop_constant import stop_constant
from .stop_gradient import frozen, live, stop_identity
from .structure import structure
from .transforms import jit, vmap
from .tree_invariance import tree_invariance

LAWS: dict[str, Property] = {
    found.name: found
    for found in (
        structure,
        finite,
        rejects,
        repeatable,
        retrace,
        stop_identity,
        frozen,
        live,
        stop_constant,
        tree_invariance,
        argnums_order,
        argnums_closure,
        value_and_grad,
        jit,
        vmap,
        remat,
        linearize,
        nested_jit,
        lattice,
        export,
        sharded,
        adjoint,
        linear,
        modes,
        numeric,
        numeric_second,
        symmetric,
        precision,
        custom_rule,
        reference,
        expected_grad,
        key_reuse,
        key_determinism,
        descent,
    )
}

__all__ = [
    "LAWS",
    "Property",
    "Routes",
    "Rows",
    "adjoint",
    "agree",
    "argnums_closure",
    "argnums_order",
    "attempt",
    "chosen",
    "custom_rule",
    "descent",
    "expected_grad",
    "export",
    "finding",
    "finite",
    "frozen",
    "get",
    "jit",
    "judge",
    "key_determinism",
    "key_reuse",
    "lattice",
    "law",
    "linear",
    "linearize",
    "live",
    "modes",
    "nested_jit",
    "numeric",
    "numeric_second",
    "precision",
    "reference",
    "rejects",
    "remat",
    "repeatable",
    "retrace",
    "same",
    "sharded",
    "stop_constant",
    "stop_identity",
    "structure",
    "symmetric",
    "tree_invariance",
    "value_and_grad",
    "vmap",
]


def law(group: str, **options: Any) -> Callable[[Callable[[Subject, Point], Verdict]], Property]:
    """
    Make a law of one's own from ``judge(subject, point) -> Verdict``, and add it to the table of laws.

    From then on it is judged like the built-in ones: in pytest, on the command line and in replays of the corpus, as
    long as the module that defines it is imported. ``on_request=True`` leaves it to targets that name it in
    ``properties``, ``applies=`` to those it means something for.

    Args:
        group: the group it is listed under.
        **options: attributes of `Property`.

    Raises:
        UsageError: another law has that name, or the function has no docstring: its first line is the law's formula.
    """

    def decorate(judge: Callable[[Subject, Point], Verdict]) -> Property:
        made = _property(group, **options)(judge)
        known = LAWS.get(made.name)
        if known is not None and known.judge.__module__ != judge.__module__:
            raise UsageError(f"law {made.name!r} is already defined in {known.judge.__module__}; choose another name")
        LAWS[made.name] = made
        return made

    return decorate


def get(name: str) -> Property:
    """
    Return the law of that name.

    Raises:
        UsageError: there is no such law; the message names those that are spelled alike.
    """
    if name in LAWS:
        return LAWS[name]
    near = difflib.get_close_matches(name, LAWS, 3, 0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"the laws are {', '.join(LAWS)}"
    raise UsageError(f"{name!r} is not a law; {hint}")


def chosen(target: Target) -> list[Property]:
    """
    Return the laws that a target asks for, in listing order; by default all but those on request.
    """
    if target.properties is None:
        return [found for found in LAWS.values() if not found.on_request]
    wanted = {get(name).name for name in target.properties}
    return [found for name, found in LAWS.items() if name in wanted]


def judge(target: Target, name: str, point: Point) -> Verdict | Finding:
    """
    Judge one law of a target at one point.

    Returns:
        A `Finding` where the law is violated, else the verdict.

    Raises:
        UsageError: there is no such law, or it does not apply to the target.
    """
    found = get(name)
    subject = Subject(target, point.primals)
    reason = found.why_not(subject)
    if reason is not None:
        raise UsageError(f"{target.name}: the law {name!r} does not apply: {reason}")
    verdict = found.judge(subject, point)
    return finding(found, subject, point, verdict) if isinstance(verdict, Violated) else verdict
