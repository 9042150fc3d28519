"""The sampler: rows, axes, families, and that the same seed gives the same rows."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import strategies as st

from hypothesis_jax import (
    FAMILIES,
    Signature,
    array,
    constant,
    key,
    labels,
    like,
    mask,
    positive,
    rows,
    sample,
    signatures,
    static,
)

SPEC = {
    "k": key(),
    "m": static("mean", None),
    "w": array("n d"),
    "x": array("n", support=positive),
    "y": labels("n", below="d"),
    "z": constant(np.ones(2)),
}
SIGNATURE = Signature((("d", 3), ("n", 2)), ("float32", "float32", "int32"), (0,))


def _of(name, spec, n=256, signature=None):
    """Return the rows of one family of a single leaf."""
    found = sample(spec, n, seed=0, signature=signature or signatures(spec)[0])
    chosen = np.array([family == name for family in found.families])
    assert chosen.any(), f"no row of {name!r}"
    return np.asarray(found.tree)[chosen]


def test_shapes_and_axes() -> None:
    """What varies has rows along axis 0; statics and constants have none."""
    found = sample(SPEC, 5, seed=0, signature=SIGNATURE)

    assert [jnp.shape(leaf) for leaf in (found.tree[k] for k in "kwxyz")] == [(5,), (5, 2, 3), (5, 2), (5, 2), (2,)]
    assert found.axes == [0, None, 0, 0, 0, None]
    assert len(found.families) == 5


def test_axes_follow_the_leaves_of_the_tree() -> None:
    """A static None is no leaf of the tree, a static tuple several: axes count as jax does."""
    found = sample(
        [static(None), static((1, 2), 3), array("")], 2, seed=0, signature=Signature((), ("float32",), (0, 0))
    )

    assert found.axes == [None, None, 0]


def test_same_seed_same_rows() -> None:
    """Rows follow from spec, n, seed and signature alone; another seed gives others."""
    first, again, other = (rows(SPEC, 64, seed=seed, signature=SIGNATURE) for seed in (7, 7, 8))

    assert first["w"].tobytes() == again["w"].tobytes()
    assert bool((first["k"] == again["k"]).all())
    assert first["w"].tobytes() != other["w"].tobytes()


def test_first_row_is_typical() -> None:
    """Row 0 is typical: finite and of order one."""
    found = sample(SPEC, 300, seed=1, signature=SIGNATURE)

    assert found.families[0] == "typical"
    assert np.abs(found.tree["w"][0]).max() < 6


def test_every_family_appears() -> None:
    """256 rows show every family on every leaf that has it."""
    found = sample(SPEC, 256, seed=0, signature=SIGNATURE)
    expected = {"zeros", "identity", "edges", "lower end", "nan entries", "ties", "mixture"}

    assert expected <= set(found.families) <= set(FAMILIES)


def test_families_one_leaf_at_a_time() -> None:
    """Each family also appears on one leaf alone, while the others are typical."""
    found = sample([array("3"), array("3")], 256, seed=0, signature=Signature((), ("float32", "float32")))
    zero = [
        tuple(bool((leaf[i] == 0).all()) for leaf in found.tree) for i, f in enumerate(found.families) if f == "zeros"
    ]

    assert {(True, True), (True, False), (False, True)} <= set(zero)


def test_few_rows_go_on_with_the_next_seed() -> None:
    """Where n is small, several seeds cover what one cannot."""
    one = Signature((), ("float32",))
    several = {f for seed in range(8) for f in sample(array("2 2"), 5, seed=seed, signature=one).families}

    assert several == set(sample(array("2 2"), 256, seed=0, signature=one).families)


def test_only_tagged_rows_are_not_finite() -> None:
    """NaN and infinities are only in the rows that say so."""
    found = sample(SPEC, 256, seed=0, signature=SIGNATURE)
    finite = np.isfinite(found.tree["w"]).all((1, 2))

    assert {f for f, fine in zip(found.families, finite, strict=True) if not fine} == {"nan entries", "inf entries"}


FAMILY = {
    "zeros": lambda x: (x == 0) & ~np.signbit(x),
    "negative zeros": lambda x: (x == 0) & np.signbit(x),
    "zero element": lambda x: (x == 0).sum((1, 2)) == 1,
    "zero row": lambda x: (x == 0).all(2).sum(1) == 1,
    "ones": lambda x: x == 1,
    "ties": lambda x: np.array([len(np.unique(row)) <= 2 for row in x]),
    "far from 0": lambda x: np.ptp(x, (1, 2)) < 12,
    "equal rows": lambda x: x == x[:, :1],
    "equal columns": lambda x: x == x[:, :, :1],
    "equal elements": lambda x: x == x[:, :1, :1],
    "small integers": lambda x: (x == np.round(x)) & (np.abs(x) <= 4),
    "half integers": lambda x: (np.abs(x) % 1 == 0.5) & (np.abs(x) <= 10.5),
    "magnitude 1e1..1e3": lambda x: (np.abs(x) >= 10 * (1 - 1e-6)) & (np.abs(x) <= 1000 * (1 + 1e-6)),
    "magnitude 1e9": lambda x: (np.abs(x) > 1e8) & (np.abs(x) < 1e10),
    "magnitude 1e-9": lambda x: (np.abs(x) > 1e-10) & (np.abs(x) < 1e-8),
    "1e-20": lambda x: (np.abs(x) > 1e-21) & (np.abs(x) < 1e-19),
    "smallest normal": lambda x: np.abs(x) == np.finfo(np.float32).tiny,
    "subnormal": lambda x: (np.abs(x) < np.finfo(np.float32).tiny) & (x != 0),
    "large": lambda x: (np.abs(x) >= 1) & (np.abs(x) < 5e9),
    "nan entries": lambda x: np.isnan(x).any((1, 2)),
    "inf entries": lambda x: np.isinf(x).any((1, 2)),
    "identity": lambda x: x == np.eye(3),
    "diagonal": lambda x: (x == 0) | (np.eye(3) == 1),
    "rank deficient": lambda x: np.linalg.matrix_rank(x, tol=1e-5) == 1,
    "scaled identity 1e9": lambda x: x == np.float32(1e9) * np.eye(3, dtype=np.float32),
    "scaled identity 1e-20": lambda x: x == np.float32(1e-20) * np.eye(3, dtype=np.float32),
    "symmetric": lambda x: x == x.swapaxes(1, 2),
}


@pytest.mark.parametrize("name", FAMILY)
def test_family(name) -> None:
    """A family is what its name says."""
    assert FAMILY[name](_of(name, array("3 3"))).all()


def test_oblong_identity() -> None:
    """Matrix families are there for matrices that are not square too."""
    assert (_of("identity", array("2 3")) == np.eye(2, 3)).all()


INTEGERS = {
    "edges": lambda x: np.isin(x, [-128, 127, 0, 5, 2]),
    "out of range": lambda x: (x < 2) | (x > 5),
    "negative": lambda x: x < 0,
    "all equal": lambda x: x == x[:, :1],
    "typical": lambda x: (x >= 2) & (x <= 5),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_of_an_example(name) -> None:
    """Integers like an example's are in its own range, at the edges, or out of range where the family says so."""
    spec = like(np.array([2, 5, 3], np.int8))

    found = sample(spec, 200, seed=0, signature=signatures(spec)[0])
    chosen = np.asarray(found.tree[0])[[family == name for family in found.families]]

    assert len(chosen)
    assert INTEGERS[name](chosen).all()


