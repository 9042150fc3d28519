"""Faults that one mode, one choice of arguments or one order of derivative shows."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import linear_call

from hypothesis_jax import array

from .entry import NUMBERS, Mutant, Partner

__all__ = ["MUTANTS", "PARTNERS"]

F = np.float32
X = np.array([0.5, -1.25, 2.0], F)
W = np.array([1.5, 0.75, -0.5], F)
G = np.array([[1.0, -0.5, 0.25], [2.0, 0.75, -1.5], [0.5, 1.5, -0.75]], F)
stop = jax.lax.stop_gradient


def transpose_of_matrix(x: Any) -> Any:
    """A linear map whose transpose is itself, though it is not symmetric."""
    a = jnp.asarray(G, x.dtype)
    return jnp.sin(linear_call(lambda m, v: m @ v, lambda m, c: m @ c, a, x))


def transpose_of_shift(x: Any) -> Any:
    """The transpose of a shift shifts the same way."""
    return jnp.tanh(linear_call(lambda _, v: jnp.roll(v, 1), lambda _, c: jnp.roll(c, 1), (), x))


def transpose_of_scale(x: Any) -> Any:
    """The transpose of a scaling is off by one per cent."""
    return linear_call(lambda s, v: s * v, lambda s, c: 1.01 * s * c, jnp.asarray(3, x.dtype), jnp.sin(x))


def transpose_of_cumsum(x: Any) -> Any:
    """The transpose of a running sum is a running sum from the same end."""
    return linear_call(lambda _, v: jnp.cumsum(v), lambda _, c: jnp.cumsum(c), (), x) ** 2


def own_jvp(wrong: Any) -> Any:
    """Return a function with a JVP rule that calls a linear map with a wrong transpose."""

    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.exp(x)

    @f.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        y = f(primals[0])
        return y, linear_call(lambda s, t: s * t, lambda s, c: wrong(s) * c, y, tangents[0])

    return lambda x: f(x)


@functools.partial(jax.custom_jvp)
def _weighted(x: Any, w: Any) -> Any:
    return jnp.sum(x**2 * w)


def _weighted_jvp(primals: Any, tangents: Any) -> Any:
    (x, w), (t, s) = primals, tangents
    zero = jax.custom_derivatives.SymbolicZero
    if isinstance(s, zero):
        return _weighted(x, w), jnp.sum(x * w * t)  # the factor 2 is forgotten where the weights are not moved
    moved = jnp.sum(x**2 * s)
    return _weighted(x, w), moved if isinstance(t, zero) else moved + jnp.sum(2 * x * w * t)


_weighted.defjvp(_weighted_jvp, symbolic_zeros=True)


def weights_at_rest(x: Any, w: Any) -> Any:
    """A rule that is wrong where its second argument is not differentiated."""
    return _weighted(x, w)


def _pair(sign: float) -> Any:
    f = jax.custom_vjp(lambda x: (jnp.sin(x), jnp.cos(x)))
    f.defvjp(
        lambda x: (f(x), x),
        lambda x, c: (c[0] * jnp.cos(x) + sign * c[1] * jnp.sin(x),),
    )
    return f


def second_output_unused(x: Any) -> Any:
    """A rule of two outputs, the second of them wrong and not used."""
    return _pair(1.0)(x)[0]


@jax.custom_vjp
def _square(x: Any) -> Any:
    return x**2


_square.defvjp(lambda x: (x**2, x), lambda x, c: (jnp.where(x < 0, -2 * x, 2 * x) * c,))


def fed_by_squares(x: Any) -> Any:
    """A rule that is wrong for negative arguments, which never reach it."""
    return jnp.sum(_square(x**2))


def _with_rule(value: Any, push: Any) -> Any:
    f = jax.custom_jvp(value)
    f.defjvp(lambda p, t: (value(*p), push(p[0]) * t[0]))
    return lambda x: f(x)


_cos_wrong = _with_rule(jnp.cos, jnp.sin)
_exp_flat = _with_rule(jnp.exp, lambda x: 0.99 * jnp.exp(x))
_step = _with_rule(lambda x: jax.nn.sigmoid(x), lambda x: stop(jax.nn.sigmoid(x) * (1 - jax.nn.sigmoid(x))))
_root = _with_rule(
    lambda x: jnp.sqrt(1 + x**2), lambda x: x / jnp.sqrt(1 + jnp.where(jnp.abs(x) > 100, stop(x), x) ** 2)
)


def rule_of_the_rule(x: Any) -> Any:
    """The derivative of sin is a cosine whose own rule has the wrong sign."""
    return jnp.sum(_with_rule(jnp.sin, _cos_wrong)(x))


def one_percent_of_curvature(x: Any) -> Any:
    """The derivative of exp is an exponential whose own derivative is off by one per cent."""
    return jnp.sum(_with_rule(jnp.exp, _exp_flat)(x))


def sigmoid_without_curvature(x: Any) -> Any:
    """The slope of a sigmoid is stopped."""
    return jnp.sum(_step(x))


def curvature_wrong_when_large(x: Any) -> Any:
    """The curvature is wrong beyond 100 only."""
    return jnp.sum(_root(x))


MUTANTS = [
    Mutant("transpose not transposed", "linear map", transpose_of_matrix, (X,), ("adjoint", "modes"), spec=(array(3),)),
    Mutant("transpose shifts on", "linear map", transpose_of_shift, (X,), ("adjoint", "modes")),
    Mutant("transpose scales more", "linear map", transpose_of_scale, (X,), ("adjoint", "modes")),
    Mutant("transpose sums from the same end", "linear map", transpose_of_cumsum, (X,), ("adjoint", "modes")),
    Mutant("transpose halved", "exponential", own_jvp(lambda s: s / 2), (X,), ("adjoint", "modes", *NUMBERS)),
    Mutant("transpose negative", "exponential", own_jvp(lambda s: -s), (X,), ("adjoint", "modes", *NUMBERS)),
    Mutant(
        "transpose wrong where large",
        "exponential",
        own_jvp(lambda s: jnp.where(s > 20, 1, s)),
        (X,),
        ("adjoint", "modes", *NUMBERS),
        trigger=(X + 4,),
    ),
    Mutant(
        "wrong with an argument at rest",
        "weighted squares",
        weights_at_rest,
        (X, W),
        ("argnums_closure", "argnums_order", "numeric"),
    ),
    Mutant("wrong output unused", "pair", second_output_unused, (X,), ("custom_rule",)),
    Mutant("rule of the rule", "sin", rule_of_the_rule, (X,), ("numeric_second",)),
    Mutant("one per cent of curvature", "exp", one_percent_of_curvature, (X,), ("numeric_second",)),
    Mutant("curvature stopped", "sigmoid", sigmoid_without_curvature, (X,), ("numeric_second",)),
    Mutant(
        "curvature wrong when large", "root", curvature_wrong_when_large, (X,), ("numeric_second",), trigger=(400 * X,)
    ),
]
PARTNERS = [
    Partner(
        "linear map",
        lambda x: jnp.sin(linear_call(lambda m, v: m @ v, lambda m, c: m.T @ c, jnp.asarray(G, x.dtype), x)),
        (X,),
        spec=(array(3),),
    ),
    Partner("exponential", own_jvp(lambda s: s), (X,)),
    Partner("wrong where never reached", fed_by_squares, (X,)),
    Partner("pair", lambda x: _pair(-1.0)(x), (X,)),
    Partner("sigmoid", lambda x: jnp.sum(_with_rule(jnp.exp, lambda y: jnp.exp(y))(x)), (X,)),
]
