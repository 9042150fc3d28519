"""The pool of signatures of a spec: few, each for a reason, the same for the same epoch."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from hypothesis.errors import InvalidArgument

from . import _dims
from ._dims import Size
from ._layout import Layout, layout
from ._leaves import ArraySpec, KeySpec, LabelsSpec
from ._parts import ArrayPart
from ._signature import Signature

__all__ = ["signatures", "volume"]

Sizes: TypeAlias = dict[str, Size]
Accept: TypeAlias = Callable[[Signature], bool]

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)
LARGE = 17
HUGE = 65536  # a float16 sum of more ones than this is infinite
MOST = 200_000  # elements of all leaves together, in the huge signature
ATTEMPTS = 12  # signatures with other than the first alternatives to try for one place of the pool
TRIES = 40  # extras to try before the pool stays smaller


def volume(plan: Layout, signature: Signature) -> int:
    """
    Return the number of elements of all arrays.
    """
    return sum(math.prod(part.shape) for part in plan.parts(signature) if isinstance(part, ArrayPart))


def _batch(name: str) -> bool:
    return name.startswith("*")


def _bare(sizes: Sizes) -> Sizes:
    return {name.removeprefix("*"): size for name, size in sizes.items()}


def _different(names: tuple[str, ...], primes: Iterator[int]) -> Sizes:
    return {name: ((next(primes),) if _batch(name) else next(primes)) for name in names}


def _primes(reverse: int = 0) -> Iterator[int]:
    head = PRIMES[:reverse][::-1] + PRIMES[reverse:]
    return itertools.chain(head, itertools.count(31, 2))


def _pairs(plan: Layout) -> list[tuple[str, str]]:
    """
    Return the pairs of plain names that appear together in a leaf.
    """
    found: dict[tuple[str, str], None] = {}
    for leaf in plan.leaves:
        if isinstance(leaf, ArraySpec | LabelsSpec | KeySpec):
            plain = [name for name in _dims.names(leaf.dims) if not _batch(name)]
            found |= dict.fromkeys(itertools.combinations(plain, 2))
    return list(found)


def _first(plan: Layout, epoch: int) -> list[list[Sizes]]:
    """
    Return the sizes that every pool begins with; of each group one is enough.
    """
    names = plan.names
    different = [_different(names, _primes()), _different(names, _primes(len(names)))]
    groups: list[list[Sizes]] = []
    if plan.own:
        groups.append([dict(plan.own)])
    groups.append(different)
    groups.append([{name: (() if _batch(name) else 1) for name in names}])
    groups.append([{name: ((2,) if _batch(name) else 2) for name in names}])
    pairs = _pairs(plan)
    if pairs:
        a, b = pairs[epoch % len(pairs)]
        groups.append([{**sizes, b: sizes[a]} for sizes in ({**different[0], a: 3}, different[1])])
    turn = names[epoch % len(names) :] + names[: epoch % len(names)] if names else ()
    groups.append([{**sizes, n: ((2, 3) if _batch(n) else LARGE)} for n in turn for sizes in different])
    return groups


def _empty(plan: Layout, epoch: int) -> list[Sizes]:
    names = [name for name in plan.names if not _batch(name)]
    turn = names[epoch % len(names) :] + names[: epoch % len(names)] if names else []
    different = _different(plan.names, _primes())
    return [{**different, name: 0} for name in turn]


def _huge(plan: Layout, dtypes: tuple[str, ...]) -> list[Sizes]:
    """
    Return sizes at which a float16 or bfloat16 leaf has more than `HUGE` elements.
    """
    typed = [leaf for leaf in plan.leaves if isinstance(leaf, ArraySpec | LabelsSpec)]
    found: list[Sizes] = []
    for leaf, dtype in zip(typed, dtypes, strict=True):
        if dtype not in ("float16", "bfloat16"):
            continue
        ones: Sizes = {name: (() if _batch(name) else 1) for name in plan.names}
        fixed = math.prod(_dims.shape(leaf.dims, _bare(ones)))
        for name in _dims.names(leaf.dims):
            if fixed and not _batch(name):
                power = leaf.dims.count(name)
                size = 1 + math.floor((HUGE / fixed) ** (1 / power) + 1e-9)
                found.append({**ones, name: size})
    return found


def _extra(plan: Layout, rng: random.Random) -> Sizes:
    plain = (1, 2, 3, 4, 5, 6, 7, 8)
    return {
        name: tuple(rng.choice(plain[:4]) for _ in range(rng.randrange(3))) if _batch(name) else rng.choice(plain)
        for name in plan.names
    }


class _Builder:
    """
    Collects accepted signatures, and turns through the alternatives of dtypes and static values.
    """

    def __init__(self, plan: Layout, accept: Accept | None) -> None:
        self.plan, self.accept = plan, accept
        self.counts = [len(names) for names in plan.alternatives] + list(plan.statics)
        self.position = 0
        self.tried: dict[Signature, bool] = {}

    def _turn(self, position: int) -> tuple[int, ...]:
        """
        Return one alternative per leaf. Each round over a leaf's alternatives is shifted by the leaf's place, so that
        leaves do not always turn together.
        """
        return tuple((position + position // count * place) % count for place, count in enumerate(self.counts))

    def _turns(self) -> list[tuple[int, ...]]:
        """
        Return the turn, then the turn without one of its alternatives, then a single one: a refused alternative must
        not hold back those that come with it.
        """
        turn = self._turn(self.position)
        places = [place for place, index in enumerate(turn) if index]
        without = [tuple(0 if p == place else index for p, index in enumerate(turn)) for place in places]
        single = [tuple(index if p == place else 0 for p, index in enumerate(turn)) for place in places]
        return [turn, *without, *single]

    def signature(self, sizes: Sizes, turn: tuple[int, ...]) -> Signature:
        arrays = self.plan.alternatives
        dtypes = tuple(names[i] for names, i in zip(arrays, turn, strict=False))
        return Signature(tuple(sorted(_bare(sizes).items())), dtypes, turn[len(arrays) :])

    def accepts(self, signature: Signature) -> bool:
        if signature not in self.tried:
            fine = self.plan.fits(signature) and (self.accept is None or bool(self.accept(signature)))
            self.tried[signature] = fine
            return fine
        return False  # accepted or refused before

    def first_of(self, group: list[Sizes]) -> list[Signature]:
        """
        Return the first accepted signature of a group, with the alternatives whose turn it is where possible.
        """
        found = (self.signature(sizes, turn) for turn in self._turns() for sizes in group)
        for signature in itertools.islice(dict.fromkeys(found), ATTEMPTS):
            if self.accepts(signature):
                self.position += 1
                return [signature]
        for sizes in group:  # whatever else was refused, the first alternatives have their chance
            signature = self.signature(sizes, (0,) * len(self.counts))
            if self.accepts(signature):
                self.position += 1
                return [signature]
        return []


def signatures(spec: Any, k: int = 8, *, epoch: int = 0, accept: Accept | None = None) -> list[Signature]:
    """
    Return the pool: the example's own sizes, all different, all 1, all 2, two equal, one large, extras, one empty.

    Args:
        spec: a spec.
        k: at most so many.
        epoch: another epoch has other extras; the same epoch the same pool.
        accept: refuses a signature, such as one under which the function cannot be traced.

    Raises:
        InvalidArgument: k is not positive, or no signature is accepted.
    """
    plan = layout(spec)
    if k < 1:
        raise InvalidArgument(f"k={k} must be at least 1")
    builder = _Builder(plan, accept)
    pool: list[Signature] = []
    for group in _first(plan, epoch):
        if len(pool) < k:
            pool += builder.first_of(group)
    last = _last(builder, epoch) if k >= 4 else []
    pool = pool[: k - len(last)]
    rng = random.Random(epoch)
    for _ in range(TRIES):
        if len(pool) + len(last) >= k:
            break
        before = builder.position
        found = builder.first_of([_extra(plan, rng)])
        builder.position = before + 1  # a refused alternative must not hold the others back
        pool += found
    if not pool + last:
        tried = "; ".join(map(str, builder.tried)) or "none: no leaf fits any of them"
        raise InvalidArgument(
            f"no signature of the spec was accepted; tried {tried}. Give sizes that the function can take: "
            "fixed sizes instead of names, or the same name where sizes must agree"
        )
    return pool + last


def _last(builder: _Builder, epoch: int) -> list[Signature]:
    """
    Return the signature with an empty dim, and the huge one of narrow floats.
    """
    plan = builder.plan
    found = builder.first_of(_empty(plan, epoch))
    narrow = tuple(
        next((i for i, name in enumerate(names) if name in ("float16", "bfloat16")), 0) for names in plan.alternatives
    )
    turn = (*narrow, *([0] * len(plan.statics)))
    dtypes = tuple(names[i] for names, i in zip(plan.alternatives, narrow, strict=True))
    for sizes in _huge(plan, dtypes):
        signature = builder.signature(sizes, turn)
        if volume(plan, signature) <= MOST and builder.accepts(signature):
            return [*found, signature]
    return found
