"""What JAX's traced programs say of a function; the only module that knows primitives and their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend import core as jex

from ._dtypes import finfo

__all__ = [
    "TRANSPARENT",
    "Literal",
    "draws_random_numbers",
    "equations",
    "evaluate",
    "handles_non_finite",
    "has_primitive",
    "has_rule_over_loop",
    "has_stop_gradient",
    "indexes_arrays",
    "inner_program",
    "is_program",
    "lacks_forward_mode",
    "narrowest_eps",
    "refusal",
    "rule_constants",
    "scan_parts",
    "subprograms",
    "while_parts",
]

Literal = jex.Literal

# Equations that only call the program that they hold.
TRANSPARENT = frozenset(
    {"jit", "pjit", "closed_call", "core_call", "remat2", "checkpoint", "custom_jvp_call", "custom_vjp_call"}
)

# Messages by which JAX says that it has no derivative of this kind, by design. Anything else that is raised is a fault.
_REFUSALS = (
    "can't apply forward-mode autodiff (jvp) to a custom_vjp function",
    "Reverse-mode differentiation does not work for lax.while_loop",
    "Differentiation rule for",
    "Transpose rule (for reverse-mode differentiation)",
    "Linearization failed to produce known values for all output primals",
    "Batching rule for",
    "Pure callbacks do not support",
    "IO callbacks do not support",
)


def refusal(error: BaseException) -> str | None:
    """
    Return why JAX has no derivative of this kind by design, or None if the error is no such refusal.
    """
    if isinstance(error, (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError)):
        return "control flow depends on values, so the function cannot be traced"
    text = str(error)
    return next((text.splitlines()[0][:160] for start in _REFUSALS if start in text), None)


def is_program(value: Any) -> bool:
    """
    Say whether a parameter of an equation is a jaxpr, closed or open.
    """
    return isinstance(value, (jex.Jaxpr, jex.ClosedJaxpr))


def subprograms(eqn: Any) -> Iterator[Any]:
    """
    Yield the jaxprs (closed or open) among an equation's parameters.
    """
    for value in eqn.params.values():
        for leaf in value if isinstance(value, (tuple, list)) else (value,):
            if is_program(leaf):
                yield leaf


def equations(jaxpr: Any) -> Iterator[Any]:
    """
    Yield every equation of a jaxpr, those of inner jaxprs too.
    """
    for eqn in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        yield eqn
        for inner in subprograms(eqn):
            yield from equations(inner)


def has_stop_gradient(program: Any) -> bool:
    """
    Say whether a jaxpr, or an equation by its inner jaxprs, stops a gradient anywhere.
    """
    return has_primitive(program, "stop_gradient", itself=False)


def has_primitive(program: Any, name: str, *, itself: bool = True) -> bool:
    """
    Say whether a jaxpr holds an equation of a primitive, at any depth; for an equation, whether it is one or (with
    ``itself`` False, only) holds one in its inner jaxprs.
    """
    if not hasattr(program, "primitive"):
        return any(eqn.primitive.name == name for eqn in equations(program))
    if itself and program.primitive.name == name:
        return True
    return any(eqn.primitive.name == name for inner in subprograms(program) for eqn in equations(inner))


def evaluate(eqn: Any, values: Sequence[Any]) -> list[Any]:
    """
    Run one equation on values for its inputs, custom rules included; returns the list of its outputs.
    """
    known = [(var, value) for var, value in zip(eqn.invars, values, strict=True) if not isinstance(var, Literal)]
    inputs = {id(var): (var, value) for var, value in known}
    outputs = [jex.Var(var.aval) if isinstance(var, jex.DropVar) else var for var in eqn.outvars]
    jaxpr = jex.Jaxpr(
        constvars=[],
        invars=[var for var, _ in inputs.values()],
        outvars=outputs,
        eqns=[eqn.replace(outvars=outputs)],
        effects=eqn.effects,
        debug_info=jex.DebugInfo("evaluate", eqn.primitive.name, None, None),
    )
    found: list[Any] = jex.jaxpr_as_fun(jex.ClosedJaxpr(jaxpr, []))(*[value for _, value in inputs.values()])
    return list(found)


def inner_program(eqn: Any) -> Any:
    """
    Return the closed jaxpr that an equation calls once on its inputs: jit, checkpoint, custom rules and their kin.
    """
    for key in ("jaxpr", "call_jaxpr", "fun_jaxpr"):
        if key in eqn.params:
            inner = eqn.params[key]
            return inner if isinstance(inner, jex.ClosedJaxpr) else jex.ClosedJaxpr(inner, [])
    raise NotImplementedError(f"the primitive {eqn.primitive.name} is not known to call one program on its inputs")


def scan_parts(eqn: Any) -> tuple[Any, int, int, int, bool]:
    """
    Return a scan's body, its number of constants and of carried values, its length and whether it runs backwards.
    """
    p = eqn.params
    if "ft_in" in p:  # JAX 0.11 and later; 0.10 has the two counts
        consts, carry = (len(part) for part in p["ft_in"].unpack()[:2])
    else:
        consts, carry = p["num_consts"], p["num_carry"]
    return p["jaxpr"], consts, carry, p["length"], p["reverse"]


def while_parts(eqn: Any) -> tuple[Any, Any, int, int]:
    """
    Return a while loop's condition and body, and the number of constants of each.
    """
    p = eqn.params
    return p["cond_jaxpr"], p["body_jaxpr"], p["cond_nconsts"], p["body_nconsts"]


def lacks_forward_mode(jaxpr: Any) -> bool:
    """
    Say whether a traced tangent asks a custom_vjp function for forward mode, which JAX refuses when it compiles.
    """
    return any(eqn.primitive.name == "custom_lin" for eqn in equations(jaxpr))


_RANDOM = ("random_bits", "random_gamma", "rng_bit_generator", "rng_uniform", "threefry2x32")


def indexes_arrays(jaxpr: Any) -> bool:
    """
    Say whether a jaxpr reads or writes elements of arrays at positions that are computed.
    """
    names = ("gather", "dynamic_slice", "dynamic_update_slice")
    return any(eqn.primitive.name in names or eqn.primitive.name.startswith("scatter") for eqn in equations(jaxpr))


def draws_random_numbers(jaxpr: Any) -> bool:
    """
    Say whether a jaxpr draws random numbers.
    """
    return any(eqn.primitive.name in _RANDOM for eqn in equations(jaxpr))


def _needed(jaxpr: Any, outputs: Sequence[bool] | None = None) -> Iterator[Any]:
    """
    Yield the equations, those of inner jaxprs too, that the outputs depend on, or those outputs that are named.
    """
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    wanted = {id(var) for i, var in enumerate(inner.outvars) if outputs is None or outputs[i]}
    for eqn in reversed(inner.eqns):
        used = [id(var) in wanted for var in eqn.outvars]
        if not any(used) and eqn.outvars:
            continue
        yield eqn
        wanted.update(map(id, eqn.invars))
        for body in subprograms(eqn):
            whole = eqn.primitive.name not in ("jit", "pjit") or len(getattr(body, "jaxpr", body).outvars) != len(used)
            yield from _needed(body, None if whole else used)


def narrowest_eps(jaxpr: Any) -> float:
    """
    Return the machine epsilon of the narrowest floating dtype that a jaxpr computes its outputs in (2.2e-16 at least).
    """
    eps = float(finfo(jnp.float64).eps)
    for eqn in _needed(jaxpr):
        for var in eqn.outvars:
            dtype = getattr(var.aval, "dtype", None)
            if dtype is not None and jnp.issubdtype(dtype, jnp.inexact):
                eps = max(eps, float(finfo(dtype).eps))
    return eps


# An entry of an input is still itself after these, so a test for NaN or infinity behind them is a test of the input.
_ENTRYWISE = frozenset(
    {"abs", "add", "broadcast_in_dim", "convert_element_type", "copy", "copy_p", "div", "exp", "expand_dims"}
    | {"integer_pow", "log", "max", "min", "mul", "neg", "pow", "reduce_max", "reduce_min", "reshape", "rev"}
    | {"select_n", "slice", "square", "squeeze", "stop_gradient", "sub", "transpose"}
)


def handles_non_finite(jaxpr: Any) -> list[bool]:
    """
    Say for each input of a jaxpr whether the program looks for NaN or infinity in it on purpose.

    That is ``is_finite``, ``x != x`` or a comparison with infinity, on the input itself or an entrywise function of it.
    Only such inputs are given NaN and infinite entries: elsewhere ``0 * inf`` in a derivative is nobody's fault.
    """
    inner = getattr(jaxpr, "jaxpr", jaxpr)
    tested: set[int] = set()
    _follow(inner, [frozenset({i}) for i in range(len(inner.invars))], tested)
    return [i in tested for i in range(len(inner.invars))]


def _follow(jaxpr: Any, sources: list[frozenset[int]], tested: set[int]) -> list[frozenset[int]]:
    none: frozenset[int] = frozenset()
    known = dict(zip(jaxpr.invars, sources, strict=True))

    def read(var: Any) -> frozenset[int]:
        return none if isinstance(var, jex.Literal) else known.get(var, none)

    for eqn in jaxpr.eqns:
        inputs = [read(var) for var in eqn.invars]
        name = eqn.primitive.name
        bodies = [getattr(p, "jaxpr", p) for p in subprograms(eqn)]
        outputs = [none] * len(eqn.outvars)
        if name == "is_finite" or (name in ("ne", "eq") and _is_non_finite_test(eqn)):
            tested.update(*inputs)
        elif bodies and len(bodies[0].invars) == len(eqn.invars) and len(bodies[0].outvars) == len(eqn.outvars):
            outputs = _follow(bodies[0], inputs, tested)
        elif name in _ENTRYWISE:
            distinct = {source for source in inputs if source}
            outputs = [next(iter(distinct)) if len(distinct) == 1 else none] * len(eqn.outvars)
        known.update(zip(eqn.outvars, outputs, strict=True))
    return [read(var) for var in jaxpr.outvars]


def _is_non_finite_test(eqn: Any) -> bool:
    left, right = eqn.invars
    if left is right and not isinstance(left, jex.Literal):
        return True
    values = [side.val for side in (left, right) if isinstance(side, jex.Literal)]
    return any(jnp.issubdtype(jnp.result_type(v), jnp.floating) and bool(jnp.any(jnp.isinf(v))) for v in values)


def has_rule_over_loop(jaxpr: Any) -> bool:
    """
    Say whether a custom rule stands for a function that iterates, as that of an implicit function does. A scan through
    numbers is a recurrence, which has no limit that a rule could differentiate instead.
    """
    return any(
        rule_constants(eqn) is not None
        and any(_iterates(inner) for program in subprograms(eqn) for inner in equations(program))
        for eqn in equations(jaxpr)
    )


def _iterates(eqn: Any) -> bool:
    if eqn.primitive.name != "scan":
        return bool(eqn.primitive.name == "while")
    _, consts, carry, _, _ = scan_parts(eqn)
    return not any(jnp.issubdtype(var.aval.dtype, jnp.inexact) for var in eqn.invars[consts + carry :])


def rule_constants(eqn: Any) -> int | None:
    """
    Return how many of an equation's first inputs a custom rule takes for constants; None if it calls no custom rule.
    """
    return (
        int(eqn.params.get("num_consts", 0)) if eqn.primitive.name in ("custom_jvp_call", "custom_vjp_call") else None
    )
