"""Hypothesis strategies of the concrete trees of a spec, and their inverse."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ._layout import Layout, layout
from ._pool import signatures, volume
from ._signature import Signature

__all__ = ["choices", "trees"]


def _at(plan: Layout, signature: Signature, special: bool) -> SearchStrategy[Any]:
    parts = plan.parts(signature)

    def finish(values: tuple[Any, ...]) -> Any:
        return plan.treedef.unflatten([part.finish(value) for part, value in zip(parts, values, strict=True)])

    return st.tuples(*(part.strategy(special=special) for part in parts)).map(finish)


def _simplest_first(plan: Layout, pool: list[Signature]) -> list[Signature]:
    """
    Return the pool in the order in which Hypothesis tries it: few elements first, but empty arrays last.
    """

    def order(signature: Signature) -> tuple[bool, int, int]:
        empty = any(size == 0 for _, size in signature.sizes)
        return empty, volume(plan, signature), pool.index(signature)

    return sorted(pool, key=order)


def trees(spec: Any, *, signature: Signature | None = None, special: bool = False) -> SearchStrategy[Any]:
    """
    Return a strategy of concrete trees; dims of the same name have the same size in all leaves.

    Shrinks to the signature with the fewest elements (none, if empty arrays do), then to zeros.

    Args:
        spec: a pytree of leaf specs, strategies and arrays, or a `like(...)`.
        signature: sizes, dtypes and static values to keep to; None for those of ``signatures(spec)``.
        special: also NaN, ±inf, subnormal numbers and integers that are not typical: every tree that can be replayed.

    Raises:
        InvalidArgument: the spec or the signature cannot be.
    """
    plan = layout(spec)
    if signature is not None:
        plan.check(signature)
        return st.deferred(lambda: _at(plan, signature, special))
    return st.deferred(lambda: st.one_of([_at(plan, s, special) for s in _simplest_first(plan, signatures(plan))]))


def choices(spec: Any, tree: Any, *, signature: Signature) -> tuple[Any, ...] | None:
    """
    Return the choices under which ``trees(spec, signature=signature, special=True)`` draws exactly this tree.

    The tree comes back bit for bit. None where that is not possible: leaves of more than 128 elements or drawn from
    the user's own strategies, values outside the spec.
    """
    plan = layout(spec)
    found: list[Any] = []
    for part, leaf in zip(plan.parts(signature), plan.treedef.flatten_up_to(tree), strict=True):
        one = part.choices(leaf)
        if one is None:
            return None
        found += one
    return tuple(found)
