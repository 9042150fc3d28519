"""The laws of argnums: `argnums_order`, `value_and_grad`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Undecided, properties

X = np.array([0.5, -1.25, 2.0], np.float32)
Y = np.array([1.5, 0.75, -0.5], np.float32)


def loss(a: Any, b: Any) -> Any:
    """A loss that treats its two arguments differently."""
    return jnp.sum(a * b**2)


def test_order_message() -> None:
    """The message names the choice of argnums and the leaf that has another one's gradient."""

    def sorting(fn: Any, argnums: Any) -> Any:
        return jax.grad(fn, argnums if isinstance(argnums, int) else tuple(sorted(argnums)))

    with pytest.raises(properties.argnums_order.error) as caught:
        properties.argnums_order(loss, X, Y, gradient=sorting)
    found = caught.value.finding.mismatch
    assert "for argnums=(" in found.leaf
    assert [name for name, _ in found.routes] == ["each alone", "gradient"]


@pytest.mark.parametrize(
    ("transform", "argnums"),
    [
        (lambda fn, n: jax.grad(fn, n) if not isinstance(n, int) or n >= 0 else jax.grad(fn, 0), -1),
        (lambda fn, n: jax.grad(fn, n if n != (1, 0) else (0, 1)), (1, 0)),
        (lambda fn, n: jax.grad(fn, n if n != (0,) else 0), (0,)),
    ],
    ids=["negative", "turned round", "tuple of one"],
)
def test_faults_of_transforms(transform: Any, argnums: Any, judge: Callable[..., Any]) -> None:
    """A transform that fails for one kind of choice is caught, and the choice is told."""
    found = judge("argnums_order", loss, X, Y, gradient=transform).worst
    assert f"argnums={argnums}" in found.leaf


def test_transform_that_raises(judge: Callable[..., Any]) -> None:
    """A choice for which the transform raises is a violation."""

    def one_only(fn: Any, argnums: Any) -> Any:
        if not isinstance(argnums, int):
            raise TypeError("argnums must be an int")
        return jax.grad(fn, argnums)

    found = judge("argnums_order", loss, X, Y, gradient=one_only).worst
    assert found.routes[1][1] == "raises TypeError: argnums must be an int"


def test_value_message() -> None:
    """The message names the value, and what each interface says it is."""

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return jnp.sum(x)

    f.defvjp(lambda x: (jnp.sum(x) + 1, x), lambda x, c: (c * jnp.ones_like(x),))
    with pytest.raises(properties.value_and_grad.error) as caught:
        properties.value_and_grad(f, X)
    found = caught.value.finding.mismatch
    assert (found.leaf, found.routes) == ("value", (("f and gradient(f)", "1.25"), ("value_and_grad(f)", "2.25")))


@pytest.mark.parametrize("law", ["argnums_order", "value_and_grad"])
def test_where_the_function_raises(law: str, judge: Callable[..., Any]) -> None:
    """Where the function itself raises there is no gradient to compare."""

    def f(x: Any) -> Any:
        if not isinstance(x, jax.core.Tracer):
            raise ValueError("eager")
        return jnp.sum(x)

    assert judge(law, f, X) == Undecided("the function raises ValueError here")


@pytest.mark.parametrize("law", ["argnums_order", "value_and_grad"])
def test_rule_that_raises_is_left_to_structure(law: str, judge: Callable[..., Any]) -> None:
    """A backward pass that raises in every interface alike is undecided here."""

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return jnp.sum(x)

    def backward(residual: Any, c: Any) -> Any:
        raise RuntimeError("no residual")

    f.defvjp(lambda x: (jnp.sum(x), None), backward)
    assert judge(law, f, X) == Undecided("every route raises RuntimeError: no residual")


@pytest.mark.parametrize("law", ["argnums_order", "value_and_grad"])
def test_gradients_of_jax_are_one_program(law: str, programs: list[str], judge: Callable[..., Any]) -> None:
    """The gradients of `jax.grad` itself are compared as expressions: none of them is run."""
    x, y = np.arange(1, 12, dtype=np.float32), np.arange(2, 13, dtype=np.float32)

    def fn(x: Any, y: Any) -> Any:
        return jnp.sum(jnp.sin(x) * jnp.flip(y))

    fn(jnp.asarray(x), jnp.asarray(y))
    fn(x, y)
    programs.clear()
    assert judge(law, fn, x, y) == Holds()
    assert programs == []
