"""The law `numeric`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Undecided, Violated, properties

X = np.array([0.5, -1.25, 2.0], np.float32)
stop = jax.lax.stop_gradient


@jax.custom_jvp
def scaled(x: Any, factor: Any) -> Any:
    """x, with ``factor`` for its derivative."""
    return x


scaled.defjvp(lambda p, t: (p[0], p[1] * t[0]))


def test_message() -> None:
    """The message names the entry, both numbers, the bound and where it comes from."""
    factor = np.array([1, 3, 1], np.float32)
    with pytest.raises(properties.numeric.error) as caught:
        properties.numeric(lambda x, f: jnp.sum(scaled(x, f)), X, factor, argnums=0)
    found = caught.value.finding.mismatch
    assert (found.leaf, found.index) == ("x", (1,))
    assert found.routes[0] == ("forward", "3")
    assert float(found.routes[1][1].partition(" ± ")[0]) == pytest.approx(1, abs=1e-6)
    assert found.difference == pytest.approx(2, rel=1e-6)
    assert found.bound is not None
    assert 0 < found.bound < 1e-5
    assert "20 times the error of the numeric slope, in 64 bits" in str(caught.value)


@pytest.mark.parametrize("wrong", [1e-3, 1e-6])
@pytest.mark.parametrize("at", [X, 1e-9 * X, 1e9 * X], ids=["1", "1e-9", "1e9"])
def test_small_errors_are_seen(wrong: float, at: Any, judge: Callable[..., Any]) -> None:
    """An error of a millionth is seen at every scale, though the user's dtype is float32."""
    verdict = judge("numeric", lambda x: scaled(x, 1 + wrong), at)
    assert isinstance(verdict, Violated)


def test_a_dead_leaf_beside_a_large_one(judge: Callable[..., Any]) -> None:
    """Each leaf is probed alone: a wrong gradient of 1e-9 beside one of order one is seen."""
    verdict = judge("numeric", lambda a, b: jnp.sum(a) + 1e-9 * jnp.sum(scaled(b, 2.0)), X, X)
    assert verdict.worst.leaf == "b"


def test_a_leaf_below_rounding(judge: Callable[..., Any]) -> None:
    """A leaf whose share is lost in the rounding of the value cannot be said to have the right gradient."""
    verdict = judge("numeric", lambda a, b: jnp.sum(1e9 * a) + 1e-9 * jnp.sum(scaled(b, 2.0)), X, X)
    assert isinstance(verdict, Undecided)


@pytest.mark.parametrize("dtype", [jnp.bfloat16, np.float16, np.float32, np.complex64])
def test_dtypes(dtype: Any, judge: Callable[..., Any]) -> None:
    """A sound function holds in every inexact dtype."""
    assert judge("numeric", lambda x: jnp.sin(x) * x, jnp.asarray(X, dtype)) == Holds()


def test_complex_fault(judge: Callable[..., Any]) -> None:
    """A derivative that is wrong in its imaginary part is caught."""
    z = np.array([1 + 1j, -0.5 + 2j], np.complex64)
    assert isinstance(judge("numeric", lambda z: scaled(z, 1 + 0.1j), z), Violated)


def test_integers_and_keys_are_held(judge: Callable[..., Any]) -> None:
    """Arguments that cannot be differentiated are arguments all the same."""
    key = jax.random.key(0)
    assert judge("numeric", lambda x, i, k: x[i] * jax.random.normal(k), X, np.int32(1), key) == Holds()


UNDECIDED = {
    "a jump": (lambda x: jnp.sum(jnp.floor(x)), X * 0, "the function jumps here"),
    "an infinite value": (lambda x: jnp.sum(1 / x), X * 0, "the value is not finite"),
    "narrow arithmetic inside": (lambda x: jnp.sin(x.astype(jnp.bfloat16)).astype(jnp.float32), X, "noise"),
    "an infinite slope": (
        lambda x: jnp.sum(jnp.sqrt(x)),
        X[:1] * 0,
        "the derivative is not finite; the law `finite` judges that",
    ),
}


