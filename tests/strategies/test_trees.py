"""Concrete trees: shared dims, dtypes, static values, any node, and what all of it shrinks to."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from hypothesis_jax import Signature, array, constant, key, labels, like, rows, signatures, static, trees

DTYPES = ["bfloat16", "float16", "float32", "complex64", "int8", "int16", "int32", "uint8", "uint16", "uint32", "bool"]
WIDE = ["float64", "complex128", "int64", "uint64"]


def test_dims_are_shared(assert_all_examples) -> None:
    """Dims of the same name have the same size in all leaves."""
    strategy = trees({"w": array("d h"), "b": array("h"), "x": array("*batch d")})

    def agrees(tree) -> bool:
        (d, h), shape = tree["w"].shape, tree["x"].shape
        return tree["b"].shape == (h,) and shape[-1] == d and len(shape) <= 3

    assert_all_examples(strategy, agrees, 40)


def test_simplest(minimal) -> None:
    """A tree that must have elements shrinks to size 1, zeros, the first label and the first key."""
    found = minimal(trees((array("n d"), labels("n", below="c"), key())), lambda t: t[0].size > 0)

    assert (found[0].tolist(), found[1].tolist()) == ([[0.0]], [0])
    assert found[2] == jax.random.key(0)


def test_simplest_of_all(minimal) -> None:
    """Fewer elements are simpler, and none at all the simplest: Hypothesis counts choices."""
    assert minimal(trees(array("n d"))).shape == (0, 3)


def test_values_shrink_one_by_one(minimal) -> None:
    """Elements that do not matter become zero."""
    found = minimal(trees(array("4")), lambda x: bool((x > 3).any()))

    assert sorted(found.tolist()) == [0.0, 0.0, 0.0, 4.0]


def test_shrinks_to_different_sizes(minimal) -> None:
    """Where sizes must differ, the smallest such signature is left."""
    found = minimal(trees(array("n d")), lambda x: x.shape[0] != x.shape[1] and x.size > 0)

    sizes = [dict(s.sizes) for s in signatures(array("n d"))]
    assert found.size == min(s["n"] * s["d"] for s in sizes if s["n"] * s["d"] and s["n"] != s["d"])
    assert not found.any()


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(name, assert_all_examples) -> None:
    """Each dtype is drawn as asked: jax arrays, finite, not subnormal."""

    def fine(x) -> bool:
        wide = np.asarray(x).astype(np.complex128)
        parts = np.abs(np.stack([wide.real, wide.imag]))
        tiny = float(jnp.finfo(x.dtype).smallest_normal) if jnp.issubdtype(x.dtype, jnp.inexact) else 0
        return (
            isinstance(x, jax.Array)
            and x.dtype.name == name
            and np.isfinite(parts).all()
            and ((parts == 0) | (parts >= tiny)).all()
        )

    assert_all_examples(trees(array("2", name)), fine, 30)


@pytest.mark.parametrize("name", WIDE)
def test_wide_dtypes_are_refused(name, find_any) -> None:
    """Without x64 a 64-bit dtype is an error at the draw, not a silent truncation."""
    with pytest.raises(InvalidArgument, match="jax_enable_x64"):
        find_any(trees(array("2", name)))


@pytest.mark.parametrize("name", WIDE)
def test_wide_dtypes(name, x64, minimal) -> None:
    """With x64 they are drawn."""
    found = minimal(trees(array("2", name)))

    assert (found.dtype.name, found.tolist()) == (name, [0, 0])


@pytest.mark.parametrize(("given", "name"), [(float, "float32"), (int, "int32"), (complex, "complex64")])
def test_default_dtypes(given, name, minimal) -> None:
    """A Python type means JAX's default."""
    assert minimal(trees(array("", given))).dtype.name == name


def test_default_dtype_under_x64(x64, minimal) -> None:
    """JAX's default is looked up at the draw."""
    assert minimal(trees(array("", float))).dtype.name == "float64"


def test_special_values(find_any) -> None:
    """NaN, infinities and subnormal numbers appear only if they are asked for."""
    one = Signature((), ("float32",))
    strategy = trees(array(""), signature=one, special=True)

    assert np.isnan(find_any(strategy, lambda x: bool(np.isnan(x))))
    assert find_any(strategy, lambda x: bool(np.isneginf(x))) == -np.inf
    assert 0 < np.asarray(find_any(strategy, lambda x: 0 < float(np.asarray(x)) < 1e-38)) < 1e-38