def test_labels_reach_both_edges_and_no_further() -> None:
    """Labels include the first and the last, and nothing else than labels."""
    found = rows(labels("2", below=50), 256, seed=0, signature=Signature((), ("int32",)))

    assert (int(found.min()), int(found.max())) == (0, 49)
    assert len(np.unique(found)) > 25


def test_masks() -> None:
    """Masks are all true, all false, or have a single true."""
    spec = array("4", bool, support=mask)

    assert _of("all true", spec).all()
    assert not _of("all false", spec).any()
    assert (_of("one true", spec).sum(1) == 1).all()


def test_overflowing_sum() -> None:
    """A sum of finite float16 numbers overflows."""
    spec = array("8", jnp.float16)
    x = _of("overflowing sum", spec)

    assert np.isfinite(x).all()
    assert (x.astype(np.float64).sum(1) > 65504).all()


def test_overflow_comes_early() -> None:
    """A narrow leaf, which may be sampled in few rows because it is long, shows its overflow in the second."""
    found = sample(array("8", jnp.float16), 2, seed=0, signature=Signature((), ("float16",)))

    assert found.families == ("typical", "overflowing sum")


def test_complex_families() -> None:
    """A structured family of a complex leaf has no imaginary part; others have one of the same kind."""
    assert (_of("identity", array("2 2", jnp.complex64)) == np.eye(2)).all()
    assert (np.abs(_of("magnitude 1e9", array("2 2", jnp.complex64)).imag) > 1e8).all()


def test_empty_leaves() -> None:
    """A leaf without elements has rows without elements."""
    assert rows(array("n d"), 3, seed=0, signature=Signature((("d", 2), ("n", 0)), ("float32",))).shape == (3, 0, 2)


def test_strategy_leaves_are_drawn_once() -> None:
    """A leaf that is a strategy has one value for all rows, the same for the same seed."""
    spec = [array("2"), st.integers(0, 10**6)]
    first, again = (sample(spec, 4, seed=3, signature=Signature((), ("float32",))) for _ in range(2))

    assert first.axes == [0, None]
    assert first.tree[1] == again.tree[1]


def test_inside_a_test_of_hypothesis(assert_all_examples) -> None:
    """Strategy leaves can be sampled inside a body of given too."""
    spec = [array("2"), st.integers(0, 9)]
    signature = Signature((), ("float32",))

    assert_all_examples(
        st.integers(0, 9), lambda seed: rows(spec, 2, seed=seed, signature=signature)[1] in range(10), 3
    )


def test_keys_differ() -> None:
    """Each row has a key of its own."""
    found = rows(key(), 32, seed=0, signature=Signature())

    assert len(np.unique(jax.random.key_data(found), axis=0)) == 32
