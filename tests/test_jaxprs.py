"""What traced programs say of a function."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop._dtypes import finfo
from autoprop._jaxprs import (
    equations,
    evaluate,
    handles_non_finite,
    has_rule_over_loop,
    has_stop_gradient,
    inner_program,
    narrowest_eps,
    refusal,
    scan_parts,
    while_parts,
)
from autoprop._origin import stop_gradient_lines

X = np.array([1.0, 2.0], np.float32)
stop = jax.lax.stop_gradient


def trace(fn: Any, *args: Any) -> Any:
    """Return the jaxpr of fn."""
    return jax.make_jaxpr(fn)(*(args or (X,)))


def equation(fn: Any, name: str) -> Any:
    """Return the first equation of fn with that primitive."""
    return next(eqn for eqn in equations(trace(fn)) if eqn.primitive.name == name)


INNER: dict[str, Any] = {
    "plain": lambda f: f,
    "jit": jax.jit,
    "checkpoint": jax.checkpoint,
    "scan": lambda f: lambda x: jax.lax.scan(lambda c, a: (c, f(a)), 0.0, x)[1],
    "cond": lambda f: lambda x: jax.lax.cond(x[0] > 0, f, lambda v: v, x),
    "custom_jvp": lambda f: jax.custom_jvp(f),
    "while": lambda f: lambda x: jax.lax.while_loop(lambda v: v[0] < 3, lambda v: f(v) + 1, x),
}


@pytest.mark.parametrize("name", INNER)
def test_stops_are_seen_inside(name: str) -> None:
    """A stop is seen at any depth, and none is seen where there is none."""

    def stopping(v: Any) -> Any:
        return stop(v) * 2

    def plain(v: Any) -> Any:
        return v * 2

    wrap = INNER[name]
    for fn in (stopping, plain):
        rule: Any = wrap(fn)
        if name == "custom_jvp":
            rule.defjvp(lambda p, t: (p[0], t[0]))
        assert has_stop_gradient(trace(rule)) is (fn is stopping)


def test_evaluate() -> None:
    """One equation runs on values, literals and repeated inputs included."""
    for fn in (lambda x: x + 1.0, lambda x: x * x):
        eqn = next(equations(trace(fn)))
        values = [X if hasattr(var, "count") or not hasattr(var, "val") else var.val for var in eqn.invars]
        np.testing.assert_array_equal(evaluate(eqn, values)[0], fn(X))


def test_scan_parts() -> None:
    """A scan says how many constants and carries it has, its length and direction."""
    factor = jnp.ones(())

    def fn(x: Any) -> Any:
        return jax.lax.scan(lambda c, a: ((c[0] * factor + a, c[1] + a), a), (x[0], x[1]), x, reverse=True)

    body, _, carry, length, reverse = scan_parts(equation(fn, "scan"))
    assert (carry, length, reverse) == (2, 2, True)
    assert len(body.jaxpr.outvars) >= 2


def test_while_parts() -> None:
    """A while loop says what its condition and its body close over."""

    def fn(x: Any) -> Any:
        return jax.lax.while_loop(lambda v: v < x[0], lambda v: v + x[1], 0.0)

    _, _, of_condition, of_body = while_parts(equation(fn, "while"))
    assert (of_condition, of_body) == (1, 1)


def test_inner_program_of_what_has_none() -> None:
    """A primitive without a program inside is named."""
    with pytest.raises(NotImplementedError, match="the primitive sin is not known to call one program"):
        inner_program(equation(jnp.sin, "sin"))


@pytest.mark.parametrize(
    ("fn", "dtype"),
    [(jnp.sin, np.float32), (lambda x: jax.jit(lambda v: v.astype(jnp.bfloat16))(x), jnp.bfloat16)],
)
def test_narrowest(fn: Any, dtype: Any) -> None:
    """The narrowest floating dtype inside counts."""
    assert narrowest_eps(trace(fn)) == finfo(dtype).eps


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (lambda x, y: jnp.nansum(x) + y, [True, False]),
        (lambda x, y: jnp.where(jnp.isfinite(y), x, y), [False, True]),
        (lambda x, y: jnp.where(jnp.isneginf(jnp.abs(x)), 0, x) + y, [True, False]),
        (lambda x, y: jnp.where(x != x, 0, x) + y, [True, False]),
        (lambda x, y: jnp.isnan(x + y), [False, False]),
        (lambda x, y: jnp.isnan(jnp.sin(x)) + y, [False, False]),
        (lambda x, y: jnp.where(x == y, x, y), [False, False]),
    ],
)
def test_tests_for_nan(fn: Any, expected: list[bool]) -> None:
    """An input counts as tested for NaN or infinity only if the test is on itself, entry by entry."""
    assert handles_non_finite(trace(fn, X, X)) == expected


def test_refusals() -> None:
    """What JAX does not have by design is told from a rule that fails."""
    with pytest.raises(ValueError, match="Reverse-mode") as caught:
        jax.grad(lambda x: jax.lax.while_loop(lambda v: v < 3, lambda v: v * 2, x))(1.0)
    found = refusal(caught.value)
    assert found is not None
    assert found.startswith("Reverse-mode differentiation does not work for lax.while_loop")
    assert refusal(ValueError("shapes differ")) is None


def test_lines_of_stops() -> None:
    """Each stop is told by file and line, each line once; a function that cannot be traced has none."""

    def fn(x: Any) -> Any:
        return stop(x) + stop(x)

    lines = stop_gradient_lines(fn, (X,))
    assert len(lines) == 1
    assert "test_jaxprs.py:" in lines[0]
    assert stop_gradient_lines(lambda x: x if x[0] > 0 else stop(x), (X,)) == []


@pytest.mark.parametrize(
    ("loop", "has_a_limit"),
    [
        (lambda x: jax.lax.while_loop(lambda c: jnp.sum(c) < 9, lambda c: c + 1, x), True),
        (lambda x: jax.lax.fori_loop(0, 3, lambda _, c: jnp.sin(c), x), True),
        (lambda x: jax.lax.scan(lambda c, n: (jnp.sin(c) / n, None), x, jnp.arange(1, 4))[0], True),
        (lambda x: jax.lax.scan(lambda c, y: (jnp.sin(c) * y, None), 1.0, x)[0], False),
        (jnp.sin, False),
    ],
    ids=["while", "fori", "numbered", "recurrence", "none"],
)
def test_rules_over_iterations(loop: Any, has_a_limit: bool) -> None:
    """A rule over a loop may stand for its limit, unless the loop goes through numbers."""
    f = jax.custom_jvp(loop)
    f.defjvp(lambda p, t: (f(*p), t[0]))
    assert has_rule_over_loop(jax.make_jaxpr(jax.jit(f))(jnp.ones(3))) is has_a_limit
    assert not has_rule_over_loop(jax.make_jaxpr(loop)(jnp.ones(3)))
