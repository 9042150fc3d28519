"""The law `export`: exported and read back."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Undecided

X = np.array([0.5, -1.25, 2.0], np.float32)


@pytest.mark.parametrize("dtype", [np.float16, jnp.bfloat16, np.complex64])
def test_dtypes(dtype: Any, judge: Callable[..., Any]) -> None:
    """A sound function holds in narrow dtypes and in complex ones."""
    assert judge("export", lambda x: jnp.cumsum(jnp.sin(x) / 3), jnp.asarray(X, dtype)) == Holds()


def test_trees(judge: Callable[..., Any]) -> None:
    """Trees, keys, labels, static values, Python scalars, sizes 0 and integers among the outputs are exported."""

    def f(params: Any, key: Any, label: Any, scale: float, mode: str) -> Any:
        noise = jax.random.normal(key, params["w"].shape)
        y = (params["w"] + noise)[label] * scale if mode == "one" else params["w"]
        return {"y": y, "best": jnp.argmax(params["w"]), "none": params["empty"], "half": params["half"] * scale}

    params = {"w": X, "empty": np.zeros((0, 2), np.float32), "half": jnp.asarray(X, jnp.bfloat16)}
    assert judge("export", f, params, jax.random.key(0), np.int32(1), 2.0, "one") == Holds()


def test_cancellation_is_no_fault(judge: Callable[..., Any]) -> None:
    """A difference that is rounding of terms of 1e9 is sound."""
    assert judge("export", lambda x: jnp.sum(x * 1e9) - jnp.sum(x[::-1] * 1e9) + x, X / 3) == Holds()


def test_forward_mode_only(judge: Callable[..., Any]) -> None:
    """Where there is no reverse mode, the value is compared."""

    def looped(x: Any) -> Any:
        return jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x), (0, x))[1]

    assert judge("export", looped, X) == Holds()


def test_what_is_not_exported(judge: Callable[..., Any]) -> None:
    """Host callbacks are not exported by JAX: undecided, with its reason."""

    def f(x: Any) -> Any:
        return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    verdict = judge("export", f, X)
    assert isinstance(verdict, Undecided)
    assert "it is not exported: NotImplementedError: serialization of host_callbacks" in verdict.reason


def test_message(judge: Callable[..., Any]) -> None:
    """The message names the leaf and the exported function."""
    traces = []

    def f(x: Any) -> Any:
        traces.append(1)
        return x * len(traces)

    found = judge("export", f, X).worst
    assert (found.leaf, found.routes[0][0], found.routes[1][0]) == ("value", "f", "exported(f)")


@pytest.mark.skipif(importlib.util.find_spec("flatbuffers") is None, reason="jax.export writes bytes with flatbuffers")
def test_bytes(judge: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where bytes can be written, it is what was read from them that is judged."""
    read = []
    original = jax.export.deserialize

    def deserialize(data: Any) -> Any:
        read.append(len(data))
        return original(data)

    monkeypatch.setattr(jax.export, "deserialize", deserialize)
    assert judge("export", jnp.sin, X) == Holds()
    assert read
