"""Functions for the laws of a function under one transform: `remat`, `linearize`, `nested_jit`."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .entry import Planted, Sound

F = np.float32
X3 = np.array([0.5, -1.25, 2.0], F)


@jax.custom_vjp
def clipped_in_the_value_only(x: Any) -> Any:
    """The forward rule of a clipped square forgets the clip in the value."""
    return jnp.clip(x**2, 0, 1)


clipped_in_the_value_only.defvjp(lambda x: (x**2, x), lambda x, c: (jnp.where(x**2 < 1, 2 * x * c, 0),))

_DRAWS = itertools.count()


@jax.custom_vjp
def _dropped(x: Any) -> Any:
    return _dropped_forward(x)[0]


def _dropped_forward(x: Any) -> tuple[Any, Any]:
    def draw(y: Any) -> Any:
        return ((np.arange(y.size) + next(_DRAWS)) % 3).astype(y.dtype)

    mask = jax.pure_callback(draw, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    return x * mask, mask


_dropped.defvjp(_dropped_forward, lambda mask, c: (mask * c,))


def mask_drawn_by_the_host(x: Any) -> Any:
    """A mask comes from a generator of the host, which draws anew when the forward pass is run again."""
    return _dropped(x)


class _Kept:
    """What a forward pass leaves behind for the backward pass, beside its residuals."""

    y: Any = None


@jax.custom_vjp
def kept_outside(x: Any) -> Any:
    """The backward rule reads what the forward rule left in an attribute."""
    return jnp.tanh(x)


def _kept_forward(x: Any) -> tuple[Any, None]:
    _Kept.y = jnp.tanh(x)
    return _Kept.y, None


kept_outside.defvjp(_kept_forward, lambda _, c: (c * (1 - _Kept.y**2),))

_TAPE: list[Any] = []


@jax.custom_vjp
def kept_on_a_tape(x: Any) -> Any:
    """The forward rule pushes its argument on a list, the backward rule pops it."""
    return x**3


def _push(x: Any) -> tuple[Any, None]:
    _TAPE.append(x)
    return x**3, None


kept_on_a_tape.defvjp(_push, lambda _, c: (3 * _TAPE.pop() ** 2 * c,))


@jax.custom_jvp
def _rounded(x: Any) -> Any:
    return 3 * jnp.sin(x)


@_rounded.defjvp
def _rounded_rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
    ((x,), (t,)) = primals, tangents
    return (3 * jnp.sin(x)).astype(jnp.bfloat16).astype(x.dtype), 3 * jnp.cos(x) * t


def value_in_bfloat16(x: Any) -> Any:
    """The value that the JVP rule returns was rounded to bfloat16."""
    return jnp.cumsum(_rounded(x))


@jax.custom_jvp
def value_without_the_floor(x: Any) -> Any:
    """The value that the JVP rule returns lacks the floor under the logarithm."""
    return jnp.log(jnp.maximum(x, 1e-3))


@value_without_the_floor.defjvp
def _floor_rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
    ((x,), (t,)) = primals, tangents
    return jnp.log(jnp.abs(x)), jnp.where(x > 1e-3, t / x, 0)


def recomputed(x: Any, key: Any) -> Any:
    """Layers that are recomputed already, with dropout from a key."""

    @jax.checkpoint
    def layer(h: Any, k: Any) -> Any:
        return jnp.where(jax.random.bernoulli(k, 0.5, h.shape), jnp.tanh(h), h / 3)

    for k in jax.random.split(key, 2):
        h = layer(x, k)
        x = x + h
    return x


@jax.custom_jvp
def _logarithm(x: Any, y: Any) -> Any:
    return jnp.log(x * x + 1) * y


@_logarithm.defjvp
def _logarithm_rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
    ((x, y), (t, s)) = primals, tangents
    slope = jax.lax.cond(jnp.sum(x) > 0, lambda: 2 * x / (x * x + 1), lambda: 2 / (x + 1 / x))
    return _logarithm(x, y), slope * t * y + jnp.log(x * x + 1) * s


def rule_with_a_branch(x: Any) -> Any:
    """A JVP rule with a branch, and an argument whose tangent is 0."""
    return jnp.sum(_logarithm(x, jnp.float32(2))), jax.lax.scan(lambda c, v: (c * v, c), x[0], x)[1]


@jax.custom_vjp
def _powers(x: Any, n: Any) -> Any:
    return x**n


_powers.defvjp(lambda x, n: (x**n, (x, n, 2)), lambda r, c: (c * r[1] * r[0] ** (r[1] - 1) * r[2] / 2, None))


def mixed_residuals(x: Any, n: Any) -> Any:
    """Residuals that are an array, an integer array and a Python integer, in a function that is compiled inside."""
    return jax.jit(_powers)(x, n)


def takes_everything(params: Any, key: Any, label: Any, scale: float, mode: str) -> Any:
    """A tree with an empty leaf, a key, a label, a Python scalar and a static value; an integer among the outputs."""
    noise = jax.random.normal(key, params["w"].shape)
    y = (params["w"] + noise)[label] * scale if mode == "one" else params["w"]
    return {"y": y, "best": jnp.argmax(params["w"]), "none": params["empty"]}


EVERYTHING = ({"w": X3, "empty": np.zeros((0, 2), F)}, jax.random.key(0), np.int32(1), 2.0, "one")
FAULTS = [
    Planted("clipped in the value only", "remat", clipped_in_the_value_only, (X3,)),
    Planted("mask drawn by the host", "remat", mask_drawn_by_the_host, (X3,)),
    Planted("value in bfloat16", "linearize", value_in_bfloat16, (X3,)),
    Planted("value without the floor", "linearize", value_without_the_floor, (abs(X3),), trigger=(X3,)),
    Planted("kept outside", "nested_jit", kept_outside, (X3,)),
    Planted("kept on a tape", "nested_jit", kept_on_a_tape, (X3,)),
]
SOUND = [
    Sound("recomputed", "remat", recomputed, (X3, jax.random.key(0)), tricky=(1e9 * X3, jax.random.key(7))),
    Sound("rule with a branch", "linearize", rule_with_a_branch, (X3,), tricky=(-X3,)),
    Sound("mixed residuals", "nested_jit", mixed_residuals, (X3, np.int32(3)), tricky=(X3, np.int32(-1))),
]
