"""Which keys a program consumes: found by their bits, where a static check can only suspect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from autoprop.oracles.keys import Uses, consumed, draws

KEY = jax.random.key(1)


def uses(f: Callable[..., Any], *args: Any) -> Uses:
    """
    Return the keys that f consumes.
    """
    return consumed(jax.make_jaxpr(f)(*args), args)


def counts(f: Callable[..., Any], *args: Any) -> list[int]:
    """
    Return how often each key is consumed, sorted.
    """
    return sorted(len(lines) for lines in uses(f, *args).lines.values())


def indexed(key: Any) -> Any:
    """Each key of an array is taken once, by a traced index."""
    keys = jax.random.split(key, 3)
    return jax.lax.fori_loop(0, 3, lambda i, s: s + jax.random.normal(keys[i]), 0.0)


def indexed_twice(key: Any) -> Any:
    """The first key of an array is taken twice, by a traced index."""
    keys = jax.random.split(key, 3)
    return jax.lax.map(lambda i: jax.random.normal(keys[i]), jnp.array([0, 1, 0]))


def waiting(key: Any) -> Any:
    """A loop of unknown length that splits as it goes."""

    def step(carry: Any) -> Any:
        k, n = carry
        return jax.random.split(k)[0], n + 1

    return jax.lax.while_loop(lambda carry: carry[1] < 3, step, (key, 0))[1]


def branching(key: Any) -> Any:
    """Both branches draw, but only one is taken."""
    draw = jax.random.normal
    return jax.lax.cond(True, draw, lambda k: draw(k) + draw(k), key)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (jax.random.normal, [1]),
        (lambda k: jax.random.normal(k) + jax.random.uniform(k), [2]),
        (lambda k: jax.random.normal(k) + jax.random.uniform(jax.random.clone(k)), [1, 1]),
        (lambda k: jax.random.normal(jax.random.fold_in(k, 1)) + jax.random.normal(k), [1, 1]),
        (lambda k: jax.vmap(jax.random.normal)(jnp.stack([k, k])), [2]),
        (lambda k: jax.random.key_data(k), []),
        (indexed, [1, 1, 1, 1]),
        (indexed_twice, [1, 1, 2]),
        (waiting, [1, 1, 1]),
        (branching, [1]),
        (lambda k: jax.random.normal(k) + jax.jit(jax.random.normal)(k), [2]),
        (jax.checkpoint(lambda k: jnp.sin(jax.random.normal(k))), [1]),
    ],
)
def test_counts(f: Callable[..., Any], expected: list[int]) -> None:
    """A key counts once for each draw and each split; folding and reading its data do not consume it."""
    assert counts(f, KEY) == expected


def test_long_loops_are_cut() -> None:
    """Only the first iterations of a loop are followed, and that is said."""

    def long(key: Any) -> Any:
        return jax.lax.map(jax.random.normal, jax.random.split(key, 20))

    assert (len(uses(long, KEY).lines), uses(long, KEY).is_complete) == (9, False)


def test_lines_are_the_callers() -> None:
    """A draw is placed where this program asks JAX's library for it, whoever asked first."""

    def twice(key: Any) -> Any:
        return jax.random.normal(key) + jax.random.normal(key)

    ((_, lines),) = uses(twice, KEY).repeated
    assert [line.rpartition(":")[0] for line in lines] == [__file__, __file__]


def test_draws() -> None:
    """A program draws if any of its equations does, at any depth."""
    programs = [jax.make_jaxpr(f)(KEY) for f in (indexed, lambda k: jax.random.fold_in(k, 2))]
    assert [draws(program) for program in programs] == [True, False]
