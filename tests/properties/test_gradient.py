"""Gradient transforms of the user's own: every wrong wrapper is found by a law that names it, no sound one is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Settings, Target, search
from hypothesis_jax import array

X = np.array([0.5, -1.25, 2.0], np.float32)
Y = np.array([1.5, 0.75, -2.5], np.float32)
ARGS = {"w": Y, "b": np.float32(3)}, X, Y
SPECS = {"w": array("n"), "b": array("")}, array("n"), array("n")


def loss(params: Any, x: Any, y: Any) -> Any:
    """A loss of three arguments, one of them a tree, that treats each differently."""
    return jnp.sum(jnp.sin(params["w"] * x) + params["b"] * x * y**2)


def _numbers(argnums: Any) -> tuple[int, ...]:
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def each(change: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a transform that changes each leaf of a gradient."""
    return lambda fn, argnums: lambda *args: jax.tree.map(change, jax.grad(fn, argnums)(*args))


def whole(change: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a transform that changes what the gradient is returned in."""
    return lambda fn, argnums: lambda *args: change(jax.grad(fn, argnums)(*args))


def on(change: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a transform that changes its argnums."""
    return lambda fn, argnums: jax.grad(fn, change(argnums))


def swapping(fn: Any, argnums: Any) -> Any:
    """Hand out the gradients of a pair the wrong way round."""
    gradient = jax.grad(fn, argnums)
    return lambda *args: gradient(*args)[::-1] if not isinstance(argnums, int) else gradient(*args)


def without_duplicates(fn: Any, argnums: Any) -> Any:
    """Give an argument that is named twice once."""
    return jax.grad(fn, argnums if isinstance(argnums, int) else tuple(dict.fromkeys(argnums)))


def clipping(g: Any) -> Any:
    """Clip each entry of a gradient."""
    return jnp.clip(g, -2.0, 2.0)


WRONG = {
    "sorts": (on(lambda n: n if isinstance(n, int) else tuple(sorted(n))), "argnums_order"),
    "takes the absolute value of a position": (
        on(lambda n: abs(n) if isinstance(n, int) else tuple(map(abs, n))),
        "argnums_order",
    ),
    "drops negative positions": (
        on(lambda n: n if isinstance(n, int) else tuple(i for i in n if i >= 0) or (0,)),
        "argnums_order",
    ),
    "removes duplicates": (without_duplicates, "argnums_order"),
    "counts from 1": (on(lambda n: n - 1 if isinstance(n, int) else tuple(i - 1 for i in n)), "argnums_order"),
    "the first one only": (on(lambda n: 0), "argnums_order"),
    "always a tuple": (on(_numbers), "argnums_order"),
    "unwraps a tuple of one": (on(lambda n: n[0] if not isinstance(n, int) and len(n) == 1 else n), "argnums_order"),
    "a list for a tuple": (whole(lambda g: list(g) if isinstance(g, tuple) else g), "structure"),
    "swaps": (swapping, "argnums_order"),
    "scales": (each(lambda g: 0.5 * g), "argnums_order"),
    "negates": (each(lambda g: -g), "argnums_order"),
    "clips": (each(clipping), "argnums_order"),
    "casts": (each(lambda g: g.astype(jnp.float16)), "structure"),
    "rounds to bfloat16 and back": (each(lambda g: g.astype(jnp.bfloat16).astype(g.dtype)), "argnums_order"),
    "loses the tree": (whole(jax.tree.leaves), "structure"),
    "adds an axis": (each(lambda g: g[None]), "structure"),
    "float64 of NumPy": (each(lambda g: np.asarray(g, np.float64)), "structure"),
    "a mean over the batch": (each(lambda g: jnp.mean(g) * jnp.ones_like(g)), "argnums_order"),
    "the value as well": (lambda fn, argnums: jax.value_and_grad(fn, argnums), "structure"),
}
SOUND = {
    "jax.grad": jax.grad,
    "jit": lambda fn, argnums: jax.jit(jax.grad(fn, argnums)),
    "value_and_grad": lambda fn, argnums: lambda *args: jax.value_and_grad(fn, argnums)(*args)[1],
    "jacrev": jax.jacrev,
    "jacfwd": jax.jacfwd,
    "float32 of NumPy": each(np.asarray),
    "positions from 0": lambda fn, n: jax.grad(fn, n % 3 if isinstance(n, int) else tuple(i % 3 for i in n)),
    "checkpoint": lambda fn, argnums: jax.grad(jax.checkpoint(fn), argnums),
}


def twice(fn: Any, argnums: Any) -> Any:
    """Give each gradient as often as its argument is named."""
    if isinstance(argnums, int):
        return jax.grad(fn, argnums)

    def gradient(*args: Any) -> Any:
        numbers = tuple(n % len(args) for n in argnums)
        found = dict(zip(sorted(set(numbers)), jax.grad(fn, tuple(sorted(set(numbers))))(*args), strict=True))
        return tuple(found[n] for n in numbers)

    return gradient


SOUND["given twice"] = twice


@pytest.mark.parametrize("name", WRONG)
def test_wrong_wrapper(name: str, judge: Callable[..., Any]) -> None:
    """A wrong wrapper is found by the law that says what is wrong; its message names the choice or the leaf."""
    transform, law = WRONG[name]
    found = judge(law, loss, *ARGS, gradient=transform).worst
    if law == "argnums_order":
        assert "argnums=" in found.leaf
    else:
        assert [route for route, _ in found.routes][1] == "gradient"


@pytest.mark.parametrize("name", SOUND)
def test_sound_wrapper(name: str, judge: Callable[..., Any]) -> None:
    """A sound wrapper satisfies every law that calls it."""
    laws = ("structure", "argnums_order", "value_and_grad", "expected_grad", "reference")
    contract = {"expected_grad": jax.grad(loss, (0, 1, 2)), "reference": loss, "gradient": SOUND[name]}
    assert {law: judge(law, loss, *ARGS, **contract) for law in laws} == dict.fromkeys(laws, Holds())


@pytest.mark.slow
def test_clipping_beyond_typical_gradients() -> None:
    """What a wrapper does to large gradients only is found by a search, and the choice is told."""

    def clipping_late(fn: Any, argnums: Any) -> Any:
        return lambda *args: jax.tree.map(lambda g: jnp.clip(g, -1e3, 1e3), jax.grad(fn, argnums)(*args))

    target = Target(loss, SPECS, gradient=clipping_late, properties=("argnums_order",))
    (found,) = search(target, settings=Settings(examples=48, rows=16, signatures=2)).findings
    assert "argnums=" in found.mismatch.leaf
