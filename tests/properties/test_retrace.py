"""The law `retrace` at its edges."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Undecided, Violated

X = np.array([0.5, -1.25, 2.0], np.float32)


@jax.jit
def compiled(x: Any) -> Any:
    """A function that is compiled once."""
    return jnp.sum(x**2)


@functools.partial(jax.jit, static_argnames="power")
def powers(x: Any, power: Any) -> Any:
    """A function with a static argument."""
    return jnp.sum(x ** int(power))


def local(x: Any) -> Any:
    """A helper that is compiled, and closes over the argument."""

    @jax.jit
    def helper(y: Any) -> Any:
        return y * x

    return jnp.sum(helper(x))


@jax.custom_jvp
def ruled(x: Any) -> Any:
    """A function with a rule, whose body compiles something new."""
    return jax.jit(lambda y: jnp.sum(y))(x)


ruled.defjvp(lambda primals, tangents: (ruled(*primals), jnp.sum(tangents[0])))


AGAIN = {
    "new transform": lambda x: jnp.sum(jax.jit(jax.grad(lambda y: jnp.sum(y**3)))(x)),
    "local helper": local,
    "behind a custom rule": ruled,
    "behind checkpoint": lambda x: jax.checkpoint(lambda y: jax.jit(lambda z: jnp.sum(z * 2))(y))(x),
    "new static array": lambda x: powers(x, type("Power", (), {"__int__": lambda self: 2})()),
}
ONCE = {
    "jitted itself": jax.jit(lambda x: jax.jit(lambda y: jnp.sum(y))(x)),
    "under vmap": lambda x: jnp.sum(jax.vmap(compiled)(jnp.stack([x, x]))),
    "under grad": lambda x: jnp.sum(jax.grad(compiled)(x)),
    "under hessian": lambda x: jnp.sum(jax.hessian(compiled)(x)),
    "two dtypes": lambda x: compiled(x) + compiled(2.0) + compiled(x[:2]),
    "equal static": lambda x: powers(x, power=2) + powers(x, power=3),
    "library": lambda x: jnp.sum(jax.nn.softmax(jnp.where(x > 0, x, 0))) + jax.nn.logsumexp(x),
    "loop with a closure": lambda x: jax.lax.scan(lambda c, v: (c + v * x[0], None), 0.0, x)[0],
}


@pytest.mark.parametrize("name", AGAIN)
def test_again(judge: Callable[..., Any], name: str) -> None:
    """What is built anew in every call is compiled anew in every call."""
    assert isinstance(judge("retrace", AGAIN[name], X), Violated)


@pytest.mark.parametrize("name", ONCE)
def test_once(judge: Callable[..., Any], name: str) -> None:
    """What JAX finds in its cache is not accused, nor what it compiles anew by design."""
    assert judge("retrace", ONCE[name], X) == Holds()


def test_the_report(judge: Callable[..., Any]) -> None:
    """The message names the function and the line at which jit is called."""
    found = judge("retrace", local, X).worst
    assert (found.leaf, found.routes) == (
        "helper",
        (("first call", "traces helper"), ("second call", "traces helper again")),
    )
    assert f"the jit called at {__file__}:" in found.origin


@jax.tree_util.register_pytree_node_class
class Narrowing:
    """Parameters that come back from a round trip in another dtype."""

    def __init__(self, w: Any) -> None:
        self.w = w

    def tree_flatten(self) -> Any:
        """Give the array."""
        return (self.w,), None

    @classmethod
    def tree_unflatten(cls, _: Any, children: Any) -> Any:
        """Make one from its parts, in half precision."""
        return cls(children[0].astype(jnp.bfloat16) if hasattr(children[0], "astype") else children[0])


@jax.tree_util.register_pytree_node_class
class Ambiguous(Narrowing):
    """Parameters whose static data are an array: whether they are equal has no answer."""

    def tree_flatten(self) -> Any:
        """Give the array, and another for static data."""
        return (self.w,), np.ones(2)

    @classmethod
    def tree_unflatten(cls, _: Any, children: Any) -> Any:
        """Make one from its parts."""
        return cls(*children)


@pytest.mark.parametrize("kind", [Narrowing, Ambiguous])
def test_rebuilt_arguments(judge: Callable[..., Any], kind: Any) -> None:
    """Arguments that a round trip changes, or that no cache can compare, are told."""
    assert isinstance(judge("retrace", lambda p: jnp.sum(p.w), kind(X)), Violated)


def test_scalars_and_static_values(judge: Callable[..., Any]) -> None:
    """Python scalars, strings and integers among the arguments are no new signature."""
    assert judge("retrace", lambda x, rate, mode, n: jnp.sum(x) * rate * n, X, 0.5, "sum", 3) == Holds()


def test_cannot_be_traced(judge: Callable[..., Any]) -> None:
    """Control flow on values is never compiled."""
    verdict = judge("retrace", lambda x: jnp.sum(x) if x[0] > 0 else x[0], X)
    assert isinstance(verdict, Undecided)
