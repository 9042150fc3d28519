"""The law `custom_rule` at its edges."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import xlogy

from autoprop import Holds, Target, Undecided, UsageError, Violated, properties
from autoprop._subject import Subject
from autoprop.properties import LAWS

X = np.array([0.5, -1.25, 2.0], np.float32)


@jax.custom_jvp
def wrong(x: Any, y: Any) -> Any:
    """A product whose rule has a sign wrong in its second argument."""
    return jnp.sin(x) * y


@wrong.defjvp
def _wrong_jvp(primals: Any, tangents: Any) -> Any:
    (x, y), (s, t) = primals, tangents
    return wrong(x, y), jnp.cos(x) * y * s - jnp.sin(x) * t


def hidden(way: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """
    Return a loss that shows nothing of what ``way`` computes.
    """
    return lambda x: jnp.sum(x**2) + 0.0 * jnp.sum(way(x))


@jax.custom_jvp
def outer(x: Any) -> Any:
    """A right rule around a wrong one."""
    return wrong(x, 2.0 * jnp.ones_like(x))


outer.defjvp(lambda primals, tangents: (outer(*primals), 2 * jnp.cos(primals[0]) * tangents[0]))

PLACES = {
    "plain": lambda x: wrong(x, x + 1),
    "literal": lambda x: wrong(x[0], 2.0),
    "same twice": lambda x: wrong(x, x),
    "jit": jax.jit(lambda x: wrong(x, x + 1)),
    "checkpoint": jax.checkpoint(lambda x: jnp.sin(wrong(x, x + 1))),
    "scan": lambda x: jax.lax.scan(lambda c, v: (c + wrong(v, c), None), x[0], x)[0],
    "reversed map": lambda x: jax.lax.scan(lambda c, v: (c, wrong(v, c)), x[0], x, reverse=True)[1],
    "while": lambda x: jax.lax.fori_loop(0, jnp.int32(x[2]), lambda _, c: wrong(c, c), x),
    "cond": lambda x: jax.lax.cond(x[0] > 0, lambda v: wrong(v, v + 1), jnp.cos, x),
    "vmap": lambda x: jax.vmap(lambda v: wrong(v, v + 1))(x),
    "inside of another rule": outer,
}


@pytest.mark.parametrize("place", PLACES)
def test_found_everywhere(judge: Callable[..., Any], place: str) -> None:
    """A wrong rule is found wherever it is called, though the function hides it; the rule is named."""
    found = judge("custom_rule", hidden(PLACES[place]), X).worst
    assert found.leaf.startswith("wrong: ")
    assert found.routes[0][0].startswith("rule, ")
    assert __file__ in found.origin


def test_the_input_is_named(judge: Callable[..., Any]) -> None:
    """The leaf is the rule's own argument, not the function's."""
    assert judge("custom_rule", hidden(PLACES["plain"]), X).worst.leaf == "wrong: y"


def test_not_reached(judge: Callable[..., Any]) -> None:
    """A branch that is not taken and a loop that does not run say nothing."""

    def branch(x: Any) -> Any:
        return jnp.sum(jax.lax.cond(x[0] > 9, lambda v: wrong(v, v), jnp.cos, x))

    def loop(x: Any) -> Any:
        return jnp.sum(jax.lax.while_loop(lambda c: c[0] > 9, lambda c: wrong(c, c), x))

    assert [judge("custom_rule", f, X) for f in (branch, loop)] == [Undecided("no custom rule is reached here")] * 2


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def newton(steps: int, y: Any) -> Any:
    """The cube root by a loop without a reverse mode."""

    def step(carry: Any) -> Any:
        x, n = carry
        return x - (x - y / x**2) / 3, n + 1

    return jax.lax.while_loop(lambda carry: carry[1] < steps, step, (y, 0))[0]


newton.defvjp(lambda steps, y: (newton(steps, y), newton(steps, y)), lambda steps, r, c: (c / (3 * r**2),))


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def careless(steps: int, y: Any) -> Any:
    """The same with a factor missing."""
    return newton(steps, y)


careless.defvjp(lambda steps, y: (newton(steps, y), newton(steps, y)), lambda steps, r, c: (c / r**2,))


def test_a_body_without_a_derivative(judge: Callable[..., Any]) -> None:
    """A rule for a loop that cannot be differentiated is judged by the slope alone."""
    y = np.float32(2.0)
    assert judge("custom_rule", lambda y: newton(60, y), y) == Holds()
    assert isinstance(judge("custom_rule", hidden(lambda y: careless(60, y)), y), Violated)


@jax.custom_jvp
def rounded(x: Any) -> Any:
    """Round, with the derivative of the identity."""
    return jnp.round(x)


rounded.defjvp(lambda primals, tangents: (rounded(*primals), tangents[0]))


def test_a_body_that_does_not_respond(judge: Callable[..., Any]) -> None:
    """A rule that declares what its body does not do is accused only where the function's own slope accuses it too."""
    x = X + np.float32(0.25)
    assert isinstance(judge("custom_rule", lambda x: jnp.sum(rounded(x) ** 2), x), Violated)
    assert isinstance(judge("custom_rule", hidden(rounded), x), Undecided)


