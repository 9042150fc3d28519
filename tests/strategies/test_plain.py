"""Plain strategies: arrays, keys, dtypes, pytrees, and what the type jax.Array means."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.extra import numpy as npst

from hypothesis_jax import arrays, dtypes, keys, pytrees


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.complex64, jnp.int8, bool, float])
def test_arrays(dtype: object, minimal) -> None:
    """Arrays are jax arrays of the dtype, and shrink to zeros."""
    found = minimal(arrays(dtype, (2,)))

    assert isinstance(found, jax.Array)
    assert (found.dtype, found.tolist()) == (jnp.zeros(0, dtype).dtype, [0, 0])


def test_arrays_of_any_dtype_and_shape(minimal) -> None:
    """Dtype and shape may be strategies; they shrink too."""
    found = minimal(arrays(dtypes("fi"), npst.array_shapes(max_dims=2)), lambda x: x.ndim == 2)

    assert (found.dtype, found.tolist()) == (np.dtype("float32"), [[0.0]])


def test_elements(assert_all_examples) -> None:
    """Elements may be given."""
    strategy = arrays(jnp.bfloat16, 3, elements=st.sampled_from([0.5, 2.0]))

    assert_all_examples(strategy, lambda x: set(x.tolist()) <= {0.5, 2.0})


def test_unique(assert_all_examples) -> None:
    """Elements may be asked to differ."""
    assert_all_examples(arrays(jnp.int32, (3,), unique=True), lambda x: len(set(x.tolist())) == 3)


def test_finite(assert_all_examples) -> None:
    """By default elements are finite and not subnormal."""

    def fine(x: jax.Array) -> bool:
        values = np.abs(np.asarray(x))
        return bool((np.isfinite(values) & ((values == 0) | (values >= np.finfo(np.float32).tiny))).all())

    assert_all_examples(arrays(jnp.float32, (3,)), fine)


def test_wide_dtypes_are_refused(find_any) -> None:
    """64-bit dtypes need x64."""
    with pytest.raises(InvalidArgument, match="jax_enable_x64"):
        find_any(arrays(jnp.float64, (2,)))


def test_dtypes(assert_all_examples) -> None:
    """Dtypes are those that JAX can hold now."""
    assert_all_examples(dtypes("f"), lambda d: d.name in ("float32", "float16", "bfloat16"))


def test_dtypes_under_x64(x64: None, find_any) -> None:
    """Under x64 the wide ones appear."""
    assert find_any(dtypes("c"), lambda d: d.itemsize == 16).name == "complex128"


def test_keys(minimal) -> None:
    """Keys are typed keys, and shrink to the key of zero."""
    assert minimal(keys()) == jax.random.key(0)
    assert minimal(keys(2, impl="rbg")).shape == (2,)


def test_pytrees_shrink_to_a_leaf(minimal) -> None:
    """The simplest tree is a leaf."""
    assert minimal(pytrees(st.just(1))) == 1


NODES = ["list", "tuple", "dict", "Pair", "Record", "Box", "Flat"]


@pytest.mark.parametrize("name", NODES)
def test_pytrees_have_every_node(name: str, find_any) -> None:
    """Every kind of node appears, and jax takes it apart and puts it together."""
    found = find_any(pytrees(st.just(1)), lambda tree: type(tree).__name__ == name)
    leaves, treedef = jax.tree.flatten(found)

    assert jax.tree.unflatten(treedef, leaves) == found


def test_from_type(find_any) -> None:
    """The type jax.Array can be drawn."""
    assert find_any(st.from_type(jax.Array), lambda x: x.size > 1).size == 2
