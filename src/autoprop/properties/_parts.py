"""Derivatives where one part of the moved leaves moves and the others are traced, stopped or constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import jax
import jax.numpy as jnp
import numpy as np

from .._dtypes import all_finite
from .._pairing import cotangents, tangents
from .._point import Point
from .._subject import Subject
from .._trees import on_device
from .._verdict import Undecided, Verdict
from ..oracles.automatic import missing_mode
from ..oracles.bounded import fast
from ..oracles.own import value_and_derivatives
from .numeric import applies_to_values

__all__ = ["Part", "Place", "applies_to_several", "constants", "derivatives", "in_common_modes", "parts", "program"]

PARTS = 8  # each is differentiated once more in the same program, so of many arguments only the first ones are taken


@attrs.frozen
class Part:
    """
    What moves by itself: an argument, or a leaf of the only argument.

    Attributes:
        name: the argument's name or the leaf's path.
        leaves: its positions among the moved leaves.
    """

    name: str
    leaves: tuple[int, ...]


def applies_to_several(otherwise: str) -> Callable[[Subject], str | None]:
    """
    Return what says why a law of several arrays does not apply to a subject; ``otherwise`` where there is one only.
    """

    def applies(subject: Subject) -> str | None:
        arrays = sum(kind != "static" for kind in subject.kinds)
        return applies_to_values(subject) or (None if arrays > 1 else otherwise)

    return applies


def parts(subject: Subject) -> list[Part]:
    """
    Return the arguments that move, or the leaves that move if there is one argument only; the first eight.
    """
    if len(subject.argnames) == 1:
        return [Part(path, (i,)) for i, path in enumerate(subject.moved_paths)][:PARTS]
    owners = [owner for owner, kind in zip(subject.owners, subject.kinds, strict=True) if kind == "moved"]
    of = {owner: tuple(i for i, other in enumerate(owners) if other == owner) for owner in owners}
    return [Part(subject.argnames[owner], leaves) for owner, leaves in of.items()][:PARTS]


class Place:
    """
    A point of a subject, in the precision of its arrays: leaves and directions.

    Attributes:
        subject: the target.
        moved: the moved leaves.
        held: the held leaves.
        v: tangents of the moved leaves.
        u: cotangents of the inexact outputs.
        modes: the modes of differentiation that are asked for; by default those that the function has.
    """

    def __init__(
        self, subject: Subject, primals: tuple[Any, ...], seed: int, modes: tuple[str, ...] | None = None
    ) -> None:
        self.subject = subject
        self.moved, self.held = subject.split(primals)
        own = [leaf.dtype for leaf in subject.inexact_outputs]
        if subject.is_traceable:
            shapes = jax.eval_shape(subject.f, self.moved, self.held)
        else:
            shapes = subject.f(self.moved, self.held)
        dtypes = [jnp.result_type(leaf) for leaf in shapes]
        self.v = tangents(subject, self.moved, seed)
        self.u = cotangents(subject, seed, None if dtypes == own else dtypes)
        found = tuple(mode for mode, absent in missing_mode(subject).items() if not absent)
        self.modes = found if modes is None else modes

    def along(self, leaves: Sequence[int]) -> list[Any]:
        """
        Return the tangents of some of the moved leaves, 0 for the others.
        """
        return [t if i in leaves else np.zeros_like(t) for i, t in enumerate(self.v)]

    def plain(self, v: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """
        Return f(x), J·v and Jᵀ·u where every moved leaf moves; no leaves for a mode that is missing.
        """
        value, forward, reverse = value_and_derivatives(self.subject, self.moved, self.held, v, self.u)
        return value, (forward or []) if "forward" in self.modes else [], reverse or []

    def paths(self, gradients: Sequence[int], how: str) -> list[str]:
        """
        Return what value, tangents and the gradients of some moved leaves are called in messages.
        """
        outputs, leaves = self.subject.output_paths, self.subject.moved_paths
        tangents = [f"tangent of {path}" for path in outputs] if "forward" in self.modes else []
        cotangents = [f"gradient of {leaves[i]}" for i in gradients] if "reverse" in self.modes else []
        return [f"{path} {how}" for path in (*outputs, *tangents, *cotangents)]


def derivatives(
    f: Callable[[Any], list[Any]], moved: Any, v: Any, u: Sequence[Any], modes: Sequence[str]
) -> tuple[list[Any], list[Any], Any]:
    """
    Return f(moved), J·v and Jᵀ·u in these modes, for a tree of leaves and of tangents; no tangents and None for a mode
    that is not among them. Whatever a rule raises is raised.
    """
    value: list[Any] = []
    forward: list[Any] = []
    reverse = None
    if not jax.tree.leaves(moved):  # nothing moves: a tangent is 0, and there is no gradient
        value = f(moved)
        return value, [jnp.zeros_like(y) for y in value] if "forward" in modes else [], []
    if "forward" in modes:
        value, forward = jax.jvp(f, (moved,), (v,))
    if "reverse" in modes:
        value, pull = jax.vjp(f, moved)
        reverse = pull(list(u))[0]
    return value, forward, reverse


def program(subject: Subject, function: Callable[..., Any]) -> Callable[..., Any]:
    """
    Return a function of arrays compiled as checking programs are; itself where the subject works eagerly only.
    """
    return fast(subject, function) if subject.is_traceable else function


def constants(place: Place) -> dict[tuple[int, ...], Any]:
    """
    Return the derivatives where only some leaves move and all the rest is a constant of the program: for each part,
    that part alone, and all but it. Computed once for a point, since the numbers are compiled in.
    """
    subject, here = place.subject, parts(place.subject)
    every = range(len(place.moved))
    wanted = dict.fromkeys(part.leaves for part in here)
    wanted |= dict.fromkeys(tuple(i for i in every if i not in part.leaves) for part in here)
    key = place.modes, _bits([*place.moved, *place.held, *place.v])
    if subject.memo.get("constants:key") == key:
        found: dict[tuple[int, ...], Any] = subject.memo["constants"]
        return found

    fixed = [on_device(x) for x in place.moved]
    held = [on_device(x) for x in place.held]
    # NumPy constants as tangents are refused by some rules of JAX itself, those of `jax.shard_map` for one
    directions, u = [on_device(t) for t in place.v], [on_device(c) for c in place.u]

    def moving(leaves: tuple[int, ...], moved: Sequence[Any]) -> Any:
        def f(some: Sequence[Any]) -> list[Any]:
            return subject.f(_with(fixed, leaves, some), held)

        v = [directions[i] for i in leaves]
        return derivatives(f, [moved[i] for i in leaves], v, u, place.modes)

    def all_of_them(moved: list[Any]) -> list[Any]:
        return [moving(leaves, moved) for leaves in wanted]

    values = program(subject, all_of_them)(fixed)
    subject.memo["constants"] = found = dict(zip(wanted, values, strict=True))
    subject.memo["constants:key"] = key
    return found


def _with(leaves: Sequence[Any], positions: Sequence[int], values: Sequence[Any]) -> list[Any]:
    changed = dict(zip(positions, values, strict=True))
    return [changed.get(i, leaf) for i, leaf in enumerate(leaves)]


def _bits(leaves: Sequence[Any]) -> Any:
    arrays = [jax.random.key_data(x) if jnp.issubdtype(jnp.result_type(x), jax.dtypes.prng_key) else x for x in leaves]
    return tuple((str(a.dtype), a.shape, a.tobytes()) for a in map(np.asarray, arrays))


def in_common_modes(subject: Subject, point: Point, compare: Callable[[Place], Verdict]) -> Verdict:
    """
    Compare in the modes that the function has, in reverse mode alone if a part of it has no forward mode.
    """
    place = Place(subject, point.primals, point.seed)
    if not place.modes:
        return Undecided("there is no derivative here")
    if not all(all_finite(leaves) for leaves in place.plain(place.v)):
        return Undecided("value or derivative is not finite")
    verdict = compare(place)
    if isinstance(verdict, Undecided) and verdict.reason.startswith("not possible in JAX") and len(place.modes) > 1:
        return compare(Place(subject, point.primals, point.seed, ("reverse",)))
    return verdict