def test_borne_out_by_the_whole(judge: Callable[..., Any]) -> None:
    """Two rules that are wrong alone and right together: the whole function's slope is what counts."""

    @jax.custom_jvp
    def head(x: Any) -> Any:
        return x

    @jax.custom_jvp
    def tail(x: Any) -> Any:
        return x**2

    head.defjvp(lambda primals, tangents: (head(*primals), 2 * tangents[0]))
    tail.defjvp(lambda primals, tangents: (tail(*primals), primals[0] * tangents[0]))
    verdict = judge("custom_rule", lambda x: jnp.sum(tail(head(x))), X)
    assert verdict == Undecided("a rule contradicts its body, but the slope of the whole function bears it out")


def test_not_finite_but_unused(judge: Callable[..., Any]) -> None:
    """JAX's rule of xlogy is NaN at (0, 0): a function that only shows the value is sound."""

    def shows(x: Any) -> Any:
        return jnp.sum(jnp.cos(x)) + jax.lax.stop_gradient(jnp.sum(xlogy(x, x)))

    assert isinstance(judge("custom_rule", shows, np.zeros(2, np.float32)), Undecided)


def test_integers_and_outputs(judge: Callable[..., Any]) -> None:
    """Integer inputs and outputs of a rule take no part."""

    @jax.custom_vjp
    def take(table: Any, index: Any) -> Any:
        return table[index], index

    take.defvjp(
        lambda table, index: (take(table, index), (table, index)),
        lambda r, c: (jnp.zeros_like(r[0]).at[r[1]].add(c[0]), None),
    )
    assert judge("custom_rule", lambda x, i: jnp.sum(take(x, i)[0] ** 2), X, np.array([0, 2, 2])) == Holds()


def test_complex_rules(judge: Callable[..., Any]) -> None:
    """A rule of complex numbers."""

    @jax.custom_jvp
    def square(z: Any) -> Any:
        return z * z

    square.defjvp(lambda primals, tangents: (square(*primals), 2 * primals[0] * tangents[0]))
    z = np.array([0.5 + 1j, -1.25 - 0.5j], np.complex64)
    assert judge("custom_rule", lambda z: jnp.sum(jnp.abs(square(z)) ** 2), z) == Holds()


def test_does_not_apply() -> None:
    """Without rules, or with rules that are meant, there is nothing to judge."""
    with pytest.raises(UsageError, match="calls no custom rule"):
        properties.custom_rule(jnp.sum, X)
    subject = Subject(Target(hidden(PLACES["plain"]), (X,), intended=("custom_rules",)), (X,))
    assert "on purpose" in str(LAWS["custom_rule"].why_not(subject))


def test_a_rule_that_cannot_be_taken_out(judge: Callable[..., Any]) -> None:
    """A rule that closes over the argument cannot be run apart from it, and that is said."""

    def f(x: Any) -> Any:
        @jax.custom_jvp
        def scaled(y: Any) -> Any:
            return 2 * y

        scaled.defjvp(lambda primals, tangents: (scaled(*primals), 2 * tangents[0] * x / x))
        return jnp.sum(scaled(jnp.sin(x)))

    verdict = judge("custom_rule", f, X)
    assert isinstance(verdict, Undecided)
    assert "cannot be judged apart from the function" in verdict.reason


def test_the_limit_of_an_iteration(judge: Callable[..., Any]) -> None:
    """An implicit rule is that of the limit, which a loop that stops early misses a little; a wrong factor is seen."""

    def solver(factor: float) -> Callable[[Any], Any]:
        def iterate(y: Any) -> Any:
            return jax.lax.fori_loop(0, 8, lambda _, x: jnp.cos(x * y), jnp.zeros_like(y))

        def backward(r: Any, c: Any) -> Any:
            x, y = r
            s = jnp.sin(x * y)
            return (-c * factor * s * x / (1 + s * y),)

        rule = jax.custom_vjp(iterate)
        rule.defvjp(lambda y: (iterate(y), (iterate(y), y)), backward)
        return rule

    y = np.array([0.125, 0.25], np.float32)
    assert isinstance(judge("custom_rule", lambda y: jnp.sum(solver(1.0)(y)), y), Holds | Undecided)
    assert isinstance(judge("custom_rule", lambda y: jnp.sum(solver(1.01)(y)), y), Violated)
