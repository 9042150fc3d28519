"""The law `structure`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Undecided, properties

X = np.array([0.5, -1.25, 2.0], np.float32)


def keeping(change: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a gradient transform that changes each gradient leaf."""
    return lambda fn, argnums: lambda *args: jax.tree.map(change, jax.grad(fn, argnums)(*args))


def total(x: Any) -> Any:
    """A scalar loss."""
    return jnp.sum(x**2)


@pytest.mark.parametrize(
    ("change", "got"),
    [
        (lambda g: g.astype(jnp.float16), "float16[3]"),
        (lambda g: g[:2], "float32[2]"),
        (lambda g: g[None], "float32[1, 3]"),
    ],
)
def test_message(change: Any, got: str) -> None:
    """The message names the leaf, its shape and dtype, and those of the gradient."""
    with pytest.raises(properties.structure.error) as caught:
        properties.structure(total, X, gradient=keeping(change))
    found = caught.value.finding.mismatch
    assert (found.leaf, found.routes) == ("x", (("argument", "float32[3]"), ("gradient", got)))
    assert "shape and dtype must be equal" in str(caught.value)


def test_backward_that_raises(judge: Callable[..., Any]) -> None:
    """A function that can be called can be differentiated; what its rule raises is shown."""

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return jnp.sum(x)

    def backward(residual: Any, c: Any) -> Any:
        raise RuntimeError("no residual")

    f.defvjp(lambda x: (jnp.sum(x), None), backward)
    assert judge("structure", f, X).worst.routes == (
        ("value", "exists"),
        ("gradient", "raises RuntimeError: no residual"),
    )


def test_refusal_by_design(judge: Callable[..., Any]) -> None:
    """Reverse mode through a while loop is what JAX does not have: undecided, with its own words."""

    def f(x: Any) -> Any:
        return jnp.sum(jax.lax.while_loop(lambda v: v[0] < 9, lambda v: v * 2, x))

    verdict = judge("structure", f, X)
    assert isinstance(verdict, Undecided)
    assert "Reverse-mode differentiation does not work for lax.while_loop" in verdict.reason


def test_control_flow_on_values(judge: Callable[..., Any]) -> None:
    """A function that can be differentiated eagerly only is looked at eagerly."""
    assert judge("structure", lambda x: jnp.sum(x**2) if x[0] > 0 else jnp.sum(x), X) == Holds()


@pytest.mark.parametrize("dtype", [jnp.bfloat16, np.float16, np.complex64])
def test_dtypes(dtype: Any, judge: Callable[..., Any]) -> None:
    """A gradient has the dtype of its argument, narrow and complex ones too."""
    assert judge("structure", lambda x: jnp.sum(jnp.abs(x) ** 2), jnp.asarray(X, dtype)) == Holds()
