"""The custom rules that a program calls, with the inputs that they meet, beside the derivatives of their bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import jax
import jax.numpy as jnp
from jax.extend import core as jex

from .._jaxprs import Literal, equations, evaluate, inner_program, rule_constants, scan_parts, while_parts
from .._point import direction

__all__ = ["Call", "as_function", "body_instead", "calls", "holds_rules", "moved_inputs", "routes"]

Values = list[Any]
Pair = tuple[Any, Any]


@attrs.frozen(eq=False)
class Call:
    """
    A custom rule where a program calls it.

    Attributes:
        eqn: the equation.
        inputs: its inputs there; in a loop, those of the first iteration.
        reached: whether control flow comes there.
    """

    eqn: Any
    inputs: Values
    reached: Any


def holds_rules(program: Any) -> bool:
    """
    Say whether a jaxpr calls a custom rule, at any depth.
    """
    return any(rule_constants(eqn) is not None for eqn in equations(program))


def calls(closed: Any, values: Sequence[Any]) -> list[Call]:
    """
    Return the custom rules that a traced program calls, those inside of other rules, loops and branches too.
    """
    found: list[Call] = []
    _run(closed.jaxpr, closed.consts, list(values), True, found)
    return found


def _inside(eqn: Any) -> bool:
    return any(holds_rules(inner) for inner in _programs(eqn))


def _programs(eqn: Any) -> list[Any]:
    name = eqn.primitive.name
    if name == "cond":
        return list(eqn.params["branches"])
    if name == "scan":
        return [scan_parts(eqn)[0]]
    if name == "while":
        return [while_parts(eqn)[1]]
    try:
        return [inner_program(eqn)]
    except NotImplementedError:  # several programs that are called nobody knows how: not looked into
        return []


def _run(jaxpr: Any, consts: Sequence[Any], values: Values, reached: Any, found: list[Call]) -> None:
    known: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    known.update(zip(jaxpr.invars, values, strict=True))
    for eqn in jaxpr.eqns:
        inputs = [var.val if isinstance(var, Literal) else known[var] for var in eqn.invars]
        if rule_constants(eqn) is not None:
            found.append(Call(eqn, inputs, reached))
        if _inside(eqn):
            _enter(eqn, inputs, reached, found)
        known.update(zip(eqn.outvars, evaluate(eqn, inputs), strict=True))


def _enter(eqn: Any, inputs: Values, reached: Any, found: list[Call]) -> None:
    name, programs = eqn.primitive.name, _programs(eqn)
    if name == "cond":
        for i, branch in enumerate(programs):
            at = jnp.clip(inputs[0], 0, len(programs) - 1) == i
            _run(branch.jaxpr, branch.consts, inputs[1:], reached & at, found)
        return
    (body,) = programs
    if name == "scan":
        _, n_consts, n_carry, length, reverse = scan_parts(eqn)
        if not length:
            return
        first = [x[-1 if reverse else 0] for x in inputs[n_consts + n_carry :]]
        inputs = [*inputs[: n_consts + n_carry], *first]
    elif name == "while":
        cond, _, n_cond, n_body = while_parts(eqn)
        start = inputs[n_cond + n_body :]
        proceeds = jex.jaxpr_as_fun(cond)(*inputs[:n_cond], *start)[0]
        reached, inputs = reached & proceeds, [*inputs[n_cond : n_cond + n_body], *start]
    _run(body.jaxpr, body.consts, inputs, reached, found)


def as_function(eqn: Any) -> Callable[..., Values]:
    """
    Return an equation as a function of all its inputs, each of its own even where one value is given twice.
    """
    inputs = [jex.Var(var.aval) for var in eqn.invars]
    outputs = [jex.Var(var.aval) for var in eqn.outvars]
    jaxpr = jex.Jaxpr(
        constvars=[],
        invars=inputs,
        outvars=outputs,
        eqns=[eqn.replace(invars=inputs, outvars=outputs)],
        effects=eqn.effects,
        debug_info=jex.DebugInfo("rule", eqn.primitive.name, None, None),
    )
    function: Callable[..., Values] = jex.jaxpr_as_fun(jex.ClosedJaxpr(jaxpr, []))
    return function


def moved_inputs(eqn: Any) -> list[int]:
    """
    Return which inputs of a custom rule are differentiated: the inexact ones that it does not take for constants.
    """
    first = rule_constants(eqn) or 0
    return [i for i, v in enumerate(eqn.invars) if i >= first and jnp.issubdtype(v.aval.dtype, jnp.inexact)]


def routes(call: Call) -> tuple[list[Pair], list[Pair] | None]:
    """
    Return pairs of what the rule gives and what its body gives: values, and derivatives in the rule's own mode; None
    for the derivatives of a body that has none.
    """
    chosen = moved_inputs(call.eqn)
    body = jex.jaxpr_as_fun(inner_program(call.eqn))
    moved = [jnp.asarray(call.inputs[i]) for i in chosen]
    v = [_tangent(x, i) for i, x in enumerate(moved)]

    def of(function: Callable[..., Values]) -> Callable[[Values], Values]:
        def g(leaves: Values) -> Values:
            inputs = list(call.inputs)
            for i, leaf in zip(chosen, leaves, strict=True):
                inputs[i] = leaf
            return [y for y in function(*inputs) if jnp.issubdtype(y.dtype, jnp.inexact)]

        return g

    rule, plain = of(as_function(call.eqn)), of(body)
    if call.eqn.primitive.name == "custom_jvp_call":
        value, found = jax.jvp(rule, (moved,), (v,))
        own = _or_none(lambda: jax.jvp(plain, (moved,), (v,))[1])
    else:
        value, pull = jax.vjp(rule, moved)
        u = [_cotangent(y, i) for i, y in enumerate(value)]
        found = pull(u)[0]
        own = _or_none(lambda: jax.vjp(plain, moved)[1](u)[0])
    values = list(zip(value, plain(moved), strict=True))
    return values, None if own is None else list(zip(found, own, strict=True))


def _or_none(derivative: Callable[[], Values]) -> Values | None:
    try:
        return derivative()
    except Exception:  # noqa: BLE001  a body without a derivative is what many rules are for
        return None


def _random(name: str, x: Any) -> Any:
    r: Any = direction(0, name, jnp.shape(x))
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        r = r + 1j * direction(0, f"{name} imaginary", jnp.shape(x))
    return jnp.asarray(r, x.dtype)


def _tangent(x: Any, i: int) -> Any:
    r, size = _random(f"tangent:{i}", x), jnp.abs(x)
    v = jnp.where(size > 0, r * size.astype(x.dtype), r)
    return jnp.where(jnp.isfinite(size), v, jnp.zeros_like(v))


def _cotangent(y: Any, i: int) -> Any:
    return _random(f"cotangent:{i}", y)


def body_instead(closed: Any, eqn: Any, values: Sequence[Any]) -> Values:
    """
    Run a program with one custom rule taken off: its body is differentiated instead. A rule inside of a loop, a branch
    or another rule stays on.
    """
    return _without(closed.jaxpr, closed.consts, list(values), eqn)


def _without(jaxpr: Any, consts: Sequence[Any], values: Values, off: Any) -> Values:
    known: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    known.update(zip(jaxpr.invars, values, strict=True))
    for eqn in jaxpr.eqns:
        inputs = [var.val if isinstance(var, Literal) else known[var] for var in eqn.invars]
        if eqn is off or (
            eqn.primitive.name not in ("scan", "while", "cond") and rule_constants(eqn) is None and _inside(eqn)
        ):
            inner = inner_program(eqn)
            outputs = _without(inner.jaxpr, inner.consts, inputs, off)
        else:
            outputs = evaluate(eqn, inputs)
        known.update(zip(eqn.outvars, outputs, strict=True))
    return [var.val if isinstance(var, Literal) else known[var] for var in jaxpr.outvars]