def test_dtype_alternatives(find_any) -> None:
    """Each dtype of a tuple appears, whatever the other leaves have."""
    strategy = trees([array("n", (jnp.float32, jnp.bfloat16)), array("n", (jnp.int32, jnp.int8))])

    for names in (("float32", "int32"), ("bfloat16", "int8")):
        find_any(strategy, lambda t, names=names: tuple(x.dtype.name for x in t) == names)


def test_statics(find_any) -> None:
    """Each static value appears, None among them."""
    strategy = trees({"x": array("n"), "mode": static("mean", None)})

    assert find_any(strategy, lambda t: t["mode"] is None)["x"].shape
    assert find_any(strategy, lambda t: t["mode"] == "mean")["mode"] == "mean"


def test_constants(minimal) -> None:
    """A constant, a plain array and a function are always themselves."""
    value, plain = object(), np.arange(3)

    found = minimal(trees([constant(value), plain, jnp.sin]))

    assert [a is b for a, b in zip(found, [value, plain, jnp.sin], strict=True)] == [True] * 3


def test_strategies_as_leaves(find_any) -> None:
    """A strategy is a leaf too."""
    found = find_any(trees({"x": array("n"), "power": st.integers(2, 9)}), lambda t: t["power"] > 4)

    assert found["power"] == 5


def test_labels_are_below(assert_all_examples) -> None:
    """Labels stay below the size of the dim they name."""
    strategy = trees((array("n c"), labels("n", below="c")))

    assert_all_examples(strategy, lambda t: bool(((t[1] >= 0) & (t[1] < t[0].shape[1])).all()))


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_keys_are_those_of_jax(impl) -> None:
    """A key is the one that jax.random.key makes of its seed."""
    found = rows(key(impl=impl), 3, seed=0, signature=Signature())
    seeds = jax.random.key_data(found)[:, 1]

    assert bool((found == jnp.stack([jax.random.key(seed, impl=impl) for seed in seeds])).all())


def test_like_draws_a_tuple(minimal) -> None:
    """A like(...) is drawn as a plain tuple of arguments."""
    found = minimal(trees(like(jnp.ones(3), {"w": jnp.ones((3, 1))})), lambda t: t[0].size > 0)

    assert (type(found), found[0].tolist(), found[1]["w"].tolist()) == (tuple, [0.0], [[0.0]])


def test_equinox(minimal) -> None:
    """A module of equinox is a spec like any tree, and what is drawn is a module that can be called."""
    eqx = pytest.importorskip("equinox", reason="equinox is not installed")
    spec = jax.tree.map(lambda x: array("out in" if x.ndim == 2 else "out"), eqx.nn.Linear(3, 2, key=jax.random.key(0)))
    signature = signatures(spec, accept=lambda s: dict(s.sizes) != {"in": 1, "out": 1})[0]

    found = minimal(trees(spec, signature=signature))

    assert isinstance(found, eqx.nn.Linear)
    assert found(jnp.ones(found.weight.shape[1])).tolist() == [0.0] * found.bias.shape[0]


def test_equinox_example(minimal) -> None:
    """A whole network of equinox, activation functions among its leaves, is an example."""
    eqx = pytest.importorskip("equinox", reason="equinox is not installed")
    net = eqx.nn.MLP(2, 3, 4, 1, key=jax.random.key(0))

    found = minimal(trees(like(net), signature=signatures(like(net))[0]))[0]

    assert found(jnp.ones(2)).tolist() == [0.0] * 3


def test_flax_struct(minimal) -> None:
    """A dataclass of flax.struct is a spec."""
    struct = pytest.importorskip("flax.struct", reason="flax is not installed")

    @struct.dataclass
    class State:
        params: dict
        step: int = struct.field(pytree_node=False)

    found = minimal(trees(State({"w": array("n")}, step=3)), lambda t: t.params["w"].size > 0)

    assert (found.params["w"].tolist(), found.step) == ([0.0], 3)


def test_flax_nnx(minimal) -> None:
    """A module of flax.nnx is an example, and what is drawn is a module that can be called."""
    nnx = pytest.importorskip("flax.nnx", reason="flax is not installed")
    spec = like(nnx.Linear(2, 3, rngs=nnx.Rngs(0)))

    found = minimal(trees(spec, signature=signatures(spec)[0]))[0]

    assert found(jnp.ones((1, 2))).tolist() == [[0.0] * 3]
