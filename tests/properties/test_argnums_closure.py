"""The law `argnums_closure`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from autoprop import Holds, UsageError, Violated, properties
from zoo.parts import residual_forgotten, short_cut_for_constants

X = np.array([0.5, -1.25, 2.0], np.float32)
Y = np.array([1.5, 0.75, -0.5], np.float32)


def test_message() -> None:
    """The message names the gradient, the argument that moves, and both routes."""
    with pytest.raises(properties.argnums_closure.error) as caught:
        properties.argnums_closure(residual_forgotten, X, Y)
    found = caught.value.finding.mismatch
    assert found.leaf == "gradient of x with respect to x"
    assert [name for name, _ in found.routes] == ["all arguments move", "the others are constants"]


def test_part_without_forward_mode(judge: Callable[..., Any]) -> None:
    """If only the closure has no forward mode, reverse mode decides."""
    assert "gradient of x" in judge("argnums_closure", short_cut_for_constants, X, np.float32(0.5)).worst.leaf


def test_held_argument(judge: Callable[..., Any]) -> None:
    """An argument that is not differentiated is a constant of the program too."""

    def f(x: Any, scale: Any) -> Any:
        return x * scale if isinstance(scale, jax.core.Tracer) else jax.lax.stop_gradient(x) * scale

    assert isinstance(judge("argnums_closure", f, X, np.float32(0.5), argnums=0), Violated)
    assert judge("argnums_closure", lambda x, s: x * s, X, np.float32(0.5), argnums=0) == Holds()


def test_rule_that_raises_if_one_stands(judge: Callable[..., Any]) -> None:
    """A rule that raises unless everything moves is a violation, and its words are shown."""

    @jax.custom_vjp
    def f(x: Any, y: Any) -> Any:
        return x * y

    def forward(x: Any, y: Any) -> Any:
        if not y.perturbed:
            raise RuntimeError("y must move")
        return x.value * y.value, (x.value, y.value)

    f.defvjp(forward, lambda r, c: (c * r[1], c * r[0]), symbolic_zeros=True)
    found = judge("argnums_closure", f, X, Y).worst
    assert found.routes[1] == ("the others are constants", "raises RuntimeError: y must move")


def test_leaves_of_the_only_argument(judge: Callable[..., Any]) -> None:
    """Of a function of one argument each leaf moves by itself."""
    found = judge("argnums_closure", lambda p: residual_forgotten(p["x"], p["y"]), {"x": X, "y": Y}).worst
    assert found.leaf == "gradient of p['x'] with respect to p['x']"


def test_static_and_key(judge: Callable[..., Any]) -> None:
    """Keys are closed over like arrays, and static values stay what they are."""

    def f(x: Any, key: Any, power: int) -> Any:
        return x**power * jax.random.normal(key, x.shape)

    assert judge("argnums_closure", f, X, jax.random.key(0), 2) == Holds()


def test_one_array_only() -> None:
    """Without another array there is nothing to close over."""
    with pytest.raises(UsageError, match="no other array to close over"):
        properties.argnums_closure(lambda x: x * 2, X)
