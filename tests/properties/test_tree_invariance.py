"""The law `tree_invariance`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Settings, Target, UsageError, properties, search
from hypothesis_jax import array, like
from zoo.parts import Pair, by_name, comes_back_swapped, unpacked

X = np.array([0.5, -1.25, 2.0], np.float32)
W = np.array([1.5, 0.75, -0.5], np.float32)
QUICK = Settings(examples=24, rows=8, signatures=2)


def test_message() -> None:
    """The message says how the leaves were kept, and names the leaf."""
    with pytest.raises(properties.tree_invariance.error) as caught:
        properties.tree_invariance(unpacked, {"weight": W, "bias": X})
    found = caught.value.finding.mismatch
    assert found.leaf == "value with dicts in the order in which they were written"
    assert [name for name, _ in found.routes] == ["a list of leaves", "the leaves kept otherwise"]


def test_sorted_names_are_a_remark(judge: Callable[..., Any]) -> None:
    """If the written order is JAX's own, nothing is wrong yet: the law holds and says what it hangs on."""
    verdict = judge("tree_invariance", lambda p: next(iter(p.values())) - p["b"], {"a": X, "b": W})
    assert isinstance(verdict, Holds)
    assert "the order in which the keys of a dict were inserted" in verdict.remark


def test_order_that_does_not_matter(judge: Callable[..., Any]) -> None:
    """A sum over the values of a dict may be taken in any order."""
    verdict = judge("tree_invariance", lambda p: sum(jnp.sum(v**2) for v in p.values()), {"w": X, "b": W})
    assert verdict == Holds()


@pytest.mark.parametrize(
    "args", [({"weight": array("3"), "bias": array("3")},), like({"weight": W, "bias": X})], ids=["spec", "like"]
)
def test_search_knows_the_written_order(args: Any) -> None:
    """The order of a spec's dicts is the written one, though every point was rebuilt by JAX."""
    found = search(Target(unpacked, args, properties=("tree_invariance",)), settings=QUICK).findings
    assert [finding.property for finding in found] == ["tree_invariance"]


def test_class_that_swaps(judge: Callable[..., Any]) -> None:
    """Leaves that come back in another order are seen where the class itself is passed."""
    assert "as argument trees" in judge("tree_invariance", comes_back_swapped, Pair(X, W)).worst.leaf


def test_several_arguments(judge: Callable[..., Any]) -> None:
    """Trees, held leaves, keys and static values beside each other."""

    def f(params: Any, key: Any, n: int, labels: Any, scale: Any) -> Any:
        noise = jax.random.normal(key, (3,))
        return {"y": params[0] * noise**n, "z": jnp.sum(params[1]["a"] * labels["t"]) * scale}

    labels = {"t": np.arange(3, dtype=np.int32).astype(np.float32), "n": np.arange(3)}
    verdict = judge("tree_invariance", f, (X, {"a": W}), jax.random.key(3), 2, labels, 0.5)
    assert verdict == Holds()


def test_weak_types_are_kept(judge: Callable[..., Any]) -> None:
    """A Python number beside a narrow array is never put into a vector, where it would lose its weak type."""

    def f(x: Any, scale: Any, shift: Any) -> Any:
        return x * scale + shift

    assert judge("tree_invariance", f, X.astype(np.float16), 0.5, 2.0) == Holds()


def test_by_name(judge: Callable[..., Any]) -> None:
    """Reading a dict by its names is right whatever their order."""
    params = {"none": X[:0], "layer2": {"w": X, "b": W}, "layer1": {"w": W, "b": X}, "half": X.astype(np.float16)}
    assert judge("tree_invariance", by_name, params, 0.5) == Holds()


def test_one_array_only() -> None:
    """One array cannot be reordered."""
    with pytest.raises(UsageError, match="one array only"):
        properties.tree_invariance(lambda x: x * 2, X)
