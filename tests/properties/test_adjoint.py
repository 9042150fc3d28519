"""The law `adjoint`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.custom_derivatives import linear_call

from autoprop import Holds, Target, Undecided, properties
from autoprop._subject import Subject
from autoprop.properties import LAWS

X = np.array([0.5, -1.25, 2.0], np.float32)


def tripled(x: Any) -> Any:
    """Three times x, whose transpose forgets the three."""
    return linear_call(lambda s, v: s * v, lambda s, c: c, jnp.float32(3), x)


def test_message() -> None:
    """The message names law, leaf, both numbers, the bound and where it comes from."""
    with pytest.raises(properties.adjoint.error) as caught:
        properties.adjoint(tripled, X)
    found = caught.value.finding.mismatch
    assert found.leaf == "value"
    assert [name for name, _ in found.routes] == ["⟨u, J v⟩", "⟨Jᵀ u, v⟩"]
    forward, reverse = (float(text) for _, text in found.routes)
    assert forward == pytest.approx(3 * reverse, rel=1e-6)
    assert found.difference == pytest.approx(abs(forward - reverse), rel=1e-6)
    assert found.bound is not None
    assert 0 < found.bound < 1e-10
    lines = str(caught.value).splitlines()
    assert lines[0] == "adjoint: ⟨u, J v⟩ = ⟨Jᵀ u, v⟩ fails for tripled"
    assert [number in str(caught.value) for _, number in found.routes] == [True, True]
    assert "64 · eps · √6 · Σ|terms|" in str(caught.value)


def test_one_mode_is_nan(judge: Callable[..., Any]) -> None:
    """A number in one mode and NaN in the other is told by the leaf whose gradient it is."""

    def nan_back(x: Any) -> Any:
        return linear_call(lambda s, v: s * v, lambda s, c: c * jnp.nan, jnp.float32(3), x)

    found = judge("adjoint", nan_back, X).worst
    assert (found.leaf, found.origin) == ("x", "one mode is finite and the other is not")


def test_no_forward_mode() -> None:
    """A function with a custom_vjp rule has one mode, so the law does not apply."""

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return x**2

    f.defvjp(lambda x: (x**2, x), lambda x, c: (2 * x * c,))
    subject = Subject(Target(f, (X,)), (X,))
    assert LAWS["adjoint"].why_not(subject) == "the function has no forward mode of differentiation"


def test_value_not_finite(judge: Callable[..., Any]) -> None:
    """Where the value is infinite the law has nothing to say."""
    assert judge("adjoint", lambda x: x / 0, X) == Undecided("the value is not finite")


def test_narrow_cancellation_is_no_fault(judge: Callable[..., Any]) -> None:
    """Terms of 1e9 that cancel round differently in the two modes: sound."""
    verdict = judge("adjoint", lambda x: (x + 1e9) - (1e9 - x), X)
    assert not hasattr(verdict, "mismatches")


@pytest.mark.parametrize("dtype", [jnp.bfloat16, np.float16, np.float32, np.complex64])
def test_dtypes(dtype: Any, judge: Callable[..., Any]) -> None:
    """A sound function holds in every inexact dtype."""
    assert judge("adjoint", lambda x: jnp.cumsum(jnp.sin(x)), jnp.asarray(X, dtype)) == Holds()


def test_complex_fault(judge: Callable[..., Any]) -> None:
    """A transpose that conjugates is wrong for complex numbers alone."""

    def f(z: Any) -> Any:
        return linear_call(lambda s, v: s * v, lambda s, c: jnp.conj(s) * c, jnp.complex64(1 + 2j), z)

    assert hasattr(judge("adjoint", f, np.array([1 + 1j, -2j], np.complex64)), "mismatches")
