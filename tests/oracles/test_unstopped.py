"""The function with nothing stopped: the same values, and derivatives as if every stop were the identity."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Target
from autoprop._subject import Subject
from autoprop.oracles.unstopped import unstopped, without_stops

X = jnp.array([0.5, 1.25])


def identity(x: Any) -> Any:
    """What a stop is replaced by."""
    return x


Stop = Callable[[Any], Any]


def scanned(stop: Stop, x: Any) -> Any:
    """Two turns that carry and collect."""
    carry, out = jax.lax.scan(lambda c, a: (c + stop(c) * a, stop(a) * c), x.sum(), x)
    return jnp.append(out, carry)


def while_loop(stop: Stop, x: Any) -> Any:
    """Three turns, each with a stop."""
    return jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] + stop(s[1]) * x), (0, x))[1]


def branches(stop: Stop, x: Any) -> Any:
    """A branch with a stop, one without."""
    return jax.lax.cond(stop(x[0]) > 0, lambda v: v * stop(v), lambda v: v, x)


WAYS: dict[str, Callable[[Stop, Any], Any]] = {
    "plain": lambda stop, x: x * stop(x),
    "all stopped": lambda stop, x: stop(x**2),
    "a stop of a stop": lambda stop, x: x + stop(stop(x) * x),
    "the argument itself": lambda stop, x: stop(x),
    "jit": lambda stop, x: jax.jit(lambda v: v * stop(v))(x),
    "nested jit": lambda stop, x: jax.jit(jax.jit(lambda v: v * stop(v + 1)))(x),
    "checkpoint": lambda stop, x: jax.checkpoint(lambda v: jnp.sin(v) * stop(v))(x),
    "vmap": lambda stop, x: jax.vmap(lambda v: v * stop(v))(x),
    "cond": branches,
    "switch": lambda stop, x: jax.lax.switch(1, [lambda v: v, lambda v: v * stop(v)], x),
    "scan": scanned,
    "reversed scan": lambda stop, x: jax.lax.scan(lambda c, a: (c * a + stop(c), c), x[1], x, reverse=True)[0],
    "fori_loop": lambda stop, x: jax.lax.fori_loop(0, 3, lambda i, c: c + stop(c) * x, x),
}


@pytest.mark.parametrize("name", WAYS)
def test_stops_are_transparent(name: str) -> None:
    """Value and gradient are those of the function that is written without stops."""
    f = functools.partial(WAYS[name], jax.lax.stop_gradient)
    written = functools.partial(WAYS[name], identity)
    open_f = unstopped(lambda leaves: [f(leaves[0])], [X])
    np.testing.assert_array_equal(open_f([X])[0], f(X))
    expected = jax.jacrev(written)(X)
    np.testing.assert_allclose(jax.jacrev(lambda x: open_f([x])[0])(X), expected, rtol=1e-6)
    assert not np.allclose(jax.jacrev(f)(X), expected)


def test_while_loops() -> None:
    """A while loop, which has forward mode only."""
    open_f = unstopped(lambda leaves: [while_loop(jax.lax.stop_gradient, leaves[0])], [X])
    expected = jax.jvp(functools.partial(while_loop, identity), (X,), (jnp.ones(2),))[1]
    np.testing.assert_allclose(jax.jvp(lambda x: open_f([x])[0], (X,), (jnp.ones(2),))[1], expected, rtol=1e-6)


def test_under_jit_and_vmap() -> None:
    """It can be made of traced leaves: this is how the screen uses it."""

    def f(leaves: Any) -> Any:
        return [leaves[0] * jax.lax.stop_gradient(leaves[0])]

    gradient = jax.jit(jax.vmap(jax.grad(lambda x: unstopped(f, [x])([x])[0])))
    np.testing.assert_allclose(gradient(X), 2 * X)


@jax.custom_jvp
def safe_root(x: Any) -> Any:
    """A custom rule that makes the derivative at 0 a number, with a stop in its function."""
    return jnp.sqrt(x) + 0 * jax.lax.stop_gradient(x)


def safe_rule(primals: Any, tangents: Any) -> Any:
    """The derivative, 0 where it would be infinite."""
    x = primals[0]
    return safe_root(x), jnp.where(x > 0, 0.5 / jnp.sqrt(jnp.where(x > 0, x, 1)), 0) * tangents[0]


safe_root.defjvp(safe_rule)


@jax.custom_vjp
def fivefold(x: Any) -> Any:
    """A custom backward pass with a stop in its function."""
    return 5 * jax.lax.stop_gradient(x)


fivefold.defvjp(lambda x: (fivefold(x), None), lambda _, c: (5 * c,))


@pytest.mark.parametrize("f", [safe_root, fivefold])
def test_custom_rules_stay(f: Any) -> None:
    """A custom rule is the derivative, whatever its function stops: nothing is to be opened there."""

    def call(leaves: Any) -> Any:
        return [f(leaves[0])]

    assert unstopped(call, [X]) is call


def test_a_stop_beside_a_custom_rule() -> None:
    """The rule is still used where another stop is opened."""
    open_f = unstopped(lambda v: [safe_root(v[0]) * jax.lax.stop_gradient(v[0])], [X])
    np.testing.assert_array_equal(jax.grad(lambda x: open_f([x])[0].sum())(jnp.zeros(2)), np.zeros(2))


def test_without_stops_the_function_is_itself() -> None:
    """A function that stops nothing is returned as it is, and its subject has no other."""

    def f(leaves: Any) -> Any:
        return [jnp.sin(leaves[0])]

    assert unstopped(f, [X]) is f
    assert without_stops(Subject(Target(jnp.sin, (X,)), (X,))) is None


def test_subject() -> None:
    """The subject keeps names, contract, static values and the tree of the value; it stops nothing any more."""

    def loss(params: Any, n: int, scale: Any) -> Any:
        return {"loss": n * jax.lax.stop_gradient(params["w"]) * scale, "count": n}

    primals = ({"w": X}, 3, np.float32(2))
    found = without_stops(Subject(Target(loss, primals, argnums=0, intended="stop_gradient"), primals))
    assert found is not None
    assert (found.target.name, found.target.intended, found.moved_paths) == ("loss", (), ["params['w']"])
    assert found.output_paths == ["value['loss']"]
    assert without_stops(found) is None
    moved, held = found.split(primals)
    np.testing.assert_array_equal(jax.grad(lambda m: found.f(m, held)[0].sum())(moved)[0], [6, 6])


def test_what_cannot_be_traced() -> None:
    """A function with control flow that depends on values is left alone."""

    def f(x: Any) -> Any:
        return jax.lax.stop_gradient(x) if x[0] > 0 else x

    assert without_stops(Subject(Target(f, (X,)), (X,))) is None
