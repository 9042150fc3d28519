"""The law `repeatable` at its edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Undecided, Violated

X = np.array([0.5, -1.25, 2.0], np.float32)


def test_the_point_is_left_alone(judge: Callable[..., Any]) -> None:
    """A function that changes its arguments changes copies: the point stays what it was."""
    x, tree = X.copy(), {"w": X, "rest": [X]}

    def f(a: Any, params: Any) -> Any:
        params["rest"].append(a)
        if isinstance(a, np.ndarray):
            a *= 0
        return jnp.sum(a)

    assert isinstance(judge("repeatable", f, x, tree), Violated)
    assert (x.tolist(), len(tree["rest"])) == (X.tolist(), 1)


def test_what_changed_is_named(judge: Callable[..., Any]) -> None:
    """A changed array is named by its path; a changed tree is shown before and after."""

    def scales(params: Any) -> Any:
        if isinstance(params["w"], np.ndarray):
            params["w"] *= 2
        return jnp.sum(params["w"])

    def adds(params: Any) -> Any:
        params["cache"] = 1.0
        return jnp.sum(params["w"])

    found = judge("repeatable", scales, {"w": X}).worst
    assert (found.leaf, found.routes[0]) == ("params['w']", ("before the call", "2"))
    assert judge("repeatable", adds, {"w": X}).worst.routes == (
        ("before the call", "PyTreeDef(({'w': *},))"),
        ("after the call", "PyTreeDef(({'cache': *, 'w': *},))"),
    )


def test_a_second_call_that_raises(judge: Callable[..., Any]) -> None:
    """A function that can be called only so often does not repeat."""
    left = [1, 1]

    def f(x: Any) -> Any:
        if not isinstance(x, jax.core.Tracer):
            left.pop()
        return jnp.sum(x)

    assert judge("repeatable", f, X).worst.routes[1][1].startswith("raises IndexError")


def test_another_number_of_values(judge: Callable[..., Any]) -> None:
    """A function that gives another tree in each call does not repeat."""
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        return [jnp.sum(x)] * len(calls)

    assert isinstance(judge("repeatable", f, X), Violated)


class Model:
    """Something with an attribute."""

    last: Any = None


@pytest.mark.parametrize("where", ["attribute", "list", "inner grad", "scan"])
def test_leaks(judge: Callable[..., Any], where: str) -> None:
    """A traced value that is kept is found: as it is, or behind another transform."""
    model, kept = Model(), []

    def keeps(x: Any) -> Any:
        kept[:] = [x * 2]
        return jnp.sum(x)

    def attribute(x: Any) -> Any:
        model.last = x + 1
        return jnp.sum(x)

    ways = {
        "attribute": attribute,
        "list": keeps,
        "inner grad": lambda x: jnp.sum(jax.grad(keeps)(x)),
        "scan": lambda x: jax.lax.scan(lambda c, v: (c + keeps(v), None), 0.0, x)[0],
    }
    found = judge("repeatable", ways[where], X).worst
    assert (found.leaf, "Tracer" in found.routes[0][1]) == ("tracer", True)


def test_a_rule_with_a_closure(judge: Callable[..., Any]) -> None:
    """A custom rule that closes over the argument: `jax.checking_leaks` alone would accuse it."""

    def f(x: Any) -> Any:
        @jax.custom_jvp
        def scaled(y: Any) -> Any:
            return y * x

        scaled.defjvp(lambda primals, tangents: (scaled(*primals), tangents[0] * x))
        return jnp.sum(scaled(x))

    with pytest.raises(Exception, match="Leaked"), jax.checking_leaks():
        jax.make_jaxpr(f)(X)
    assert judge("repeatable", f, X) == Holds()


def test_an_old_leak_is_not_held_against_it(judge: Callable[..., Any]) -> None:
    """A tracer that something else keeps alive accuses no sound function."""
    kept: list[Any] = []
    jax.make_jaxpr(lambda x: kept.append(x) or x)(X)
    assert judge("repeatable", jnp.sum, X) == Holds()


def test_control_flow_on_values(judge: Callable[..., Any]) -> None:
    """A function that cannot be traced leaks nothing."""
    assert judge("repeatable", lambda x: jnp.sum(x) if x[0] > 0 else x[0], X) == Holds()


def test_a_function_that_raises(judge: Callable[..., Any]) -> None:
    """Where the function raises there is nothing to repeat."""

    def f(x: Any) -> Any:
        if not isinstance(x, jax.core.Tracer):
            raise ValueError("eager")
        return jnp.sum(x)

    assert judge("repeatable", f, X) == Undecided("the function raises ValueError here")


def test_nan_repeats(judge: Callable[..., Any]) -> None:
    """NaN twice is the same value twice."""
    assert judge("repeatable", lambda x: jnp.sum(x) * jnp.nan, X) == Holds()
