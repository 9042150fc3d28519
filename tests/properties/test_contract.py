"""The laws of the declared contract: `rejects`, `reference`, `expected_grad`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Undecided, UsageError, properties

X = np.array([0.5, -1.25, 2.0], np.float32)


def total(x: Any) -> Any:
    """A scalar loss."""
    return jnp.sum(x**2)


def test_rejects_message() -> None:
    """The message says which bad input was taken, and what came out of it."""
    with pytest.raises(properties.rejects.error) as caught:
        properties.rejects(total, X, rejects=(((X,), ValueError),))
    found = caught.value.finding.mismatch
    assert (found.leaf, found.routes) == ("rejects[0]", (("declared", "raises ValueError"), ("f", "returns 5.8125")))


def test_rejects_another_error(judge: Callable[..., Any]) -> None:
    """Another error than the declared one is a violation, and is named."""
    found = judge("rejects", lambda x: x["w"], X, rejects=(((X,), ValueError),)).worst
    assert found.routes[1][1].startswith("raises ")


def test_rejects_each(judge: Callable[..., Any]) -> None:
    """Every declared input is tried; those that are taken are all told."""
    verdict = judge("rejects", total, X, rejects=(((X,), ValueError), ((None,), TypeError), ((X[:1],), ValueError)))
    assert [m.leaf for m in verdict.mismatches] == ["rejects[0]", "rejects[2]"]


def test_rejects_wants_an_exception_type() -> None:
    """The second of the pair is an exception type: its name is a wrong call."""
    with pytest.raises(UsageError, match="'ValueError'"):
        properties.rejects(total, X, rejects=(((X,), "ValueError"),))


def test_reference_message() -> None:
    """The message names the leaf and both numbers, and says why it is no rounding."""
    with pytest.raises(properties.reference.error) as caught:
        properties.reference(total, X, reference=lambda x: 1.5 * jnp.sum(x**2))
    found = caught.value.finding.mismatch
    assert (found.leaf, found.routes) == ("value", (("reference", "8.71875"), ("f", "5.8125")))
    assert found.origin.endswith("it does not shrink in 64 bits, so it is not rounding")


def test_reference_rounding_holds(judge: Callable[..., Any]) -> None:
    """Two formulas that round differently in float32, by much where terms cancel, are one function."""
    verdict = judge(
        "reference", lambda x: jnp.sum((x + 1e4) ** 2 - 1e8), X, reference=lambda x: jnp.sum(x**2 + 2e4 * x)
    )
    assert verdict == Holds()


def test_reference_of_another_tree(judge: Callable[..., Any]) -> None:
    """A reference that returns something else than the function does is a violation, not a crash."""
    found = judge("reference", total, X, reference=lambda x: (jnp.sum(x**2), x))
    assert hasattr(found, "mismatches")


def test_expected_grad_message() -> None:
    """The message names the entry, what was expected, and the gradient."""
    with pytest.raises(properties.expected_grad.error) as caught:
        properties.expected_grad(total, X, expected_grad=lambda x: 2 * x.at[1].add(1.0))
    found = caught.value.finding.mismatch
    assert (found.leaf, found.index) == ("x", (1,))
    assert found.routes == (("expected_grad", "-0.5"), ("gradient", "-2.5"))
    assert (found.count, found.total) == (1, 3)


def test_expected_grad_of_a_shape(judge: Callable[..., Any]) -> None:
    """A gradient of another shape is told by shapes, not by numbers."""
    found = judge("expected_grad", total, X, expected_grad=lambda x: x[0]).worst
    assert found.routes == (("expected_grad", "float32[]"), ("gradient", "float32[3]"))


def test_expected_grad_of_another_tree(judge: Callable[..., Any]) -> None:
    """An expected gradient for one of two arguments only is a violation, not a crash."""
    verdict = judge("expected_grad", lambda x, y: jnp.sum(x * y), X, X, expected_grad=lambda x, y: y)
    assert hasattr(verdict, "mismatches")


def test_where_the_function_raises(judge: Callable[..., Any]) -> None:
    """Where the function itself raises there is nothing to compare."""

    def f(x: Any) -> Any:
        if not isinstance(x, jax.core.Tracer):
            raise ValueError("eager")
        return jnp.sum(x)

    for law in ("reference", "expected_grad"):
        verdict = judge(law, f, X, reference=total, expected_grad=total)
        assert verdict == Undecided("the function raises ValueError here")
