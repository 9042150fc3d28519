"""The laws of transforms: `jit`, `vmap`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.custom_batching import custom_vmap
from jax.custom_derivatives import linear_call

from autoprop import Holds, Undecided, Violated, properties

X = np.array([0.5, -1.25, 2.0], np.float32)


def is_traced(x: Any) -> bool:
    """Say whether x is traced."""
    return isinstance(x, jax.core.Tracer)


def test_jit_message() -> None:
    """The message names the leaf, both numbers, and why the difference is no rounding."""
    with pytest.raises(properties.jit.error) as caught:
        properties.jit(lambda x: {"y": 2 * x if is_traced(x) else x}, X)
    found = caught.value.finding.mismatch
    assert (found.leaf, found.index, found.routes) == ("value['y']", (2,), (("eager", "2"), ("jit", "4")))
    assert (found.count, found.total) == (3, 3)
    assert found.origin.endswith("it does not shrink in 64 bits, so it is not rounding")


def test_jit_of_the_gradient(judge: Callable[..., Any]) -> None:
    """A gradient that depends on compilation is caught though the value does not."""

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return x**2

    f.defvjp(lambda x: (x**2, x), lambda x, c: ((2 if not is_traced(c) else 3) * c * x,))
    assert judge("jit", f, X).worst.leaf == "gradient of x"


def test_jit_that_raises(judge: Callable[..., Any]) -> None:
    """A function that raises an error of its own when it is traced is caught, and the error is told."""

    def f(x: Any) -> Any:
        if is_traced(x):
            raise ValueError("eager only")
        return x

    assert judge("jit", f, X).worst.routes == (("eager", "a value"), ("jit", "raises ValueError: eager only"))


def test_jit_of_a_gradient_that_raises(judge: Callable[..., Any]) -> None:
    """A backward pass that raises only when it is traced is caught, and the error is told."""

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return x**2

    def backward(x: Any, c: Any) -> Any:
        if is_traced(c):
            raise ValueError("eager only")
        return (2 * c * x,)

    f.defvjp(lambda x: (x**2, x), backward)
    assert judge("jit", f, X).worst.routes == (("eager", "a value"), ("jit", "raises ValueError: eager only"))


def test_jit_of_control_flow_on_values(judge: Callable[..., Any]) -> None:
    """Python control flow on values is what JAX refuses to trace: undecided, with the reason."""
    verdict = judge("jit", lambda x: x if x[0] > 0 else -x, X)
    assert isinstance(verdict, Undecided)
    assert "control flow depends on values, so the function cannot be traced" in verdict.reason


@pytest.mark.parametrize("law", ["jit", "vmap"])
def test_cancellation_is_no_fault(law: str, judge: Callable[..., Any]) -> None:
    """A difference that is rounding of terms of 1e9 is sound."""
    assert judge(law, lambda x: jnp.sum(x * 1e9) - jnp.sum(x[::-1] * 1e9) + x, X / 3) == Holds()


@pytest.mark.parametrize("law", ["jit", "vmap", "modes", "remat", "nested_jit"])
@pytest.mark.parametrize("seed", [0, 1, 1798])
@pytest.mark.parametrize("size", [2.0, 9.0, 12.0])
def test_a_saturated_gradient(law: str, seed: int, size: float, judge: Callable[..., Any]) -> None:
    """1 − tanh² is a few roundings of 1 there, which two programs need not compute alike."""
    assert not isinstance(judge(law, jnp.tanh, np.array([size], np.float32), seed=seed), Violated)


@pytest.mark.parametrize("law", ["jit", "vmap"])
@pytest.mark.parametrize("dtype", [np.float16, jnp.bfloat16, np.complex64])
def test_dtypes(law: str, dtype: Any, judge: Callable[..., Any]) -> None:
    """A sound function holds in narrow dtypes and in complex ones."""
    assert judge(law, lambda x: jnp.cumsum(jnp.sin(x) / 3), jnp.asarray(X, dtype)) == Holds()


def test_tolerance(judge: Callable[..., Any]) -> None:
    """A declared tolerance accepts what the derived bound does not."""

    def f(x: Any) -> Any:
        return x * (1.001 if is_traced(x) else 1.0)

    assert judge("jit", f, X, tolerance=0.01) == Holds()
    assert hasattr(judge("jit", f, X, tolerance=1e-5), "mismatches")


def test_vmap_message() -> None:
    """The message names the leaf and the place in the batch."""

    @custom_vmap
    def doubled(x: Any) -> Any:
        return 2 * x

    doubled.def_vmap(lambda size, batched, x: (jnp.zeros_like(x), True))
    with pytest.raises(properties.vmap.error) as caught:
        properties.vmap(doubled, X)
    found = caught.value.finding.mismatch
    assert found.leaf == "value"
    assert len(found.index) == 2
    assert found.routes[0][0] == "one by one"
    assert found.routes[1] == ("vmap", "0")


def test_vmap_holds_static_arguments(judge: Callable[..., Any]) -> None:
    """Strings and integers are not batched; keys and labels are."""

    def f(x: Any, key: Any, label: Any, mode: str, power: int) -> Any:
        noise = jax.random.normal(key, x.shape)
        return (x + noise)[label] ** power if mode == "one" else x

    assert judge("vmap", f, X, jax.random.key(0), np.int32(1), "one", 2) == Holds()


def test_vmap_without_a_batching_rule(judge: Callable[..., Any]) -> None:
    """What JAX says it cannot batch is undecided, as what it cannot differentiate is."""
    verdict = judge("vmap", lambda x: linear_call(lambda s, v: s * v, lambda s, c: s * c, jnp.float32(3), x), X)
    assert isinstance(verdict, Undecided)


@pytest.mark.parametrize("law", ["jit", "vmap"])
def test_where_the_function_raises(law: str, judge: Callable[..., Any]) -> None:
    """Where the function itself raises there is nothing to compare."""

    def f(x: Any) -> Any:
        if not is_traced(x):
            raise ValueError("eager")
        return x

    assert judge(law, f, X) == Undecided("the function raises ValueError here")
