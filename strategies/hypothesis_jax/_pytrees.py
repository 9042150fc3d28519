"""Strategies of pytrees of every kind of node."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import attrs
import jax
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import SearchStrategy

__all__ = ["pytrees"]


class Pair(NamedTuple):
    """
    A named tuple.
    """

    left: Any
    right: Any


@dataclasses.dataclass(frozen=True)
class Record:
    """
    A registered dataclass with a static field.
    """

    first: Any
    second: Any
    name: str = "record"


@attrs.frozen
class Box:
    """
    An attrs class, registered with keys.
    """

    content: Any


class Flat:
    """
    A class registered without keys.
    """

    def __init__(self, *children: Any) -> None:
        self.children = children

    def __eq__(self, other: object) -> bool:
        """
        Compare the children.
        """
        return isinstance(other, Flat) and self.children == other.children

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """
        Return the call that makes this.
        """
        return f"Flat({', '.join(map(repr, self.children))})"


jax.tree_util.register_dataclass(Record, data_fields=["first", "second"], meta_fields=["name"])
jax.tree_util.register_pytree_with_keys(
    Box,
    lambda box: (((jax.tree_util.GetAttrKey("content"), box.content),), None),
    lambda _, children: Box(*children),
)
jax.tree_util.register_pytree_node(Flat, lambda flat: (flat.children, None), lambda _, children: Flat(*children))


def _nodes(children: SearchStrategy[Any]) -> SearchStrategy[Any]:
    few = st.lists(children, max_size=3)
    return st.one_of(
        few,
        few.map(tuple),
        st.dictionaries(st.sampled_from(["a", "b", "c", "w b"]), children, max_size=3),
        st.builds(Pair, children, children),
        st.builds(Record, children, children),
        st.builds(Box, children),
        few.map(lambda found: Flat(*found)),
    )


def pytrees(leaves: SearchStrategy[Any], *, max_leaves: int = 8) -> SearchStrategy[Any]:
    """
    Return a strategy of pytrees: dict, list, tuple, None, named tuple, dataclass, attrs class and registered nodes.

    Shrinks to a single leaf.

    Args:
        leaves: strategy of the leaves.
        max_leaves: about so many leaves at most, None among them.

    Raises:
        InvalidArgument: max_leaves is not positive, or leaves is no strategy.
    """
    if not isinstance(leaves, SearchStrategy):
        raise InvalidArgument(f"leaves={leaves!r} must be a strategy, such as arrays(jnp.float32, (2,))")
    if max_leaves < 1:
        raise InvalidArgument(f"max_leaves={max_leaves} must be at least 1")
    return st.recursive(leaves | st.none(), _nodes, max_leaves=max_leaves)
