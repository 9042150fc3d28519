"""How far a function's value may be off by rounding: its spread when every operation rounds at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._compile import FAST_COMPILE
from .._jaxprs import Literal, evaluate, inner_program

__all__ = ["perturbed", "spread"]

SAMPLES = 6
COARSE = 1024.0  # rounding grows with eps and a jump does not, so it is measured at a coarser eps too
_TRANSPARENT = frozenset({"jit", "pjit", "closed_call", "core_call", "remat2", "checkpoint", "custom_jvp_call"})
# What moves, selects or compares elements is exact: noise on it would break the ties that a derivative tests for.
_EXACT = frozenset(
    {"abs", "broadcast_in_dim", "ceil", "clamp", "concatenate", "copy", "cummax", "cummin", "dynamic_slice"}
    | {"dynamic_update_slice", "expand_dims", "floor", "gather", "max", "min", "neg", "pad", "reduce_max", "reduce_min"}
    | {"reshape", "rev", "round", "scatter", "select_n", "sign", "slice", "sort", "squeeze", "stack"}
    | {"stop_gradient", "top_k", "transpose", "unstack"}
)


def perturbed(f: Callable[[list[Any]], list[Any]], leaves: Sequence[Any]) -> Callable[..., list[Any]]:
    """
    Return a compiled ``(seed, eps, *leaves) -> scalars`` in which operations round at random.

    The result of every operation that rounds is multiplied by 1 + eps·ξ with ξ in [−1, 1]: stochastic arithmetic,
    which sees the cancellation of large intermediate values that a bound from inputs and outputs alone does not.

    Source: Vignes, "A stochastic arithmetic for reliable scientific computation" (1993).

    Args:
        f: a function of a list of arrays that returns a list of scalars.
        leaves: arrays of the shapes and dtypes that it takes.
    """
    closed = jax.make_jaxpr(lambda *x: f(list(x)))(*leaves)

    def call(seed: Any, unit: Any, *x: Any) -> Any:
        return _run(closed.jaxpr, closed.consts, list(x), seed, unit)

    return jax.jit(call, compiler_options=FAST_COMPILE)


def spread(program: Callable[..., list[Any]], leaves: Sequence[Any], eps: float) -> list[float]:
    """
    Return, for each scalar of a `perturbed` program, the largest distance between random roundings and the plain value.

    Random rounding can break a tie or a test for an exact number, and the scalar then jumps. That is no rounding error:
    the distance is measured at a coarser eps too and scaled back, and the smaller of the two counts.
    """
    plain = [np.asarray(y, np.float64) for y in program(0.0, 0.0, *leaves)]

    def distances(unit: float) -> list[float]:
        found = [0.0] * len(plain)
        for seed in range(SAMPLES):
            values = [np.asarray(v, np.float64) for v in program(float(seed), unit, *leaves)]
            found = [max(w, float(np.abs(v - p))) for w, v, p in zip(found, values, plain, strict=True)]
        return found

    fine, coarse = distances(eps), distances(COARSE * eps)
    return [min(f, c / COARSE) if np.isfinite(c) else f for f, c in zip(fine, coarse, strict=True)]


def _run(jaxpr: Any, consts: Sequence[Any], values: list[Any], seed: Any, unit: Any) -> list[Any]:
    known: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    known.update(zip(jaxpr.invars, values, strict=True))

    def read(var: Any) -> Any:
        return var.val if isinstance(var, Literal) else known[var]

    for number, eqn in enumerate(jaxpr.eqns):
        inputs = [read(var) for var in eqn.invars]
        here = 1.7 * seed + number + 1.0
        if eqn.primitive.name in _TRANSPARENT:
            inner = inner_program(eqn)
            outputs = _run(inner.jaxpr, inner.consts, inputs, 0.37 * here, unit)
        elif _is_exact(eqn):
            outputs = list(evaluate(eqn, inputs))
        else:
            outputs = [_rounded(y, here + 0.1 * i, unit) for i, y in enumerate(evaluate(eqn, inputs))]
        known.update(zip(eqn.outvars, outputs, strict=True))
    return [read(var) for var in jaxpr.outvars]


def _is_exact(eqn: Any) -> bool:
    if eqn.primitive.name == "convert_element_type":
        kept = jnp.promote_types(eqn.invars[0].aval.dtype, eqn.outvars[0].aval.dtype)
        return bool(kept == eqn.outvars[0].aval.dtype)
    if eqn.primitive.name == "mul":
        return any(isinstance(var, Literal) and _is_power_of_two(var.val) for var in eqn.invars)
    return eqn.primitive.name in _EXACT


def _is_power_of_two(value: Any) -> bool:
    return bool(np.ndim(value) == 0 and np.frexp(float(np.abs(np.asarray(value))))[0] == 0.5)


def _rounded(y: Any, seed: Any, unit: Any) -> Any:
    """
    The value with each element rounded at random: the fractional part of a large sine is random enough for ξ, and
    cheap to compile.
    """
    if not jnp.issubdtype(y.dtype, jnp.floating):
        return y
    element = jnp.arange(y.size, dtype=jnp.float64).reshape(y.shape)
    noise = 2 * jnp.mod(43758.5453 * jnp.sin(12.9898 * seed + 78.233 * element), 1.0) - 1
    return (y * (1 + unit * noise)).astype(y.dtype)
