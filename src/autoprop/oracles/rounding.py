"""How far a function's value may be off by rounding: its spread when every operation rounds at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._compile import FAST_COMPILE
from .._dtypes import finfo
from .._jaxprs import TRANSPARENT, Literal, equations, evaluate, inner_program, subprograms

__all__ = ["decisions", "narrowed", "perturbed", "roundings", "same_but_for_rounding", "spread"]

SAMPLES = 6
COARSE = 1024.0  # rounding grows with eps and a jump does not, so it is measured at a coarser eps too
EXPONENT = 8  # bits of a float32's exponent, in whose range bfloat16 is computed: there subnormal numbers become 0
_COMPARISONS = frozenset({"eq", "ge", "gt", "le", "lt", "ne"})
# What moves, selects or compares elements is exact: noise on it would break the ties that a derivative tests for.
_EXACT = frozenset(
    {"abs", "broadcast_in_dim", "ceil", "clamp", "concatenate", "copy", "cummax", "cummin", "dynamic_slice"}
    | {"dynamic_update_slice", "expand_dims", "floor", "gather", "max", "min", "neg", "pad", "reduce_max", "reduce_min"}
    | {"reshape", "rev", "round", "scatter", "select_n", "sign", "slice", "sort", "squeeze", "stack"}
    | {"stop_gradient", "top_k", "transpose", "unstack"}
)


def perturbed(
    f: Callable[[list[Any]], list[Any]], leaves: Sequence[Any], dtype: Any = None
) -> Callable[..., list[Any]]:
    """
    Return a compiled ``(seed, eps, *leaves) -> results`` in which operations round at random.

    The result of every operation that rounds is multiplied by 1 + eps·ξ with ξ in [−1, 1]: stochastic arithmetic,
    which sees the cancellation of large intermediate values that a bound from inputs and outputs alone does not.

    Source: Vignes, "A stochastic arithmetic for reliable scientific computation" (1993).

    Args:
        f: a function of a list of arrays that returns a list of them.
        leaves: arrays of the shapes and dtypes that it takes.
        dtype: a narrow dtype, to whose numbers every result, constant and argument is rounded too, and in whose range
            it must lie.

    Raises:
        NotImplementedError: a program with a loop or a branch is to be rounded to a dtype.
    """
    closed = jax.make_jaxpr(lambda *x: f(list(x)))(*leaves)
    to = None if dtype is None else finfo(dtype)

    def call(seed: Any, unit: Any, *x: Any) -> Any:
        if to is not None:
            x = tuple(_rounded(_held(leaf, to), 0.1 * i + seed, unit, to) for i, leaf in enumerate(x))
        return _run(closed.jaxpr, closed.consts, list(x), seed, unit, to)

    return jax.jit(call, compiler_options=FAST_COMPILE)


def decisions(f: Callable[[list[Any]], list[Any]], leaves: Sequence[Any], dtype: Any) -> Callable[..., Any]:
    """
    Return a compiled ``(seed, eps, *leaves) -> bool``: whether a comparison of finite numbers comes out otherwise where
    the operations of a function round at random, to the numbers of a narrow dtype.

    Args:
        f: a function of a list of arrays that returns a list of them.
        leaves: arrays of the shapes and dtypes that it takes.
        dtype: the narrow dtype.

    Raises:
        NotImplementedError: a program with a loop or a branch is to be rounded.
    """
    closed = jax.make_jaxpr(lambda *x: f(list(x)))(*leaves)
    to = finfo(dtype)

    def call(seed: Any, unit: Any, *x: Any) -> Any:
        plain: list[Any] = []
        rounded: list[Any] = []
        held = [_rounded(_held(leaf, to), 0.1 * i + seed, unit, to) for i, leaf in enumerate(x)]
        _run(closed.jaxpr, closed.consts, list(x), 0.0, 0.0, None, plain)
        _run(closed.jaxpr, closed.consts, held, seed, unit, to, rounded)
        pairs = zip(plain, rounded, strict=True)
        return jnp.any(jnp.asarray([jnp.any((a != b) & a_known & b_known) for (a, a_known), (b, b_known) in pairs]))

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


def narrowed(program: Callable[..., list[Any]], leaves: Sequence[Any], eps: float) -> list[list[Any]]:
    """
    Return the results of a program that was `perturbed` in a narrow dtype: rounded to nearest, and then at random.
    """
    return [[np.asarray(y) for y in program(seed, unit, *leaves)] for seed, unit in roundings(eps)]


def roundings(eps: float) -> list[tuple[float, float]]:
    """
    Return the seeds and units of a program that rounds to a narrow dtype: once to nearest, and some times at random.
    """
    return [(0.0, 0.0), *((float(seed), eps) for seed in range(2 * SAMPLES))]


def same_but_for_rounding(narrow: Any, wide: Any, eps: float) -> bool:
    """
    Say whether two closed jaxprs, of a function in a narrow dtype and in a wide one, do the same operations with the
    same constants up to rounding: a function that asks for the dtype, or for its limits, may be another one there.

    Args:
        narrow: the program in the narrow dtype.
        wide: the program in the wide dtype.
        eps: machine epsilon of the narrow dtype.
    """
    names, others = ([eqn.primitive.name for eqn in _operations(closed)] for closed in (narrow, wide))
    constants, known = (_constants(closed) for closed in (narrow, wide))
    return (
        names == others
        and [np.shape(x) for x in constants] == [np.shape(x) for x in known]
        and all(np.allclose(x, y, rtol=2 * eps, atol=0, equal_nan=True) for x, y in zip(constants, known, strict=True))
    )


def _operations(closed: Any) -> list[Any]:
    return [eqn for eqn in equations(closed) if eqn.primitive.name != "convert_element_type"]


def _constants(closed: Any) -> list[Any]:
    literals = [var.val for eqn in _operations(closed) for var in eqn.invars if isinstance(var, Literal)]
    found = (x for x in [*closed.consts, *literals] if jnp.issubdtype(jnp.result_type(x), jnp.number))
    return [np.asarray(x, np.complex128) for x in found]


def _run(
    jaxpr: Any, consts: Sequence[Any], values: list[Any], seed: Any, unit: Any, to: Any, decided: Any = None
) -> list[Any]:
    known: dict[Any, Any] = {v: _held(c, to) for v, c in zip(jaxpr.constvars, consts, strict=True)}
    known.update(zip(jaxpr.invars, values, strict=True))

    def read(var: Any) -> Any:
        return _held(var.val, to) if isinstance(var, Literal) else known[var]

    for number, eqn in enumerate(jaxpr.eqns):
        inputs = [read(var) for var in eqn.invars]
        here = 1.7 * seed + number + 1.0
        if eqn.primitive.name in TRANSPARENT:
            inner = inner_program(eqn)
            outputs = _run(inner.jaxpr, inner.consts, inputs, 0.37 * here, unit, to, decided)
        elif to is not None and not _is_one_operation(eqn):
            raise NotImplementedError(f"the operations inside of {eqn.primitive.name} are not rounded one by one")
        elif _is_exact(eqn):
            outputs = [_held(y, to) for y in evaluate(eqn, inputs)]
        else:
            outputs = [_rounded(y, here + 0.1 * i, unit, to) for i, y in enumerate(evaluate(eqn, inputs))]
        if decided is not None and eqn.primitive.name in _COMPARISONS:
            decided.append((outputs[0], jnp.isfinite(inputs[0]) & jnp.isfinite(inputs[1])))
        known.update(zip(eqn.outvars, outputs, strict=True))
    return [read(var) for var in jaxpr.outvars]


def _is_one_operation(eqn: Any) -> bool:
    # a scatter holds the program of its sum, which is one operation for each element
    return eqn.primitive.name.startswith("scatter") or next(subprograms(eqn), None) is None


def _is_exact(eqn: Any) -> bool:
    if eqn.primitive.name == "convert_element_type":
        kept = jnp.promote_types(eqn.invars[0].aval.dtype, eqn.outvars[0].aval.dtype)
        return bool(kept == eqn.outvars[0].aval.dtype)
    if eqn.primitive.name == "mul":
        return any(isinstance(var, Literal) and _is_power_of_two(var.val) for var in eqn.invars)
    return eqn.primitive.name in _EXACT


def _is_power_of_two(value: Any) -> bool:
    return bool(np.ndim(value) == 0 and np.frexp(float(np.abs(np.asarray(value))))[0] == 0.5)


def _held(y: Any, to: Any, shift: Any = 0.0) -> Any:
    """
    The value as a narrow dtype holds it; unchanged where there is none. Below its smallest normal number a dtype of
    few exponents has steps of one size, of which a shift is counted in; others are flushed to 0 there.
    """
    if to is None or not jnp.issubdtype(jnp.result_type(y), jnp.floating):
        return y
    kept = jax.lax.reduce_precision(y, exponent_bits=to.nexp, mantissa_bits=to.nmant)
    if to.nexp >= EXPONENT:
        return kept
    step = float(to.smallest_subnormal)
    return jnp.where((jnp.abs(y) < float(to.tiny)) & (y != 0), step * jnp.round(y / step + shift), kept)


def _rounded(y: Any, seed: Any, unit: Any, to: Any = None) -> Any:
    """
    The value with each element rounded at random: the fractional part of a large sine is random enough for ξ, and
    cheap to compile.
    """
    if not jnp.issubdtype(y.dtype, jnp.floating):
        return y
    element = jnp.arange(y.size, dtype=jnp.float64).reshape(y.shape)
    noise = 2 * jnp.mod(43758.5453 * jnp.sin(12.9898 * seed + 78.233 * element), 1.0) - 1
    shift = 0.0 if to is None else noise * unit / float(to.eps)
    return _held((y * (1 + unit * noise)).astype(y.dtype), to, shift)
