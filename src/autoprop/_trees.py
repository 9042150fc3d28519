"""Leaves of argument trees: their paths and their kinds."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

__all__ = [
    "as_arrays",
    "is_array",
    "is_inexact",
    "is_key",
    "leaf_paths",
    "matches_name",
    "on_device",
    "reordered",
    "same_tree",
]


def is_key(leaf: Any) -> bool:
    """
    Say whether a leaf is an array of typed PRNG keys.
    """
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def is_array(leaf: Any) -> bool:
    """
    Say whether a leaf is traced: arrays and NumPy scalars, and Python floats and complex numbers. Python integers,
    booleans, strings and everything else are static.
    """
    return isinstance(leaf, (jax.Array, np.ndarray, np.generic, float, complex))


def as_arrays(tree: Any) -> list[Any]:
    """
    Return the leaves of a value, those that are no arrays made into arrays.
    """
    return [leaf if is_array(leaf) else jnp.asarray(leaf) for leaf in jax.tree.leaves(tree)]


def on_device(leaf: Any) -> jax.Array:
    """
    Return a leaf as a JAX array; itself if it is one. `jax.numpy.asarray` may compile a program for each shape.
    """
    return leaf if isinstance(leaf, jax.Array) else jax.device_put(leaf)


def is_inexact(leaf: Any) -> bool:
    """
    Say whether a leaf can be differentiated: floating or complex.
    """
    return is_array(leaf) and not is_key(leaf) and jnp.issubdtype(jnp.result_type(leaf), jnp.inexact)


def leaf_paths(tree: Any, prefix: str = "") -> list[str]:
    """
    Return the path of each leaf, such as ``['w']``, behind ``prefix``.
    """
    return [prefix + jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path(tree)[0]]


def matches_name(path: str, name: str) -> bool:
    """
    Say whether a leaf's path is ``name`` or lies below it.
    """
    return path == name or (path.startswith(name) and path[len(name)] in "[.")


def same_tree(left: Any, right: Any) -> bool:
    """
    Say whether two tree definitions are equal.
    """
    return bool(left == right)


def reordered(tree: Any, pattern: Any = None) -> Any:
    """
    Return an equal tree whose dicts hold their keys in the order of another tree's dicts, or turned round.

    JAX sorts the keys of every dict that it rebuilds. Nodes of other classes than dict, list and tuple stay as they
    are, and so do dicts where the other tree has other keys.

    Args:
        tree: the tree.
        pattern: the tree with the order that is wanted; None for every dict turned round.
    """
    if type(tree) is dict:
        keys = reversed(list(tree)) if pattern is None else pattern if _same_keys(tree, pattern) else tree
        return {key: reordered(tree[key], _below(pattern, key, tree)) for key in keys}
    if isinstance(tree, (list, tuple)):
        children = [reordered(child, _below(pattern, i, tree)) for i, child in enumerate(tree)]
        if hasattr(tree, "_fields"):
            return type(tree)(*children)
        return type(tree)(children) if type(tree) in (list, tuple) else tree
    return tree


def _same_keys(tree: Any, pattern: Any) -> bool:
    return isinstance(pattern, dict) and set(pattern) == set(tree)


def _below(pattern: Any, key: Any, tree: Any) -> Any:
    """
    What a pattern says of a child; a child that it does not know is its own pattern.
    """
    if pattern is None:
        return None
    try:
        return pattern[key]
    except (TypeError, KeyError, IndexError, AttributeError):
        return tree[key]
