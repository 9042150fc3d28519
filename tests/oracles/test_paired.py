"""Paired evaluation: stopped values stay where they were, through every kind of inner program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop.oracles.paired import paired

X = jnp.array([0.5, -1.25])
Y = jnp.array([2.0, 3.0])
stop = jax.lax.stop_gradient


@jax.custom_jvp
def tenfold(x: Any) -> Any:
    """A custom rule with a stop inside its function."""
    return 10 * stop(x) * x


tenfold.defjvp(lambda p, t: (tenfold(*p), 10 * p[0] * t[0]))


@jax.custom_vjp
def fivefold(x: Any) -> Any:
    """A custom backward pass with a stop inside its function."""
    return 5 * stop(x) * x


fivefold.defvjp(lambda x: (fivefold(x), x), lambda x, c: (5 * x * c,))


def while_loop(x: Any) -> Any:
    """Three turns, each with a stop."""
    return jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] + stop(s[1]) * x), (0, x))[1]


def scanned(x: Any) -> Any:
    """Two turns that carry and collect."""
    carry, out = jax.lax.scan(lambda c, a: (c + stop(c) * a, stop(a) * c), x.sum(), x)
    return jnp.append(out, carry)


def backwards(x: Any) -> Any:
    """A scan from the end."""
    return jax.lax.scan(lambda c, a: (c * a + stop(c), c), 1.0, x, reverse=True)[1]


WAYS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "plain": (lambda x: x * stop(x), lambda x, b: x * b),
    "jit": (lambda x: jax.jit(lambda v: v * stop(v))(x), lambda x, b: x * b),
    "nested jit": (lambda x: jax.jit(jax.jit(lambda v: v * stop(v + 1)))(x), lambda x, b: x * (b + 1)),
    "checkpoint": (lambda x: jax.checkpoint(lambda v: v * stop(v))(x), lambda x, b: x * b),
    "vmap": (lambda x: jax.vmap(lambda v: v * stop(v))(x), lambda x, b: x * b),
    "custom_jvp": (tenfold, lambda x, b: 10 * b * x),
    "custom_vjp": (fivefold, lambda x, b: 5 * b * x),
    "cond": (lambda x: jax.lax.cond(x[0] > 0, lambda v: v * stop(v), lambda v: v, x), lambda x, b: x * b),
    "switch": (lambda x: jax.lax.switch(1, [lambda v: v, lambda v: v * stop(v)], x), lambda x, b: x * b),
    "a stop of a stop": (lambda x: x + stop(stop(x) * x), lambda x, b: x + b * b),
    "nothing stopped": (lambda x: x**2, lambda x, b: x**2),
    "all stopped": (lambda x: stop(x**2), lambda x, b: b**2),
}


@pytest.mark.parametrize("name", WAYS)
def test_stops_hold(name: str) -> None:
    """The value at moved arguments is that of the function with its stopped parts written out at the base."""
    f, written = WAYS[name]
    g = paired(lambda leaves: [f(leaves[0])], [X])
    np.testing.assert_allclose(g([Y])[0], written(Y, X), rtol=1e-6)


@pytest.mark.parametrize("name", [*WAYS, "scan", "reversed scan", "while"])
def test_the_base_is_where_it_was(name: str) -> None:
    """At the base itself nothing changes."""
    f = {"scan": scanned, "reversed scan": backwards, "while": while_loop}.get(name) or WAYS[name][0]
    np.testing.assert_allclose(paired(lambda leaves: [f(leaves[0])], [X])([X])[0], f(X), rtol=1e-6)


LOOPS = {"scan": scanned, "reversed scan": backwards}


@pytest.mark.parametrize("name", LOOPS)
def test_differences_are_the_declared_derivative(name: str) -> None:
    """Differences of the paired function are what JAX declares: the derivative with stops."""
    with jax.enable_x64(True):
        base, step = jnp.array([0.5, -1.25]), jnp.array([1e-6, 2e-6])
        g = paired(lambda leaves: [LOOPS[name](leaves[0])], [base])
        slope = (g([base + step])[0] - g([base - step])[0]) / 2
        np.testing.assert_allclose(slope, jax.jvp(LOOPS[name], (base,), (step,))[1], rtol=1e-7, atol=1e-14)


def test_while_loops() -> None:
    """A while loop carries pairs from turn to turn."""
    with jax.enable_x64(True):
        base, step = jnp.array([0.5, -1.25]), jnp.array([1e-6, 2e-6])
        g = paired(lambda leaves: [while_loop(leaves[0])], [base])
        slope = (g([base + step])[0] - g([base - step])[0]) / 2
        np.testing.assert_allclose(slope, jax.jvp(while_loop, (base,), (step,))[1], rtol=1e-7)


def test_several_leaves() -> None:
    """Trees are lists of leaves here, in and out; each stop is held for itself."""
    g = paired(lambda leaves: [leaves[0] * stop(leaves[1]), leaves[1] + stop(leaves[0])], [X, Y])
    product, total = g([Y, X])
    np.testing.assert_allclose(product, Y * Y)
    np.testing.assert_allclose(total, X + X)


def test_without_stops_the_function_is_itself() -> None:
    """A function that stops nothing is returned as it is."""

    def f(leaves: Any) -> Any:
        return [leaves[0] ** 2]

    assert paired(f, [X]) is f


def test_branches_that_part() -> None:
    """Where a condition is another one than at the base, the value is NaN: a kink, not a number."""

    def f(x: Any) -> Any:
        return jax.lax.cond(x[0] > 0, lambda v: v * stop(v), lambda v: -v * stop(v), x)

    g = paired(lambda leaves: [f(leaves[0])], [X])
    assert np.isnan(g([-Y])[0]).all()


def test_loops_that_part() -> None:
    """Where a loop takes another number of turns than at the base, the value is NaN."""

    def f(x: Any) -> Any:
        return jax.lax.while_loop(lambda v: v[0] < 9, lambda v: v + stop(v), x)

    g = paired(lambda leaves: [f(leaves[0])], [jnp.array([1.0, 1.0])])
    assert np.isnan(g([jnp.array([4.0, 1.0])])[0]).all()
    assert np.isfinite(g([jnp.array([1.1, 1.0])])[0]).all()


def test_keys_pass() -> None:
    """Random numbers are drawn from the same key on both sides."""

    def f(x: Any) -> Any:
        return stop(x) + x * jax.random.normal(jax.random.key(0), x.shape)

    g = paired(lambda leaves: [f(leaves[0])], [X])
    np.testing.assert_allclose(g([Y])[0], X + Y * jax.random.normal(jax.random.key(0), (2,)), rtol=1e-6)
