"""The pool of signatures: which there are, in which order, and that it is the same every time."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from hypothesis_jax import Signature, array, labels, like, orthogonal, positive, signatures, simplex, spd, static


def _sizes(spec, **options):
    return [dict(s.sizes) for s in signatures(spec, **options)]


def test_order() -> None:
    """All different, all 1, all 2, two equal, one large, extras, one empty."""
    found = _sizes(array("n d"))

    assert found[:5] == [{"n": 2, "d": 3}, {"n": 1, "d": 1}, {"n": 2, "d": 2}, {"n": 3, "d": 3}, {"n": 17, "d": 3}]
    assert (len(found), found[-1]) == (8, {"n": 0, "d": 3})


def test_same_every_time() -> None:
    """The pool follows from the spec and the epoch alone."""
    spec = {"x": array("n d *b", (jnp.float32, jnp.int8)), "m": static(1, 2, 3)}

    assert signatures(spec, epoch=5) == signatures(spec, epoch=5)


def test_epochs_differ() -> None:
    """Another epoch has other extras, and begins the same."""
    first, second = (signatures(array("n d"), epoch=epoch) for epoch in (0, 1))

    assert first[:3] == second[:3]
    assert first != second


def test_no_signature_twice() -> None:
    """A pool has no duplicates, and may be smaller than asked."""
    found = signatures(array("3"))

    assert found == [Signature((), ("float32",))]


@pytest.mark.parametrize("k", [1, 2, 3, 4, 8, 12])
def test_at_most_k(k) -> None:
    """A pool has k signatures, where there are so many."""
    assert len(signatures(array("n d", (jnp.float32, jnp.float16)), k)) == k


def test_example_first() -> None:
    """The example's own sizes come first, then all different."""
    assert _sizes(like(jnp.ones((4, 6)), jnp.ones(6)))[:2] == [{"a": 4, "b": 6}, {"a": 2, "b": 3}]


def test_batch() -> None:
    """A *batch has none to two dims across the pool."""
    found = [size["b"] for size in _sizes(array("*b n"))]

    assert {len(size) for size in found} == {0, 1, 2}


def test_every_alternative() -> None:
    """Each dtype and each static value appears in the pool."""
    found = signatures([array("n", (jnp.float32, jnp.int32, jnp.int8)), static("a", "b"), static(*"wxyz")])

    assert {s.dtypes[0] for s in found} == {"float32", "int32", "int8"}
    assert [{s.statics[i] for s in found} for i in (0, 1)] == [{0, 1}, {0, 1, 2, 3}]


def test_refused_alternatives_fall_back() -> None:
    """Sizes whose turn it is to have a refused static value are kept with the first one."""
    found = signatures([array("n d"), static(1, 2)], accept=lambda s: s.statics == (0,))

    assert [dict(s.sizes) for s in found[:2]] == [{"n": 2, "d": 3}, {"n": 1, "d": 1}]


def test_refused_alternatives_hold_back_no_others() -> None:
    """An alternative that is always refused does not keep another leaf's from the pool."""
    found = signatures([array("n"), static(1, 2), static(3, 4)], accept=lambda s: s.statics[0] == 0)

    assert {s.statics for s in found} == {(0, 0), (0, 1)}


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
def test_huge_last(dtype) -> None:
    """A narrow float leaf is large enough, once, to overflow a sum of ones; and no larger than needed."""
    last = signatures([array("n d", dtype), array("n")])[-1]

    assert 65536 < np.prod([size for _, size in last.sizes]) < 70000


def test_huge_square() -> None:
    """A dim that appears twice counts twice."""
    assert dict(signatures(array("n n", jnp.float16))[-1].sizes) == {"n": 257}


def test_no_huge_without_names() -> None:
    """Without named dims, or where the other leaves grow too large, no signature is huge."""
    assert len(signatures(array("3", jnp.float16))) == 1
    assert max(s["n"] for s in _sizes([array("n", jnp.float16), array("n n")])) < 100


@pytest.mark.parametrize(
    ("spec", "fits"),
    [
        (array("n m", support=orthogonal), lambda s: s["n"] >= s["m"]),
        (array("n m", support=simplex), lambda s: s["m"] > 0),
        ([labels("n", below="c")], lambda s: s["c"] > 0 or s["n"] == 0),
        (array("n n", support=spd), lambda s: True),
        (array("n", support=positive), lambda s: True),
    ],
)
def test_only_sizes_that_fit(spec, fits) -> None:
    """No signature gives a leaf a shape without a member."""
    assert [size for size in _sizes(spec) if not fits(size)] == []


def test_tall_and_different() -> None:
    """Where the usual different sizes do not fit, others that differ do."""
    assert _sizes(array("n m", support=orthogonal))[0] == {"n": 3, "m": 2}


def test_text() -> None:
    """A signature is short to read."""
    signature = Signature((("b", (2, 3)), ("e", ()), ("n", 4)), ("float32", "float32", "int8"), (0, 1))

    assert str(signature) == "b=2x3 e=() n=4 float32 int8 statics=0,1"
    assert str(Signature()) == "no arrays"
