"""The law `finite`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.custom_derivatives import linear_call

from autoprop import Holds, Undecided, properties

F = np.float32


def test_message() -> None:
    """The message names the entry, what the derivative gives there, and the slope."""
    with pytest.raises(properties.finite.error) as caught:
        properties.finite(lambda x: jnp.sqrt(jnp.sum(x**2)) ** 2, np.zeros(2, F))
    found = caught.value.finding.mismatch
    assert (found.leaf, found.index) == ("x", (0,))
    assert found.routes[0] == ("reverse", "nan")
    slope, _, error = found.routes[1][1].partition(" ± ")
    assert max(abs(float(end)) for end in slope.split(" .. ")) < 1e-9
    assert float(error) < 1e-9
    assert "value and slope are finite there, so the derivative must be" in str(caught.value)


def test_value_not_finite(judge: Callable[..., Any]) -> None:
    """Where the value is infinite, its gradient may be anything."""
    assert judge("finite", lambda x: jnp.sum(1 / x), np.zeros(2, F)) == Undecided("the value is not finite")


def test_no_derivative(judge: Callable[..., Any]) -> None:
    """A callback has no derivative by JAX's own word; that is no violation."""

    def f(x: Any) -> Any:
        return jnp.sum(jax.pure_callback(lambda v: v, jax.eval_shape(lambda: x), x))

    assert judge("finite", f, np.ones(2, F)) == Undecided("there is no derivative here")


def test_infinite_slope_is_right(judge: Callable[..., Any]) -> None:
    """Infinity is the right derivative of the square root at 0."""
    assert judge("finite", lambda x: jnp.sum(jnp.sqrt(x)), np.array([0, 1], F)) == Holds()


def test_nan_at_an_infinite_slope(judge: Callable[..., Any]) -> None:
    """NaN is no derivative even where the slope is infinite."""
    found = judge("finite", lambda x: jnp.sum(jnp.where(x > 0, jnp.sqrt(x), 0)), np.array([0, 1], F)).worst
    assert (found.leaf, found.index, found.routes[1]) == ("x", (0,), ("numeric", "infinite"))


OVERFLOWS = Undecided("the derivative itself overflows the dtype here")


def test_nan_of_a_derivative_beyond_the_dtype(judge: Callable[..., Any]) -> None:
    """Slopes of 1e39 are beyond float32: that their sum is ∞ − ∞ in forward mode is no fault."""
    assert judge("finite", lambda x: jnp.sum(1e38 * jnp.sin(10 * x)), np.zeros(2, F)) == OVERFLOWS


def test_nan_beside_an_overflow(judge: Callable[..., Any]) -> None:
    """Where one entry of a gradient overflows, that another becomes 0·∞ is no fault."""

    def last_state(x: Any) -> Any:
        w = jnp.array([[0, 0], [0, 1e8]], x.dtype)
        return jax.lax.scan(lambda c, v: (jnp.tanh(w @ c + v), None), jnp.zeros(2, x.dtype), x)[0]

    assert judge("finite", last_state, np.zeros((7, 2), F)) == OVERFLOWS


def test_infinity_of_a_derivative_beyond_the_dtype(judge: Callable[..., Any]) -> None:
    """A slope of 1e39 is beyond float32, so the derivative may be infinite there."""
    assert judge("finite", lambda x: jnp.sum(1e38 * jnp.sin(10 * x)), np.zeros(1, F)) == Holds()


def test_entry_that_is_not_finite(judge: Callable[..., Any]) -> None:
    """A value that skips NaN entries cannot depend on them: their gradient is 0, not NaN."""
    found = judge("finite", lambda x: jnp.nansum(x**2), np.array([1, np.nan], F)).worst
    assert (found.leaf, found.index, found.routes[0]) == ("x", (1,), ("reverse", "nan"))


def test_forward_mode_alone(judge: Callable[..., Any]) -> None:
    """NaN in the tangent counts too, though the gradient is finite."""

    @jax.custom_jvp
    def f(x: Any) -> Any:
        return 2 * x

    f.defjvp(lambda x, t: (f(*x), linear_call(lambda s, v: v * s, lambda s, c: 2 * c, jnp.float32(jnp.nan), t[0])))
    found = judge("finite", f, np.ones(2, F)).worst
    assert found.routes[0] == ("forward", "nan")


@pytest.mark.parametrize("fn", [jax.scipy.special.entr, lambda x: -jax.scipy.special.entr(x)])
def test_logarithmic_divergence_is_right(fn: Any, judge: Callable[..., Any]) -> None:
    """The slope of the entropy grows without bound at 0, though only like a logarithm: an infinite gradient holds."""
    assert judge("finite", lambda x: jnp.sum(fn(x)), np.array([0, 0.5], F)) == Holds()
