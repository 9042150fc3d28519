"""How far a function's value may be off by rounding: its spread when every operation rounds at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._jaxprs import Literal, evaluate, inner_program

__all__ = ["spread"]

SAMPLES = 6
_TRANSPARENT = frozenset({"jit", "pjit", "closed_call", "core_call", "remat2", "checkpoint", "custom_jvp_call"})


def spread(f: Callable[[list[Any]], list[Any]], leaves: Sequence[Any], eps: float) -> list[float]:
    """
    Return, for each scalar that ``f`` returns, the largest distance between random roundings and the plain value.

    Every operation's result is multiplied by 1 + eps·ξ with ξ uniform in [−1, 1]: stochastic arithmetic, which sees the
    cancellation of large intermediate values that a bound from inputs and outputs alone does not.

    Source: Vignes, "A stochastic arithmetic for reliable scientific computation" (1993).

    Args:
        f: a function of a list of arrays that returns a list of scalars.
        leaves: where.
        eps: relative size of one rounding.
    """
    closed = jax.make_jaxpr(lambda *x: f(list(x)))(*leaves)

    def call(key: Any, *x: Any) -> Any:
        return _run(closed.jaxpr, closed.consts, list(x), key, eps)

    program = jax.jit(call)
    plain = [np.asarray(y, np.float64) for y in jax.jit(lambda *x: f(list(x)))(*leaves)]
    found = [0.0] * len(plain)
    for seed in range(SAMPLES):
        values = program(jax.random.key(seed), *leaves)
        found = [
            max(w, float(np.abs(np.asarray(v, np.float64) - p))) for w, v, p in zip(found, values, plain, strict=True)
        ]
    return found


def _run(jaxpr: Any, consts: Sequence[Any], values: list[Any], key: Any, eps: float) -> list[Any]:
    known: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    known.update(zip(jaxpr.invars, values, strict=True))

    def read(var: Any) -> Any:
        return var.val if isinstance(var, Literal) else known[var]

    for number, eqn in enumerate(jaxpr.eqns):
        inputs = [read(var) for var in eqn.invars]
        here = jax.random.fold_in(key, number)
        if eqn.primitive.name in _TRANSPARENT:
            inner = inner_program(eqn)
            outputs = _run(inner.jaxpr, inner.consts, inputs, here, eps)
        else:
            outputs = [_rounded(y, jax.random.fold_in(here, i), eps) for i, y in enumerate(evaluate(eqn, inputs))]
        known.update(zip(eqn.outvars, outputs, strict=True))
    return [read(var) for var in jaxpr.outvars]


def _rounded(y: Any, key: Any, eps: float) -> Any:
    if not jnp.issubdtype(y.dtype, jnp.floating):
        return y
    return (y * (1 + eps * jax.random.uniform(key, y.shape, y.dtype, -1, 1))).astype(y.dtype)
