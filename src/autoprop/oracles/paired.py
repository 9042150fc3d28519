"""The function with every stopped value held where it was at a base point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from .._jaxprs import Literal, evaluate, has_stop_gradient, inner_program, scan_parts, while_parts

__all__ = ["paired"]

Values = list[Any]
Pairs = tuple[Values, Values]


def paired(f: Callable[[Values], Values], base: Sequence[Any]) -> Callable[[Values], Values]:
    """
    Return ``moved -> f(moved)`` in which the output of every `jax.lax.stop_gradient` is its value at ``base``.

    Differences of that function are the numeric derivative with stopped values held fixed: what a function with
    straight-through estimators, target networks or semi-gradients declares. The traced program is run on pairs
    (base, moved); at a stop the moved value is replaced by the base one. Programs without stops inside, custom rules
    among them, run as they are. Where control flow parts between the two, the moved value is NaN: a kink.

    Args:
        f: a function of a list of arrays that returns a list of arrays.
        base: the list of arrays at which stopped values are taken.
    """
    closed = jax.make_jaxpr(lambda *leaves: f(list(leaves)))(*base)
    if not has_stop_gradient(closed):
        return f

    def call(moved: Values) -> Values:
        return _run(closed.jaxpr, closed.consts, list(base), list(moved))[1]

    return call


def _run(jaxpr: Any, consts: Sequence[Any], base: Values, moved: Values) -> Pairs:
    at_base: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    at_moved = dict(at_base)
    at_base.update(zip(jaxpr.invars, base, strict=True))
    at_moved.update(zip(jaxpr.invars, moved, strict=True))

    def read(known: dict[Any, Any], var: Any) -> Any:
        return var.val if isinstance(var, Literal) else known[var]

    for eqn in jaxpr.eqns:
        b, m = [read(at_base, v) for v in eqn.invars], [read(at_moved, v) for v in eqn.invars]
        out_b, out_m = _equation(eqn, b, m)
        at_base.update(zip(eqn.outvars, out_b, strict=True))
        at_moved.update(zip(eqn.outvars, out_m, strict=True))
    return [read(at_base, v) for v in jaxpr.outvars], [read(at_moved, v) for v in jaxpr.outvars]


def _equation(eqn: Any, base: Values, moved: Values) -> Pairs:
    name = eqn.primitive.name
    if name == "stop_gradient":
        return base, base
    if not has_stop_gradient(eqn):
        return evaluate(eqn, base), evaluate(eqn, moved)
    if name == "scan":
        return _scan(eqn, base, moved)
    if name == "while":
        return _while(eqn, base, moved)
    if name == "cond":
        return _cond(eqn, base, moved)
    inner = inner_program(eqn)
    return _run(inner.jaxpr, inner.consts, base, moved)


def _scan(eqn: Any, base: Values, moved: Values) -> Pairs:
    body, n_consts, n_carry, length, reverse = scan_parts(eqn)
    b_const, b_carry, b_xs = base[:n_consts], base[n_consts : n_consts + n_carry], base[n_consts + n_carry :]
    m_const, m_carry, m_xs = moved[:n_consts], moved[n_consts : n_consts + n_carry], moved[n_consts + n_carry :]

    def step(carry: Any, xs: Any) -> Any:
        (cb, cm), (xb, xm) = carry, xs
        ob, om = _run(body.jaxpr, body.consts, [*b_const, *cb, *xb], [*m_const, *cm, *xm])
        return (ob[:n_carry], om[:n_carry]), (ob[n_carry:], om[n_carry:])

    (cb, cm), (yb, ym) = jax.lax.scan(step, (b_carry, m_carry), (b_xs, m_xs), length=length, reverse=reverse)
    return [*cb, *yb], [*cm, *ym]


def _while(eqn: Any, base: Values, moved: Values) -> Pairs:
    cond, body, n_cond, n_body = while_parts(eqn)
    split = n_cond + n_body

    def proceeds(consts: Values, carry: Values) -> Any:
        return _run(cond.jaxpr, cond.consts, [*consts, *carry], [*consts, *carry])[0][0]

    def go(state: Any) -> Any:
        return proceeds(base[:n_cond], state[0])

    def step(state: Any) -> Any:
        cb, cm, parted = state
        parted = parted | (proceeds(base[:n_cond], cb) != proceeds(moved[:n_cond], cm))
        ob, om = _run(body.jaxpr, body.consts, [*base[n_cond:split], *cb], [*moved[n_cond:split], *cm])
        return ob, om, parted

    cb, cm, parted = jax.lax.while_loop(go, step, (base[split:], moved[split:], jnp.asarray(False)))
    parted = parted | proceeds(moved[:n_cond], cm)
    return cb, [_poison(parted, y) for y in cm]


def _cond(eqn: Any, base: Values, moved: Values) -> Pairs:
    branches = [
        lambda b, m, branch=branch: _run(branch.jaxpr, branch.consts, list(b), list(m))
        for branch in eqn.params["branches"]
    ]
    out_b, out_m = jax.lax.switch(base[0], branches, base[1:], moved[1:])
    return out_b, [_poison(base[0] != moved[0], y) for y in out_m]


def _poison(parted: Any, y: Any) -> Any:
    return jnp.where(parted, jnp.nan, y).astype(y.dtype) if jnp.issubdtype(y.dtype, jnp.inexact) else y
