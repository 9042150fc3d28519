"""Shape steps: the same tree with fewer slices along one dim."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from hypothesis_jax import (
    Signature,
    array,
    choices,
    key,
    labels,
    one_hot,
    orthogonal,
    sample,
    signatures,
    simplex,
    smaller,
    spd,
    static,
)


def _signature(*dtypes: str, **sizes: object) -> Signature:
    return Signature(tuple(sorted(sizes.items())), dtypes)


def test_steps_of_one_dim() -> None:
    """One slice, then half, then all but one; slices that are zero are dropped first."""
    tree = jnp.array([1.0, 2.0, 0.0, 4.0])

    found = [x.tolist() for _, x in smaller(array("n"), _signature("float32", n=4), tree)]

    assert found[:3] == [[4.0], [1.0], [2.0]]
    assert found[3:5] == [[1.0, 2.0], [0.0, 4.0]]
    assert found[5] == [1.0, 2.0, 4.0]


def test_leaves_are_cut_together() -> None:
    """Every leaf that has the dim loses the same slices."""
    spec = (array("n d"), array("n"), key("n"), array("d"))
    tree = sample(spec, 1, seed=0, signature=(s := _signature(*["float32"] * 3, n=3, d=2))).tree
    w, b, k, _ = tree = tuple(leaf[0] for leaf in tree)

    for signature, (w2, b2, k2, d2) in smaller(spec, s, tree):
        sizes = dict(signature.sizes)
        assert (w2.shape, b2.shape, k2.shape, d2.shape) == (
            *((sizes["n"], sizes["d"]), (sizes["n"],), (sizes["n"],)),
            (sizes["d"],),
        )
        kept = [int(np.flatnonzero(np.asarray(b) == value)[0]) for value in np.asarray(b2)]
        assert bool((k2 == k[jnp.array(kept)]).all())
        assert set(np.asarray(w2).ravel()) <= set(np.asarray(w)[kept].ravel())


def test_smallest_first_and_few() -> None:
    """At most 16 steps, the smallest first, whatever the number of dims."""
    spec = array("a b c d")
    tree = jnp.ones((4, 5, 6, 7))

    found = [x.size for _, x in smaller(spec, _signature("float32", a=4, b=5, c=6, d=7), tree)]

    assert found == sorted(found)
    assert 8 <= len(found) <= 16


def test_labels_are_clipped() -> None:
    """Labels stay below a dim that became smaller."""
    spec = (array("c"), labels("2", below="c"))
    tree = (jnp.ones(4), jnp.array([1, 3], jnp.int32))

    found = {s.sizes[0][1]: y.tolist() for s, (_, y) in smaller(spec, _signature("float32", "int32", c=4), tree)}

    assert found == {1: [0, 0], 2: [1, 1], 3: [1, 2]}


@pytest.mark.parametrize("support", [simplex, one_hot, spd, orthogonal], ids=repr)
def test_stay_in_the_support(support: object) -> None:
    """What is cut is a member again: it can be drawn."""
    spec = array("n n", support=support)
    signature = _signature("float32", n=4)

    for row in sample(spec, 12, seed=0, signature=signature).tree:
        steps = list(smaller(spec, signature, row))
        assert steps
        assert all(choices(spec, tree, signature=less) is not None for less, tree in steps)


def test_batches_are_dropped() -> None:
    """The dims of a *batch go all at once."""
    tree = jnp.arange(12.0).reshape(2, 2, 3)

    found = [(dict(s.sizes)["b"], x.tolist()) for s, x in smaller(array("*b 3"), _signature("float32", b=(2, 2)), tree)]

    assert found == [((), [0.0, 1.0, 2.0]), ((), [9.0, 10.0, 11.0])]


def test_nothing_smaller() -> None:
    """At size 1 or 0 there are no steps; statics have none."""
    spec = [array("n d"), static("a")]
    one = Signature((("d", 0), ("n", 1)), ("float32",), (0,))

    assert list(smaller(spec, one, [jnp.ones((1, 0)), "a"])) == []


def test_yielded_signatures_are_those_of_the_tree() -> None:
    """Each signature describes its tree."""
    spec = {"x": array("n d"), "y": array("d d")}
    signature = signatures(spec)[0]
    tree = {"x": jnp.ones((2, 3)), "y": jnp.ones((3, 3))}

    for less, found in smaller(spec, signature, tree):
        n, d = (dict(less.sizes)[name] for name in "nd")
        assert (found["x"].shape, found["y"].shape) == ((n, d), (d, d))
