"""The functions whose verification `benchmarks/speed.py` measures: small, medium, large, and a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import jax
import jax.numpy as jnp

from hypothesis_jax import array, labels

__all__ = ["WORKS", "Work"]


@attrs.frozen(eq=False)
class Work:
    """
    A function to verify.

    Attributes:
        name: what it is called in records and tables.
        title: one line about it.
        fn: the function.
        spec: the spec of each argument; sizes that are named vary, for every contender.
    """

    name: str
    title: str
    fn: Callable[..., Any]
    spec: tuple[Any, ...]


def small(x: Any) -> Any:
    """
    Return a scalar of a vector.
    """
    return jnp.sum(jnp.sin(x) * x)


def cross_entropy(params: Any, x: Any, y: Any) -> Any:
    """
    Return the cross-entropy of a network, its layers in a list.
    """
    *hidden, (w, b) = params
    for weights, bias in hidden:
        x = jnp.tanh(x @ weights + bias)
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x @ w + b), y[:, None], axis=1))


def _norm(x: Any, scale: Any, shift: Any) -> Any:
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    return centred / jnp.sqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + 1e-5) * scale + shift


def block(params: Any, x: Any) -> Any:
    """
    Return the mean square of a transformer block's output: attention of four heads, MLP, layer norm before each.
    """
    length, width = x.shape
    normed = _norm(x, *params["norm_1"])
    q, k, v = (
        (normed @ params[name]).reshape(length, 4, width // 4).transpose(1, 0, 2) for name in ("query", "key", "value")
    )
    weights = jax.nn.softmax(q @ k.transpose(0, 2, 1) / jnp.sqrt(width / 4), axis=-1)
    x = x + (weights @ v).transpose(1, 0, 2).reshape(length, width) @ params["out"]
    up, down = params["mlp"]
    x = x + jax.nn.gelu(_norm(x, *params["norm_2"]) @ up) @ down
    return jnp.mean(x**2)


def loop(w: Any, xs: Any) -> Any:
    """
    Return the last state of a recurrence of 100 steps, summed.
    """

    def step(state: Any, x: Any) -> tuple[Any, None]:
        return jnp.tanh(w * state + x), None

    return jnp.sum(jax.lax.scan(step, jnp.zeros_like(w), xs)[0])


def _square() -> Any:
    return array("64 64")


def _layer(n: int | str, m: int | str) -> tuple[Any, Any]:
    return array((n, m)), array((m,))


_BLOCK = {
    **{name: _square() for name in ("query", "key", "value", "out")},
    "mlp": (array("64 256"), array("256 64")),
    "norm_1": (array("64"), array("64")),
    "norm_2": (array("64"), array("64")),
}

WORKS = {
    work.name: work
    for work in (
        Work("small", "sum(sin(x) * x)", small, (array("n"),)),
        Work(
            "medium",
            "cross-entropy of an MLP of 3 layers, with labels",
            cross_entropy,
            ([_layer("i", "h"), _layer("h", "k"), _layer("k", "c")], array("b i"), labels("b", below="c")),
        ),
        Work("scan", "a scan of 100 steps", loop, (array("n"), array("100 n"))),
        Work("block", "a transformer block, 16 tokens of width 64", block, (_BLOCK, array("16 64"))),
        Work(
            "million",
            "cross-entropy of an MLP with a million parameters",
            cross_entropy,
            ([_layer(512, 960), _layer(960, 512), _layer(512, 10)], array("4 512"), labels("4", below=10)),
        ),
    )
}
