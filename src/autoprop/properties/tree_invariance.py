"""The law `tree_invariance`: how the leaves are wrapped changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import jax
import jax.numpy as jnp
import numpy as np

from .._point import Point
from .._subject import Subject
from .._trees import on_device, reordered
from .._verdict import Holds, Undecided, Verdict, Violated
from ._compare import Routes, agree, attempt
from ._law import law, undecided_if_raises
from ._parts import Place, applies_to_several, derivatives, program

__all__ = ["tree_invariance"]

ORDER = (
    "the function depends on the order in which the keys of a dict were inserted, which is no part of a tree: "
    "JAX sorts them whenever it rebuilds one"
)


ALONE = "the arguments hold one array only, so there is nothing to reorder"


@attrs.frozen
class Way:
    """
    A way to keep the leaves that move.

    Attributes:
        keep: ``keep(moved, held)`` wraps a list of leaves, or of tangents.
        arguments: ``arguments(kept, held)`` rebuilds the arguments.
        leaves: ``leaves(kept)`` is the list again.
    """

    keep: Callable[[list[Any], list[Any]], Any]
    arguments: Callable[[Any, list[Any]], tuple[Any, ...]]
    leaves: Callable[[Any], list[Any]] = list


@law("trees and argnums", applies=applies_to_several(ALONE), smooth_only=False, once=True)
def tree_invariance(subject: Subject, point: Point) -> Verdict:
    """
    f(rebuild(leaves)) and its gradient, leaf by leaf, are the same for every way to keep the leaves

    A tree is its leaves and their names; how they are kept is nobody's business. The leaves that move are kept as the
    argument trees themselves, in a dict under other names that sort the other way round, in one flat vector for each
    dtype, and with dicts in the order in which they were written instead of JAX's (sorted keys); the arguments are
    rebuilt inside of the function. Value, tangents and gradients must be those of a list of leaves. The law applies
    where the arguments hold two arrays or more, in one tree or in several.

    Where only another order than the written one changes the value, the law holds with a remark.

    **Catches** code that unpacks ``params.values()`` or counts on the insertion order of a dict, classes whose leaves
    come back in another order, rules that flatten a tree themselves and hand a gradient to the wrong leaf.

    **Does not catch** what depends on the names of keys on purpose, or trees of another structure.
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises
    if not Place(subject, point.primals, point.seed).modes:
        return Undecided("there is no derivative here")
    verdict = _compare(subject, point, "kept otherwise", _ways(subject))
    if not isinstance(verdict, Holds):
        return verdict
    arguments = jax.tree.unflatten(subject.treedef, subject.leaves)
    if _keys(reordered(arguments)) == _keys(arguments):
        return Holds()
    turned = {"with the keys of its dicts turned round": _ordered(subject, reordered)}
    verdict = _compare(subject, point, "turned round", turned)
    return Holds(ORDER if isinstance(verdict, Violated) else "")


def _compare(subject: Subject, point: Point, name: str, ways: dict[str, Way]) -> Verdict:
    first = Place(subject, point.primals, point.seed)
    every = range(len(first.moved))
    paths = [path for way in ways for path in first.paths(every, way)]

    def all_of_them(moved: Any, held: Any, v: Any, u: Any) -> list[Any]:
        def keeping(way: Way) -> Any:
            def f(kept: Any) -> list[Any]:
                return subject.inexact(subject.target.fn(*way.arguments(kept, held)))

            kept = way.keep(moved, held)
            value, forward, reverse = derivatives(f, kept, way.keep(v, held), u, first.modes)
            return value, forward, way.leaves(reverse) if reverse is not None else []

        return [keeping(way) for way in ways.values()]

    def routes(primals: tuple[Any, ...]) -> Routes:
        place = Place(subject, primals, point.seed)
        run = subject.compiled(f"leaves {name}", lambda: program(subject, all_of_them))
        right = attempt(lambda: run([on_device(x) for x in place.moved], place.held, place.v, place.u))
        left = attempt(lambda: [place.plain(place.v)] * len(ways))
        return Routes(("a list of leaves", "the leaves kept otherwise"), paths, left, right)

    return agree(subject, point, routes)


