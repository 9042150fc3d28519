"""The laws `key_reuse` and `key_determinism` at their edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Target, Undecided, UsageError, Violated, properties
from autoprop._subject import Subject
from autoprop.properties import LAWS

X = np.array([0.5, -1.25, 2.0], np.float32)
KEY = jax.random.key(4)
OLD = jax.random.PRNGKey(4)


def twice(key: Any, x: Any) -> Any:
    """One key, two draws."""
    return jnp.sum(x * jax.random.normal(key, x.shape)) + jnp.sum(jax.random.uniform(key, x.shape))


def once(key: Any, x: Any) -> Any:
    """One draw for each child."""
    first, second = jax.random.split(key)
    return jnp.sum(x * jax.random.normal(first, x.shape)) + jnp.sum(jax.random.uniform(second, x.shape))


@pytest.mark.parametrize("key", [KEY, OLD, jax.random.key(0, impl="rbg")], ids=["typed", "old", "rbg"])
def test_keys_in_every_form(judge: Callable[..., Any], key: Any) -> None:
    """Typed keys, rows of uint32 and keys of another generator are followed alike; the argument is named."""
    reuse = judge("key_reuse", twice, key, X)
    assert (reuse.worst.leaf, reuse.worst.count) == ("key", 2)
    assert judge("key_reuse", once, key, X) == Holds()
    assert judge("key_determinism", once, key, X) == Holds()


def test_a_compiled_function_is_looked_into(judge: Callable[..., Any]) -> None:
    """A jitted function that was called before, unchecked, is checked all the same."""
    compiled = jax.jit(twice)
    compiled(KEY, X)
    assert isinstance(judge("key_reuse", compiled, KEY, X), Violated)


def test_one_call_at_a_time(judge: Callable[..., Any]) -> None:
    """The same key in call after call is no reuse: the law is about one call."""
    assert [judge("key_reuse", once, KEY, X), judge("key_reuse", once, KEY, X)] == [Holds(), Holds()]


def test_a_parent_in_a_loop(judge: Callable[..., Any]) -> None:
    """A key that every iteration splits anew gives the same children each time."""

    def f(key: Any, x: Any) -> Any:
        return jax.lax.scan(lambda c, v: (c + v * jax.random.normal(jax.random.split(key)[0]), None), 0.0, x)[0]

    assert isinstance(judge("key_reuse", f, KEY, X), Violated)


def test_the_report(judge: Callable[..., Any]) -> None:
    """The message gives both lines, what JAX says, and the remedy."""
    found = judge("key_reuse", twice, KEY, X).worst
    (_, first), (_, second) = found.routes
    assert [first.rpartition(":")[0], second.rpartition(":")[0]] == [f"at {__file__}"] * 2
    assert "jax.debug_key_reuse: " in found.origin
    assert "jax.random.clone(key)" in found.origin


def test_cannot_be_traced(judge: Callable[..., Any]) -> None:
    """Control flow on values: the keys cannot be followed, and that is said."""

    def f(key: Any, x: Any) -> Any:
        return twice(key, x) if float(jnp.sum(x)) > 0 else once(key, x)

    verdict = judge("key_reuse", f, KEY, X)
    assert isinstance(verdict, Undecided)
    assert "control flow depends on values" in verdict.reason


@pytest.mark.parametrize("law", ["key_reuse", "key_determinism"])
def test_does_not_apply(law: str) -> None:
    """Without keys there is nothing to say; integers that look like an old key are not taken for one."""
    for args in ((X,), (np.array([1, 2], np.uint32),)):
        with pytest.raises(UsageError, match="does not apply"):
            getattr(properties, law)(lambda x: jnp.sum(x * 2.0), *args)


def test_makes_its_own_key() -> None:
    """A function that makes its key may reuse it, but takes none that could determine its value."""

    def f(x: Any) -> Any:
        return twice(jax.random.key(0), x)

    subject = Subject(Target(f, (X,)), (X,))
    applies = [LAWS[law].why_not(subject) is None for law in ("key_reuse", "key_determinism")]
    assert applies == [True, False]


def test_decided_by_rounding(judge: Callable[..., Any]) -> None:
    """A discrete value that jit changes is a violation where 64 bits do not cure it."""

    def asks(key: Any, x: Any) -> Any:
        traced = isinstance(x, jax.core.Tracer)
        return jnp.argmax(x) + traced, jax.random.normal(key)

    def rounds(key: Any, x: Any) -> Any:
        narrow = isinstance(x, jax.core.Tracer) and x.dtype == jnp.float32
        return jnp.argmax(x) + narrow, jax.random.normal(key)

    assert isinstance(judge("key_determinism", asks, KEY, X), Violated)
    assert judge("key_determinism", rounds, KEY, X) == Undecided(
        "discrete values differ in one precision only: rounding decided them"
    )


def test_arrays_of_keys(judge: Callable[..., Any]) -> None:
    """An array of keys, one for each row."""

    def f(keys: Any, x: Any) -> Any:
        return jnp.sum(jax.vmap(lambda k, v: v * jax.random.normal(k))(keys, x))

    keys = jax.random.split(KEY, 3)
    assert [judge(law, f, keys, X) for law in ("key_reuse", "key_determinism")] == [Holds(), Holds()]


def test_numbers_folded_in(judge: Callable[..., Any]) -> None:
    """One number folded in twice is reuse, two numbers are none; of numbers that are given nothing is said."""

    def layers(*numbers: Any) -> Callable[[Any, Any], Any]:
        return lambda key, x: sum(jnp.sum(x * jax.random.normal(jax.random.fold_in(key, n), x.shape)) for n in numbers)

    def labelled(key: Any, x: Any, label: Any) -> Any:
        return layers(label[0], label[1])(key, x)

    assert isinstance(judge("key_reuse", layers(0, 1, 1), KEY, X), Violated)
    assert judge("key_reuse", layers(0, 1, 2), KEY, X) == Holds()
    assert judge("key_reuse", labelled, KEY, X, np.array([2, 2], np.int32)) == Holds()
