"""Parameters as the libraries of the JAX world keep them come back as their own classes."""

from __future__ import annotations

import importlib
import sys
import types
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop._errors import CorpusError
from autoprop.corpus import codec


def library(name: str) -> Any:
    """
    Import an optional library, whatever it warns of, or skip the test.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except ImportError:
            pytest.skip(f"{name} is not installed")


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """
    Make a module to which classes that are made in a test belong.
    """
    module = types.ModuleType("home_of_classes")
    monkeypatch.setitem(sys.modules, "home_of_classes", module)
    return module


def assert_same(found: Any, value: Any) -> None:
    """
    Fail unless two trees have one structure and equal bits.
    """
    leaves, structure = jax.tree_util.tree_flatten(value)
    again, same = jax.tree_util.tree_flatten(found)
    assert same == structure
    assert [np.asarray(leaf).tobytes() for leaf in again] == [np.asarray(leaf).tobytes() for leaf in leaves]


def test_equinox_modules() -> None:
    """
    An equinox layer comes back with its arrays and static fields, and computes the same.
    """
    eqx = library("equinox")
    layer = eqx.nn.Linear(2, 2, key=jax.random.key(0))
    found = codec.decode(codec.encode(layer))
    assert_same(found, layer)
    assert found(jnp.ones(2)).tolist() == layer(jnp.ones(2)).tolist()


def test_equinox_modules_with_functions() -> None:
    """
    An equinox module that holds an activation function is refused, naming the field.
    """
    eqx = library("equinox")
    model = eqx.nn.MLP(2, 2, 2, 1, key=jax.random.key(0))
    with pytest.raises(CorpusError, match=r"^model\.activation: is the callable 'relu'"):
        codec.encode(model, name="model")


def test_flax_structs(home: types.ModuleType) -> None:
    """
    A flax.struct dataclass comes back with its leaves and its static fields.
    """
    struct = library("flax.struct")
    annotations = {"w": jax.Array, "kind": str}
    body = {"__annotations__": annotations, "kind": struct.field(pytree_node=False), "__module__": home.__name__}
    home.__dict__["State"] = cls = struct.dataclass(type("State", (), body))
    value = cls(w=jnp.ones(2), kind="adam")
    assert_same(codec.decode(codec.encode(value)), value)


def test_flax_frozen_dicts() -> None:
    """
    A FrozenDict of parameters comes back frozen.
    """
    core = library("flax.core")
    value = core.freeze({"dense": {"kernel": np.ones((2, 1), np.float32)}})
    assert_same(codec.decode(codec.encode(value)), value)


def test_nnx_states() -> None:
    """
    The state of an nnx module, with its variables, comes back as one.
    """
    nnx = library("flax.nnx")
    value = nnx.state(nnx.Linear(2, 1, rngs=nnx.Rngs(0)))
    found = codec.decode(codec.encode(value))
    assert_same(found, value)
    assert type(found["kernel"]) is nnx.Param


def test_optax_states() -> None:
    """
    An optimiser's state, namedtuples within tuples, comes back.
    """
    optax = library("optax")
    value = optax.adam(1e-3).init({"w": jnp.ones(2)})
    assert_same(codec.decode(codec.encode(value)), value)
