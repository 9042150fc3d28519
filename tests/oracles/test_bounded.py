"""Loops without end stop at a limit: NaN where they do, and the program itself everywhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Target
from autoprop._subject import Subject
from autoprop.oracles.bounded import LIMIT, bounded, ends, is_open_ended

ENDS, ENDLESS = np.float32(1), np.float32(-1)
ROWS = np.array([1, -1, 2], np.float32)


def doubled(x: Any) -> Any:
    """Double a number until it reaches 9: 1 becomes 16, and what is negative never gets there."""
    return jax.lax.while_loop(lambda v: v < 9, lambda v: v * 2, x)


def subject(fn: Callable[..., Any], *args: Any) -> Subject:
    """Return the target at the signature of its arguments."""
    return Subject(Target(fn, args), args)


def limited(fn: Callable[..., Any], x: Any) -> Any:
    """Return the compiled, limited value of a function of one array."""
    found = subject(fn, x)
    return jax.jit(bounded(found, found.f))([jnp.asarray(x)], [])[0]


def does_end(fn: Callable[..., Any], x: Any) -> bool:
    """Say whether the loops of a function end at x."""
    found = subject(fn, x)
    return ends(found, (x,), found.f)


def either(x: Any) -> Any:
    """A loop in one branch only."""
    return jax.lax.cond(x > 5, lambda v: v + 1, doubled, x)


def summed(x: Any) -> Any:
    """A loop in each step of a scan, whose carry adds up."""
    return jax.lax.scan(lambda c, v: (c + doubled(v), None), jnp.zeros((), x.dtype), x)[0]


CASES: dict[str, tuple[Callable[..., Any], Any, Any]] = {
    "alone": (doubled, ENDS, ENDLESS),
    "jit": (jax.jit(doubled), ENDS, ENDLESS),
    "cond": (either, ENDS, ENDLESS),
    "scan": (summed, ROWS**2, ROWS),
    "loop in a loop": (
        lambda x: jax.lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, doubled(s[1])), (0, x))[1],
        ENDS,
        ENDLESS,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_endless(name: str) -> None:
    """What depends on a loop that does not end is NaN."""
    fn, _, endless = CASES[name]
    assert np.isnan(limited(fn, endless))


@pytest.mark.parametrize("name", CASES)
def test_short(name: str) -> None:
    """Loops that end give what they give without a limit, bit for bit."""
    fn, short, _ = CASES[name]
    assert limited(fn, short) == fn(short)


@pytest.mark.parametrize("name", CASES)
def test_ends(name: str) -> None:
    """The question whether the loops end is answered right at both arguments."""
    fn, short, endless = CASES[name]
    assert (does_end(fn, short), does_end(fn, endless)) == (True, False)


def test_branch_not_taken() -> None:
    """A loop in a branch that is not taken does no harm."""
    assert (limited(either, np.float32(6)), does_end(either, np.float32(6))) == (7, True)


@pytest.mark.parametrize(("steps", "expected"), [(LIMIT, LIMIT), (LIMIT + 1, np.nan)])
def test_the_limit(steps: int, expected: float) -> None:
    """As many iterations as the limit says are run, and not one more."""
    np.testing.assert_equal(np.asarray(limited(counted, np.float32(steps))), np.float32(expected))


def counted(x: Any) -> Any:
    """Count up to a number, one by one."""
    return jax.lax.while_loop(lambda v: v < x, lambda v: v + 1, jnp.zeros_like(x))


def test_integers_are_left() -> None:
    """An integer has no NaN: it stays where the limit left it."""
    found = subject(lambda x: jax.lax.while_loop(lambda s: s[1] < 9, lambda s: (s[0] + 1, s[1] * 2), (0, x)), ENDLESS)
    count, value = jax.jit(bounded(found, lambda m, h: found.target.fn(*m)))([jnp.asarray(ENDLESS)], [])
    assert (int(count), bool(np.isnan(value))) == (LIMIT, True)


def test_only_the_endless_row_of_a_batch() -> None:
    """In a batch of limited programs only the row that does not end is NaN."""
    found = subject(doubled, ENDS)
    rows = jax.jit(jax.vmap(lambda x: bounded(found, found.f)([x], [])[0]))(ROWS)
    np.testing.assert_array_equal(rows, [16, np.nan, 16])


def test_limited_batch() -> None:
    """In a limited batch, too, only the row that does not end is NaN."""
    np.testing.assert_array_equal(limited(jax.vmap(doubled), ROWS), [16, np.nan, 16])


def test_rows_end_by_themselves() -> None:
    """A row of a batched loop stops when it has ended, though others go on."""
    x = np.array([1, 0.01], np.float32)
    np.testing.assert_array_equal(limited(jax.vmap(doubled), x), jax.vmap(doubled)(x))


def solved(backward: Callable[[Any, Any], Any]) -> Any:
    """Return a function that loops, with a backward pass of its own."""

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return doubled(x)

    f.defvjp(lambda x: (doubled(x), x), lambda x, c: (backward(x, c),))
    return f


def test_gradient_through_a_custom_rule() -> None:
    """A limited gradient is the gradient where the loop ends, and NaN where it does not."""
    found = subject(solved(lambda x, c: c * doubled(x) / x), ENDS)

    def gradient(moved: Any, held: Any) -> Any:
        return jax.grad(lambda m: found.f(m, held)[0])(moved)

    program = jax.jit(bounded(found, gradient))
    assert float(program([jnp.asarray(ENDS)], [])[0]) == 16
    assert np.isnan(program([jnp.asarray(ENDLESS)], [])[0])
    assert (ends(found, (ENDS,), gradient), ends(found, (ENDLESS,), gradient)) == (True, False)


def test_loops_of_known_length_are_left() -> None:
    """A function without an open-ended loop is run as it is: the very program comes back."""
    found = subject(lambda x: jax.lax.fori_loop(0, 3, lambda i, v: v * 2, x), ENDS)
    assert not is_open_ended(found)
    assert bounded(found, found.f) == found.f


def test_control_flow_on_values() -> None:
    """A function that cannot be traced has no compiled loop that could hang."""
    assert not is_open_ended(subject(lambda x: x if x > 0 else -x, ENDS))


def test_loop_of_the_backward_pass_alone() -> None:
    """A loop that only the backward pass has can hang a search as well."""

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return 2 * x

    f.defvjp(lambda x: (2 * x, x), lambda x, c: (c * doubled(x),))
    found = subject(f, ENDLESS)
    assert not ends(found, (ENDLESS,), lambda m, h: jax.grad(lambda x: found.f(x, h)[0])(m))
