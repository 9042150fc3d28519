"""The law `stop_constant`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Undecided, properties
from zoo.parts import baseline_of_constants, nothing_moves, skips_what_stands

X = np.array([0.5, -1.25, 2.0], np.float32)
Y = np.array([1.5, 0.75, -0.5], np.float32)


def test_message_beside_a_stop() -> None:
    """The message names the tangent or gradient, what was stopped, and both routes."""
    with pytest.raises(properties.stop_constant.error) as caught:
        properties.stop_constant(nothing_moves, X, Y)
    found = caught.value.finding.mismatch
    assert found.leaf == "tangent of value beside a stopped x"
    assert [name for name, _ in found.routes] == ["nothing stopped", "stop_gradient"]


def test_message_beside_a_constant(judge: Callable[..., Any]) -> None:
    """Where only the constant differs, that is the other route."""
    found = judge("stop_constant", baseline_of_constants, X, Y).worst
    assert found.leaf == "tangent of value beside a constant target"
    assert [name for name, _ in found.routes] == ["constant", "stop_gradient"]


def test_leaves_of_the_only_argument(judge: Callable[..., Any]) -> None:
    """Of a function of one argument each leaf is stopped by itself."""
    assert judge("stop_constant", lambda p: p["w"] * X + p["b"], {"w": Y, "b": X}) == Holds()
    found = judge("stop_constant", lambda p: nothing_moves(p["x"], p["y"]), {"x": X, "y": Y}).worst
    assert found.leaf == "tangent of value beside a stopped p['x']"


@pytest.mark.parametrize("dtype", [jnp.bfloat16, np.float16, np.complex64])
def test_dtypes(dtype: Any, judge: Callable[..., Any]) -> None:
    """Stopping is substituting in every dtype."""
    assert judge("stop_constant", lambda a, b: jnp.sin(a) * b, X.astype(dtype), Y.astype(dtype)) == Holds()


def test_function_that_works_eagerly_only(judge: Callable[..., Any]) -> None:
    """A function that asks for its values is compared eagerly."""
    assert judge("stop_constant", lambda a, b: jnp.sum(a * b) if b[0] > 0 else jnp.sum(a), X, Y) == Holds()


def test_rule_of_its_own(judge: Callable[..., Any]) -> None:
    """A rule that leaves out what does not move is right."""
    assert judge("stop_constant", skips_what_stands, X, Y, np.float32(0.5), intended=("stop_gradient",)) == Holds()


def test_infinite_derivative(judge: Callable[..., Any]) -> None:
    """Where a derivative is not finite, `finite` has the word."""
    verdict = judge("stop_constant", lambda a, b: jnp.sqrt(a) * b, 0 * X, Y)
    assert verdict == Undecided("value or derivative is not finite")