@pytest.mark.parametrize("name", UNDECIDED)
def test_undecided(name: str, judge: Callable[..., Any]) -> None:
    """Where no slope is known, the law says why instead of guessing."""
    fn, at, reason = UNDECIDED[name]
    assert judge("numeric", fn, at) == Undecided(reason)


def test_wide_arguments_refused(judge: Callable[..., Any]) -> None:
    """A function that takes its own dtype only cannot be judged in 64 bits, and the reason says so."""

    def f(x: Any) -> Any:
        if x.dtype != np.float32:
            raise TypeError("float32 only")
        return x

    assert judge("numeric", f, X) == Undecided("the function refuses 64-bit arguments (TypeError)")


def test_stops_are_told() -> None:
    """If a function that stops gradients is accused, the message names the line and the option."""
    with pytest.raises(properties.numeric.error) as caught:
        properties.numeric(lambda x: jnp.sum(x * stop(x)), X)
    assert "test_numeric.py:" in str(caught.value)
    assert "intended=('stop_gradient',)" in str(caught.value)


def test_stops_hold_their_values(judge: Callable[..., Any]) -> None:
    """With stops intended the same function is right, and a wrong rule beside the stop is still seen."""
    meant = {"intended": ("stop_gradient",)}
    assert judge("numeric", lambda x: jnp.sum(x * stop(x)), X, **meant) == Holds()
    assert isinstance(judge("numeric", lambda x: jnp.sum(scaled(x, 2.0) * stop(x)), X, **meant), Violated)


def largest() -> Any:
    """Return a maximum that gives each of several equal maxima the whole gradient."""

    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.max(x)

    f.defjvp(lambda p, t: (f(*p), jnp.sum(jnp.where(p[0] == jnp.max(p[0]), t[0], 0))))
    return f


def test_ties_moved_together(judge: Callable[..., Any]) -> None:
    """A wrong value at a tie shows when the tied entries move together."""
    found = judge("numeric", largest(), np.array([-1, 2, 2], np.float32)).worst
    assert (found.leaf, found.routes[0]) == ("the tied entries moved together", ("forward", "4"))


def test_ties_whatever_the_direction(judge: Callable[..., Any]) -> None:
    """A wrong value at a tie is caught whatever the random direction is: at seed 0 the tied tangents differ in sign."""
    assert isinstance(judge("numeric", largest(), np.array([2, -1, 2], np.float32)), Violated)


@pytest.mark.parametrize("seed", range(3))
def test_a_median_of_three_equal_numbers(judge: Callable[..., Any], seed: int) -> None:
    """Each coordinate alone leaves the median where it is; the gradient of any one choice is a limit of gradients."""
    assert not isinstance(judge("numeric", jnp.median, np.ones(3, np.float32), seed=seed), Violated)


def _newton(a: Any) -> Any:
    """Four steps towards the square root."""
    return jax.lax.fori_loop(0, 4, lambda _, x: (x + a / x) / 2, a)


@pytest.mark.parametrize(("factor", "wrong"), [(1.0, False), (1.01, True)])
def test_a_rule_for_the_limit_of_an_iteration(judge: Callable[..., Any], factor: float, wrong: bool) -> None:
    """An implicit rule differs a little from an iteration that has not converged; a hundredth is too much."""
    root = jax.custom_vjp(_newton)
    root.defvjp(lambda a: (_newton(a), _newton(a)), lambda x, c: (factor * c / (2 * x),))
    assert isinstance(judge("numeric", root, np.float32(3.0)), Violated) is wrong


def test_tied_entries_beside_an_end(judge: Callable[..., Any]) -> None:
    """A direction of many bits is rounded alike at all small steps, which is no other slope."""
    x = np.array([1.0000001, 1.0000001], np.float32)
    for seed in (0, 1, 84):
        assert not isinstance(judge("numeric", jnp.arccosh, x, seed=seed), Violated)


@pytest.mark.parametrize("n", [3, 5, 8])
@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_sorted_ties(n: int, seed: int, judge: Callable[..., Any]) -> None:
    """Of many equal entries each may stand in any place, so its derivative is that of one of many places."""
    assert not isinstance(judge("numeric", jnp.sort, np.zeros(n, np.float32), seed=seed), Violated)
