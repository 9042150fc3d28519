"""How the tests look at a strategy: its smallest example, any example with a property, all of some examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

QUIET = settings(database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@pytest.fixture
def find_any() -> Callable[..., Any]:
    """
    Return a function: any example for which the condition holds, shrunk.
    """

    def run(strategy: Any, condition: Callable[[Any], bool] = lambda _: True) -> Any:
        return find(strategy, condition, settings=settings(QUIET, max_examples=1000))

    return run


@pytest.fixture
def minimal(find_any: Callable[..., Any]) -> Callable[..., Any]:
    """
    Return a function: the example that a strategy shrinks to while the condition holds.
    """
    return find_any


@pytest.fixture
def assert_all_examples() -> Callable[..., None]:
    """
    Return a function: it fails unless the predicate holds for every example of a short run.
    """

    def run(strategy: Any, predicate: Callable[[Any], bool], examples: int = 50) -> None:
        @settings(QUIET, max_examples=examples, phases=[Phase.generate])
        @given(strategy)
        def check(value: Any) -> None:
            assert predicate(value), value

        check()

    return run


@pytest.fixture
def x64() -> Iterator[None]:
    """
    Switch 64-bit dtypes on for one test.
    """
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)
