"""Leaves of argument trees: kinds and paths."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop._trees import is_array, is_inexact, is_key, leaf_paths, matches_name, reordered, same_tree

KINDS: list[tuple[Any, bool, bool]] = [
    (np.ones(2, np.float32), True, True),
    (jnp.ones(2, jnp.bfloat16), True, True),
    (np.ones(2, np.complex64), True, True),
    (np.float32(1), True, True),
    (1.5, True, True),
    (1j, True, True),
    (np.ones(2, np.int32), True, False),
    (np.ones(2, bool), True, False),
    (jax.random.key(0), True, False),
    (3, False, False),
    (True, False, False),
    ("mean", False, False),
    (None, False, False),
]


@pytest.mark.parametrize(("leaf", "array", "inexact"), KINDS, ids=lambda each: type(each).__name__)
def test_kinds(leaf: Any, array: bool, inexact: bool) -> None:
    """Arrays and Python floats are traced, of them the floating and complex ones differentiated; the rest is static."""
    assert (is_array(leaf), is_inexact(leaf)) == (array, inexact)


def test_keys() -> None:
    """A typed key is a key, raw key data are integers."""
    assert (is_key(jax.random.key(0)), is_key(np.zeros(2, np.uint32))) == (True, False)


def test_paths() -> None:
    """Each leaf has its path behind the argument's name; None is no leaf."""
    assert leaf_paths({"w": 1.0, "b": (2.0, None)}, "params") == ["params['b'][0]", "params['w']"]
    assert leaf_paths(1.0, "x") == ["x"]


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("params['w']", "params", True),
        ("params['w']", "params['w']", True),
        ("model.weight", "model", True),
        ("params2", "params", False),
        ("params", "params['w']", False),
        ("x", "", False),
    ],
)
def test_names(path: str, name: str, expected: bool) -> None:
    """A name means its leaf and everything below it, and nothing that is only spelled alike."""
    assert matches_name(path, name) is expected


def test_same_tree() -> None:
    """Trees are the same by their shape, not by their leaves."""
    left, right, other = (jax.tree.structure(tree) for tree in ({"a": 1}, {"a": 2}, {"b": 1}))
    assert (same_tree(left, right), same_tree(left, other)) == (True, False)


def test_reordered() -> None:
    """An equal tree with the keys of its dicts as in another tree, or turned round; other nodes stay."""
    tree, written = {"a": [{"c": 1, "d": 2}], "b": (3, None)}, {"b": (0, 0), "a": [{"d": 0, "c": 0}]}
    found, turned = reordered(tree, written), reordered(tree)
    assert (list(found), list(found["a"][0]), found) == (["b", "a"], ["d", "c"], tree)
    assert (list(turned), list(turned["a"][0]), turned) == (["b", "a"], ["d", "c"], tree)
    assert list(reordered({"a": 1, "b": 2}, {"b": 0})) == ["a", "b"]
