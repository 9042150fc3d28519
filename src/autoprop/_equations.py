"""What one equation of a traced program computes, and how much: whether two of them may be told to do the same."""

from __future__ import annotations

import math
from typing import Any

from jax.extend import core as jex

from ._jaxprs import inner_program, scan_parts, subprograms

__all__ = ["called_program", "elements", "is_commutative", "is_identity", "is_repeatable", "operation"]

_CALLS = frozenset(
    {"jit", "pjit", "closed_call", "core_call", "checkpoint", "remat2", "custom_jvp_call", "custom_vjp_call"}
)
_IDENTITIES = frozenset({"copy", "copy_p", "optimization_barrier", "stop_gradient"})
_COMMUTATIVE = frozenset({"add", "add_any", "and", "eq", "max", "min", "mul", "ne", "or", "xor"})


def called_program(value: Any) -> Any:
    """
    Return the closed jaxpr of a parameter, or the one whose value an equation is: a call of jit, remat or a custom
    rule. None for any other equation.
    """
    if isinstance(value, jex.ClosedJaxpr):
        return value
    if isinstance(value, jex.Jaxpr):  # another class in JAX 0.10 only
        return jex.ClosedJaxpr(value, [])
    return inner_program(value) if value.primitive.name in _CALLS else None


def is_repeatable(eqn: Any) -> bool:
    """
    Say whether an equation gives the same numbers for the same operands: it has no effects, keeps no state and does not
    call back into Python.
    """
    return not eqn.effects and "callback" not in eqn.primitive.name and eqn.primitive.name != "rng_uniform"


def is_identity(eqn: Any) -> bool:
    """
    Say whether an equation's outputs are its operands.
    """
    return eqn.primitive.name in _IDENTITIES


def is_commutative(eqn: Any) -> bool:
    """
    Say whether the order of an equation's two operands is no matter to its value.
    """
    return eqn.primitive.name in _COMMUTATIVE


def operation(eqn: Any) -> Any:
    """
    Return what an equation computes: its primitive, or one name for two primitives that do the same.
    """
    return "add" if eqn.primitive.name in ("add", "add_any") else eqn.primitive


def elements(program: Any) -> int:
    """
    Return how many numbers a jaxpr computes in all; of a loop's body as often as it is known to run.
    """
    total = 0
    for eqn in getattr(program, "jaxpr", program).eqns:
        times = scan_parts(eqn)[3] if eqn.primitive.name == "scan" else 1
        total += times * max((elements(inner) for inner in subprograms(eqn)), default=0)
        total += sum(math.prod(getattr(var.aval, "shape", ())) for var in eqn.outvars)
    return total
