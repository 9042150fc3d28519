"""The spec of arguments like an example's."""

from __future__ import annotations

import attrs
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hypothesis_jax import Signature, array, key, like, mask, real, sample, signatures, trees
from hypothesis_jax._example import Around
from hypothesis_jax._leaves import ArraySpec


def test_equal_sizes_share_a_name() -> None:
    """Sizes of two or more that are equal have one name over all arguments; 1 and 0 stay."""
    x, y = like(jnp.ones((4, 1, 3)), {"w": jnp.ones((3, 0, 4))})

    assert (x.dims, y["w"].dims) == (("a", 1, "b"), ("b", 0, "a"))


def test_many_sizes() -> None:
    """There is a name for every size."""
    found = like(*(jnp.ones(n) for n in range(2, 62)))

    assert len({spec.dims for spec in found}) == 60


LEAVES = {
    "float32": (jnp.float32(1.0), array("")),
    "bfloat16": (jnp.zeros((), jnp.bfloat16), array("", jnp.bfloat16)),
    "numpy float64": (np.float64(1.0), array("", jnp.float32)),
    "complex": (1j, array("", complex)),
    "float": (1.5, array("", float)),
    "bool array": (np.array([True, False]), array("a", bool, support=mask)),
    "key": (jax.random.key(0, impl="rbg"), key(impl="rbg")),
    "keys": (jax.random.split(jax.random.key(0), 3), key("a", impl="threefry2x32")),
    "abstract": (jax.ShapeDtypeStruct((2, 3), jnp.float16), array("a b", jnp.float16)),
    "a spec": (array("n", support=mask), array("n", support=mask)),
}


@pytest.mark.parametrize("case", LEAVES)
def test_leaf(case: str) -> None:
    """Each kind of example has its spec."""
    example, expected = LEAVES[case]
    (found,) = like(example)

    if isinstance(found, ArraySpec) and isinstance(found.support, Around):
        found = attrs.evolve(found, support=real)
    assert found == expected


def test_example_numbers() -> None:
    """Rows hold the example itself at its own shape, and its elements at others; one leaf at a time leaves it."""
    spec = like(jnp.array([0.25, 0.5]), jnp.float32(3.0))
    pool = {dict(s.sizes)["a"]: s for s in signatures(spec)}
    own, other = pool.pop(2), next(s for size, s in pool.items() if size > 2)
    at_own, at_other = (sample(spec, 120, seed=0, signature=s) for s in (own, other))
    row = at_own.families.index("example")

    assert [np.asarray(leaf)[row].tolist() for leaf in at_own.tree] == [[0.25, 0.5], 3.0]
    assert set(np.asarray(at_other.tree[0])[row].tolist()) <= {0.25, 0.5}
    zeros = [i for i, family in enumerate(at_own.families) if family == "zeros"]
    assert any(at_own.tree[0][i].tolist() == [0.25, 0.5] and at_own.tree[1][i] == 0 for i in zeros)


STATICS = {
    "int": (3, (3, 4, 2)),
    "bool": (True, (True, False)),
    "str": ("mean", ("mean",)),
    "fn": (jnp.sin, (jnp.sin,)),
}


@pytest.mark.parametrize("case", STATICS)
def test_static(case: str) -> None:
    """Python values are static; numbers have neighbours."""
    example, expected = STATICS[case]

    assert like(example)[0].values == expected


def test_float64_under_x64(x64: None) -> None:
    """A numpy float64 keeps its dtype where JAX can hold it."""
    assert like(np.ones(2))[0].dtypes == (np.dtype("float64"),)


def test_integers_stay_in_range(assert_all_examples) -> None:
    """Integers are drawn from the example's own range."""
    assert_all_examples(trees(like(np.array([2, 5, 3]))), lambda t: bool(((t[0] >= 2) & (t[0] <= 5)).all()))


def test_integers_beyond_jax(minimal) -> None:
    """A numpy int64 that JAX cannot hold is taken as the nearest it can."""
    assert minimal(trees(like(np.int64(2**40))))[0] == 2**31 - 1


def test_own_sizes_first() -> None:
    """The first signature is the example itself: its sizes, dtypes and static values."""
    found = signatures(like(jnp.ones((4, 6)), 7))[0]

    assert found == Signature((("a", 4), ("b", 6)), ("float32",), (0,))


def test_none_is_kept() -> None:
    """None is a node without leaves, as for jax."""
    assert like({"w": None})[0] == {"w": None}


def test_dicts_keep_their_order() -> None:
    """The keys of a dict stand as they were written, at every depth."""
    found = like({"w": {"z": jnp.ones(2), "a": 1.0}, "b": [{"y": 1, "x": 2}]})[0]

    assert (list(found), list(found["w"]), list(found["b"][0])) == (["w", "b"], ["z", "a"], ["y", "x"])
