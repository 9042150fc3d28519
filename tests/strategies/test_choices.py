"""Any tree of a spec can be drawn again by Hypothesis, bit for bit."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import Phase, find, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes

from hypothesis_jax import (
    Signature,
    array,
    choices,
    constant,
    key,
    labels,
    like,
    mask,
    one_hot,
    orthogonal,
    positive,
    real,
    sample,
    signatures,
    simplex,
    sorted_,
    spd,
    static,
    trees,
    unit_interval,
)


def _bytes(tree: Any) -> list[Any]:
    return [
        np.asarray(jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x).tobytes()
        for x in jax.tree.leaves(tree)
        if isinstance(x, jax.Array | np.ndarray | np.generic)
    ]


def _replayed(spec: Any, tree: Any, signature: Signature) -> Any:
    """Return the first tree that Hypothesis evaluates when it starts from the choices."""
    found = choices(spec, tree, signature=signature)
    assert found is not None
    database, seen = InMemoryExampleDatabase(), []
    database.save(b"k.secondary", choices_to_bytes(found))
    find(
        trees(spec, signature=signature, special=True),
        lambda value: seen.append(value) or True,
        settings=settings(database=database, phases=[Phase.reuse, Phase.shrink], deadline=None),
        database_key=b"k",
    )
    return seen[0]


SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-45, 1.1754944e-38, 3.4028235e38]


def test_special_values() -> None:
    """NaN, infinities, −0.0, subnormal and extreme numbers come back."""
    tree = jnp.asarray(np.array(SPECIAL, np.float32))

    assert _bytes(_replayed(array("8"), tree, Signature((), ("float32",)))) == _bytes(tree)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64", "int8", "uint32", "int32", "bool"])
def test_random_bits(dtype: str) -> None:
    """Arrays of random bits come back, whatever the dtype; NaN of any payload in the narrow dtypes aside."""
    rng = np.random.default_rng(0)
    kind = jnp.dtype(dtype)
    if dtype == "bool":
        value = rng.random(16) < 0.5
    else:
        value = rng.integers(0, 256, 16 * kind.itemsize, np.uint8).view(kind)
        value = np.where(np.isnan(value), np.ones((), kind), value)
    support = mask if dtype == "bool" else real
    spec = array("16", dtype, support=support)

    assert _bytes(_replayed(spec, jnp.asarray(value), Signature((), (dtype,)))) == [value.tobytes()]


def test_wide_dtypes(x64: None) -> None:
    """64-bit dtypes come back under x64."""
    spec = [array("2", jnp.float64), array("2", jnp.complex128), array("2", jnp.int64), array("2", jnp.uint64)]
    tree = [
        jnp.array([5e-324, -np.inf]),
        jnp.array([complex(np.nan, -0.0), 1e300j]),
        jnp.array([-(2**63), 2**63 - 1]),
        jnp.array([0, 2**64 - 1], jnp.uint64),
    ]
    signature = signatures(spec)[0]

    assert _bytes(_replayed(spec, tree, signature)) == _bytes(tree)


SUPPORTS = [real, real(0, 1), real(-2, None), positive, unit_interval, mask, simplex, one_hot, sorted_, spd, orthogonal]


@pytest.mark.parametrize("support", SUPPORTS, ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_every_row_of_every_support(support: Any, dtype: str) -> None:
    """Every row that the sampler gives can be drawn again; a few of them are."""
    spec, signature = array("3 3", dtype, support=support), Signature((), (dtype,))
    rows = sample(spec, 80, seed=2, signature=signature).tree

    assert [i for i, row in enumerate(rows) if choices(spec, row, signature=signature) is None] == []
    for row in rows[::16]:
        assert _bytes(_replayed(spec, row, signature)) == _bytes(row)


def test_a_whole_tree() -> None:
    """Leaves of all kinds come back together, in order."""
    spec = {
        "c": constant("c"),
        "k": key("2"),
        "l": labels("n", below="d"),
        "s": static("a", "b"),
        "w": array("n d"),
        "z": array("", jnp.complex64),
    }
    signature = Signature((("d", 3), ("n", 2)), ("int32", "float32", "complex64"), (1,))
    rows = sample(spec, 6, seed=0, signature=signature)
    tree = {name: leaf if name in "cs" else leaf[5] for name, leaf in rows.tree.items()}

    found = _replayed(spec, tree, signature)

    assert _bytes(found) == _bytes(tree)
    assert (found["s"], found["c"]) == ("b", "c")


def test_integers_out_of_an_examples_range() -> None:
    """Integers like an example's come back even where they are out of its range."""
    spec = like(np.array([2, 5], np.int8))
    tree = (jnp.array([-128, 127], jnp.int8),)

    assert _bytes(_replayed(spec, tree, signatures(spec)[0])) == _bytes(tree)


ONE = Signature((), ("float32",))
NOT_INVERTIBLE = {
    "large": (array("129"), jnp.zeros(129), ONE),
    "another shape": (array("2"), jnp.zeros(3), ONE),
    "another dtype": (array("2"), jnp.zeros(2, jnp.int32), ONE),
    "outside the support": (array("2", support=positive), jnp.zeros(2), ONE),
    "a user's strategy": (st.integers(), 3, Signature()),
    "another key": (key(), jax.random.split(jax.random.key(0))[0], Signature()),
    "another static value": (static("a", "b"), "a", Signature((), (), (1,))),
}


@pytest.mark.parametrize("case", NOT_INVERTIBLE)
def test_none_where_there_are_no_choices(case: str) -> None:
    """What cannot be drawn again is None, never something else."""
    spec, tree, signature = NOT_INVERTIBLE[case]

    assert choices(spec, tree, signature=signature) is None
