"""The law `retrace`: one trace for each signature."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import jax
import jax.numpy as jnp

from .._jaxprs import refusal, subprograms
from .._origin import is_of_jax, source_line, written_at
from .._point import Point
from .._subject import Subject
from .._trees import is_array, same_tree
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ._compare import Raised
from ._law import law

__all__ = ["retrace"]

_INLINED = frozenset({"custom_jvp_call", "custom_vjp_call", "checkpoint", "remat2", "closed_call", "core_call"})


@law("contract", smooth_only=False, once=True)
def retrace(subject: Subject, point: Point) -> Verdict:
    """
    jit(f) at one signature is traced once, and so is each jit inside f

    Compilation pays only if it is done once. Two things are asked. The arguments are taken apart and put together
    again, as every update of parameters does: the tree, its static data, the shapes, dtypes and weak types must be what
    they were, or jit takes each new object for a new signature. And the function is traced twice: what it compiles by a
    jit of its own must be found in JAX's cache the second time, for when it is called eagerly that is what runs.

    **Catches** ``jax.jit(lambda ...)`` or ``jax.jit(jax.grad(f))`` built anew in every call, static arguments without
    equality, pytree classes whose static data differ after a round trip, endless recompilation of both kinds.

    **Does not catch** loops (`jax.lax.scan` and kin) that are called eagerly with new closures, which JAX compiles anew
    by design; compilation that depends on values; and retracing in the program that calls the function.
    """
    verdict = _round_trip(subject)
    if verdict is not None:
        return verdict
    try:
        _trace(subject)  # what a first call leaves in a cache is then there
        first, second = _calls(_trace(subject)), _calls(_trace(subject))
    except Exception as error:  # noqa: BLE001  the function under test may raise anything
        return Undecided(f"it cannot be traced: {refusal(error) or Raised(error)}")
    mismatches = []
    for ours, again in zip_longest(first, second):
        if ours is None or again is None:
            return Undecided("two traces do not compile the same functions")
        if ours[1] is not again[1]:
            if is_of_jax(ours[1]):
                continue  # how JAX's own library caches is not the user's fault
            name = written_at(ours[1])[0]
            routes = (("first call", f"traces {name}"), ("second call", f"traces {name} again"))
            line = source_line(ours[0]) or "an unknown line"
            origin = f"the jit called at {line} is given a new function or new static data in every call"
            mismatches.append(Mismatch(name, (), routes, None, None, origin))
    return Violated(tuple(mismatches)) if mismatches else Holds()


def _trace(subject: Subject) -> Any:
    moved, held = subject.split(jax.tree.unflatten(subject.treedef, subject.leaves))
    return jax.make_jaxpr(lambda m, h: _arrays(subject.target.fn(*subject.join(m, h))))(moved, held)


def _arrays(tree: Any) -> list[Any]:
    return [leaf for leaf in jax.tree.leaves(tree) if is_array(leaf)]


def _calls(jaxpr: Any) -> list[tuple[Any, Any]]:
    return list(_compiled(jaxpr))


def _compiled(jaxpr: Any) -> Iterator[tuple[Any, Any]]:
    """
    Each equation that is compiled on its own when the function is called eagerly, and its program.
    """
    for eqn in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        if eqn.primitive.name in ("jit", "pjit"):
            yield eqn, next(subprograms(eqn))
        elif eqn.primitive.name in _INLINED:
            for inner in subprograms(eqn):
                yield from _compiled(inner)


def _round_trip(subject: Subject) -> Violated | None:
    """
    How the arguments differ after they were taken apart and put together again, or None.
    """
    arguments = jax.tree.unflatten(subject.treedef, subject.leaves)
    origin = "jit takes arguments that were rebuilt, as by jax.tree.map, for another signature, and traces again"
    try:
        again = jax.tree.map(lambda x: x, arguments)
        leaves, treedef = jax.tree.flatten(again)
        equal = same_tree(treedef, subject.treedef)
        after = str(treedef)
    except Exception as error:  # noqa: BLE001  a class of the user's takes part
        leaves, equal, after = [], False, str(Raised(error))
    if not equal:
        routes = (("arguments", str(subject.treedef)), ("rebuilt", after))
        return Violated((Mismatch("tree", (), routes, None, None, origin),))
    forms = [[_form(x) for x in side] for side in (subject.leaves, leaves)]
    mismatches = tuple(
        Mismatch(path, (), (("arguments", a), ("rebuilt", b)), None, None, origin)
        for path, a, b in zip(subject.paths, *forms, strict=True)
        if a != b
    )
    return Violated(mismatches) if mismatches else None


def _form(leaf: Any) -> str:
    if not is_array(leaf):
        return type(leaf).__name__
    kind = jax.typeof(leaf) if isinstance(leaf, jax.Array) else f"{jnp.result_type(leaf)}{list(jnp.shape(leaf))}"
    return f"{kind}{' (weak type)' if getattr(leaf, 'weak_type', isinstance(leaf, (float, complex))) else ''}"
