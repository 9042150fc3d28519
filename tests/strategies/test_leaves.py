"""What a leaf spec accepts, and what it refuses."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis.errors import InvalidArgument

from hypothesis_jax import (
    array,
    arrays,
    dtypes,
    key,
    labels,
    like,
    mask,
    one_hot,
    orthogonal,
    pytrees,
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

REFUSED = {
    "a word that is no name": (lambda: array("n-1"), r"'n-1' must be a name"),
    "a negative size": (lambda: array((-1,)), r"-1 must be a name"),
    "a bool as a size": (lambda: array((True,)), r"True must be a name"),
    "two batches": (lambda: array("*a *b"), r"at most one"),
    "dims that are no dims": (lambda: array(1.5), r"dims=1.5 must be"),
    "no dtype": (lambda: array("n", ()), r"at least one dtype"),
    "an unknown dtype": (lambda: array("n", "float7"), r"'float7' must be one of"),
    "an object dtype": (lambda: array("n", object), r"must be one of"),
    "a support that is none": (lambda: array("n", support=(0, 1)), r"must be a Support"),
    "swapped ends": (lambda: real(3, 2), r"swap the two ends"),
    "an infinite end": (lambda: real(0, float("inf")), r"max_value=inf must be a finite number"),
    "an end that is no number": (lambda: real("0"), r"min_value='0' must be a finite number"),
    "no integer between": (lambda: array("n", jnp.int32, support=real(0.1, 0.9)), r"holds no int32"),
    "an end beyond the dtype": (lambda: array("n", jnp.float16, support=real(1e6)), r"holds no float16"),
    "complex with ends": (lambda: array("n", jnp.complex64, support=real(0)), r"complex has no order"),
    "complex in an interval": (lambda: array("n", jnp.complex64, support=unit_interval), r"complex has no order"),
    "an integer simplex": (lambda: array("n", jnp.int32, support=simplex), r"must be one of these kinds: float"),
    "a bool that is sorted": (lambda: array("n", bool, support=sorted_), r"must be one of these kinds"),
    "a complex mask": (lambda: array("n", jnp.complex64, support=mask), r"must be one of these kinds"),
    "a scalar simplex": (lambda: array("", support=simplex), r"must end in 1 plain dim; add it"),
    "an empty one_hot": (lambda: array("n 0", support=one_hot), r"must not end in 0"),
    "a batch as a vector": (lambda: array("n *b", support=simplex), r"must end in 1 plain dim"),
    "an oblong spd": (lambda: array("n m", support=spd), r"must end in two equal dims"),
    "a wide orthogonal": (lambda: array("2 3", support=orthogonal), r"write '3 2'"),
    "labels below zero": (lambda: labels("n", below=0), r"below=0 must be at least 1"),
    "labels below two names": (lambda: labels("n", below="c d"), r"must be one name"),
    "labels that are floats": (lambda: labels("n", below=3, dtype=jnp.float32), r"must be an integer dtype"),
    "an unknown PRNG": (lambda: key(impl="dice"), r"impl='dice' must be"),
    "static without values": (lambda: static(), r"at least one value"),
    "a string as a spec": (lambda: trees({"w": "n d"}), r"spec\['w'\]='n d' must be a leaf spec"),
    "a class as a spec": (lambda: trees([float]), r"must be a leaf spec"),
    "like inside a spec": (lambda: trees([like(1.0)]), r"must not be a like"),
    "a name with and without star": (lambda: trees([array("n"), array("*n")]), r"must be either 'n' or '\*n'"),
    "no rows": (lambda: sample(array("n"), 0, seed=0, signature=signatures(array("n"))[0]), r"n=0"),
    "a negative seed": (lambda: sample(array("n"), 1, seed=-1, signature=signatures(array("n"))[0]), r"seed=-1"),
    "another spec's signature": (lambda: trees(array("n"), signature=signatures(array("m"))[0]), r"with dims \['n'\]"),
    "another spec's dtype": (
        lambda: trees(array("n"), signature=signatures(array("n", jnp.int32))[0]),
        r"must have only dtypes",
    ),
    "an empty pool": (lambda: signatures(array("n"), 0), r"k=0 must be at least 1"),
    "nothing accepted": (lambda: signatures(array("n"), accept=lambda s: False), r"tried n=2 float32; n=1 float32"),
    "nothing fits": (lambda: signatures(labels("3", below="c"), accept=lambda s: dict(s.sizes)["c"] < 1), r"tried"),
    "a shape that is none": (lambda: arrays(jnp.float32, (-1,)), r"shape=\(-1,\) must be"),
    "an unknown kind of dtype": (lambda: dtypes("x"), r"kinds='x' must be some of the letters"),
    "leaves that are no strategy": (lambda: pytrees(1), r"leaves=1 must be a strategy"),
    "no leaves": (lambda: pytrees(arrays(jnp.float32, ()), max_leaves=0), r"max_leaves=0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    """What can produce nothing is refused at once, by a message that names the value and the remedy."""
    call, message = REFUSED[case]

    with pytest.raises(InvalidArgument, match=message):
        call()


@pytest.mark.parametrize("dims", ["n 3 *b", ("n", 3, "*b"), ["n", 3, "*b"], "  n   3 *b "])
def test_dims_spellings(dims: object) -> None:
    """A string and a tuple say the same dims."""
    assert array(dims).dims == ("n", 3, "*b")  # type: ignore[arg-type]


def test_static_takes_one_list() -> None:
    """A single list or tuple means its elements; a tuple among others is a value."""
    assert static([1, 2]).values == static(1, 2).values
    assert static((1, 2), None).values == ((1, 2), None)


def test_repeated_dtypes_count_once() -> None:
    """The same dtype in two spellings is one alternative."""
    assert array("n", (jnp.float32, "float32", np.float32)).dtypes == (np.dtype("float32"),)