def _ways(subject: Subject) -> dict[str, Way]:
    """
    The ways to keep the leaves, by what they are called in messages.
    """

    def names(kept: dict[str, Any]) -> list[Any]:
        return [kept[name] for name in sorted(kept, reverse=True)]

    ways = {
        "as argument trees": _trees(subject),
        "under other names": Way(
            lambda moved, held: {f"{len(moved) - i:04}": x for i, x in enumerate(moved)},
            lambda kept, held: subject.join(names(kept), held),
            names,
        ),
        "as flat vectors": _vectors(subject),
    }
    arguments, given = jax.tree.unflatten(subject.treedef, subject.leaves), subject.target.args
    if isinstance(given, tuple) and _keys(reordered(arguments, given)) != _keys(arguments):
        written = _ordered(subject, lambda found: reordered(found, given))
        ways["with dicts in the order in which they were written"] = written
    return ways


def _ordered(subject: Subject, order: Callable[[Any], Any]) -> Way:
    return Way(lambda moved, held: list(moved), lambda kept, held: order(subject.join(kept, held)))


def _trees(subject: Subject) -> Way:
    """
    Arguments all of whose leaves move as they are, leaves of other arguments one by one.
    """
    kinds = list(zip(subject.owners, subject.kinds, strict=True))
    mixed = {owner for owner, kind in kinds if kind != "moved"}
    owners = [owner for owner, kind in kinds if kind == "moved"]
    whole = set(owners) - mixed

    def keep(moved: list[Any], held: list[Any]) -> Any:
        arguments = subject.join(moved, held)
        loose = [x for x, owner in zip(moved, owners, strict=True) if owner in mixed]
        return {owner: arguments[owner] for owner in sorted(whole)}, loose

    def leaves(kept: Any) -> list[Any]:
        trees = {owner: iter(jax.tree.leaves(tree)) for owner, tree in kept[0].items()}
        loose = iter(kept[1])
        return [next(trees.get(owner, loose)) for owner in owners]

    def arguments(kept: Any, held: list[Any]) -> tuple[Any, ...]:
        return tuple(kept[0].get(i, argument) for i, argument in enumerate(subject.join(leaves(kept), held)))

    return Way(keep, arguments, leaves)


def _vectors(subject: Subject) -> Way:
    """
    All leaves of a dtype in one vector; those of weak type by themselves, for a vector has none.
    """
    moved = subject.split(jax.tree.unflatten(subject.treedef, subject.leaves))[0]
    shapes = [np.shape(x) for x in moved]
    groups: dict[str, list[int]] = {}
    for i, x in enumerate(map(on_device, moved)):
        groups.setdefault(f"{i}" if x.weak_type else str(x.dtype), []).append(i)

    def keep(moved: list[Any], held: list[Any]) -> Any:
        return {
            name: moved[group[0]] if len(group) == 1 else jnp.concatenate([jnp.ravel(moved[i]) for i in group])
            for name, group in groups.items()
        }

    def leaves(kept: Any) -> list[Any]:
        found: dict[int, Any] = {}
        for name, group in groups.items():
            start = 0
            for i in group:
                size = int(np.prod(shapes[i], dtype=int))
                whole = kept[name]
                found[i] = whole if len(group) == 1 else jnp.reshape(whole[start : start + size], shapes[i])
                start += size
        return [found[i] for i in range(len(shapes))]

    return Way(keep, lambda kept, held: subject.join(leaves(kept), held), leaves)


def _keys(tree: Any) -> Any:
    """
    The keys of every dict of a tree, in the order in which they stand.
    """
    if isinstance(tree, dict):
        return list(tree), [_keys(child) for child in tree.values()]
    return [_keys(child) for child in tree] if isinstance(tree, (list, tuple)) else None
