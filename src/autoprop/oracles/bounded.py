"""A program whose open-ended loops stop at a limit, so that no extreme argument can make a search hang."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .._compile import Program
from .._jaxprs import Literal, evaluate, has_primitive, inner_program, scan_parts, while_parts
from .._subject import Subject
from .automatic import reverse_mode

__all__ = ["LIMIT", "bounded", "ends", "fast", "is_open_ended"]

LIMIT = 1000  # iterations of one loop; solvers at ordinary arguments take a few hundred at most

Values = list[Any]


def is_open_ended(subject: Subject) -> bool:
    """
    Say whether the function, or its backward pass, runs a loop whose length depends on its arguments.
    """
    if "open-ended" not in subject.memo:
        moved, held = subject.split(jax.tree.unflatten(subject.treedef, subject.leaves))

        def backward(m: Any, h: Any, u: Any) -> Any:
            return reverse_mode(lambda x: subject.f(x, h), m, u)

        try:
            found = subject.is_traceable and has_primitive(subject.traced, "while")
            if subject.is_traceable and not found and moved:
                found = has_primitive(jax.make_jaxpr(backward)(moved, held, subject.inexact_outputs), "while")
        except Exception:  # noqa: BLE001  what cannot be traced is not compiled either
            found = False
        subject.memo["open-ended"] = found
    return bool(subject.memo["open-ended"])


def bounded(subject: Subject, program: Callable[..., Any]) -> Callable[..., Any]:
    """
    Return a program of the subject with its open-ended loops limited to `LIMIT` iterations.

    Where a loop does not end by then, the floating numbers that it returns are NaN: the value is then not finite, and
    no law judges it. Programs of functions without such loops are returned as they are.
    """
    if not is_open_ended(subject):
        return program

    def call(*arguments: Any) -> Any:
        return _limited(program, arguments)[0]

    return call


def fast(subject: Subject, program: Callable[..., Any]) -> Program:
    """
    Return a program of the subject compiled as checking programs are, its loops bounded.
    """
    return Program(bounded(subject, program))


def ends(subject: Subject, primals: tuple[Any, ...], derivative: Callable[..., Any]) -> bool:
    """
    Say whether every loop of the function and of a derivative of it ends within the limit at these arguments.

    Args:
        subject: the target at the signature of the arguments.
        primals: the arguments.
        derivative: ``derivative(moved, held)``, the most that will be run on them.
    """
    if not is_open_ended(subject):
        return True
    check = subject.compiled("ends", lambda: jax.jit(lambda m, h: _limited(derivative, (m, h))[1]))
    return not bool(check(*subject.split(primals)))


def _limited(program: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, Any]:
    closed, shape = jax.make_jaxpr(program, return_shape=True)(*arguments)
    values, hit = _run(closed.jaxpr, closed.consts, jax.tree.leaves(arguments))
    return jax.tree.unflatten(jax.tree.structure(shape), values), hit


def _run(jaxpr: Any, consts: Sequence[Any], values: Values) -> tuple[Values, Any]:
    known: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    known.update(zip(jaxpr.invars, values, strict=True))
    hit: Any = jnp.asarray(False)
    for eqn in jaxpr.eqns:
        inputs = [var.val if isinstance(var, Literal) else known[var] for var in eqn.invars]
        if not has_primitive(eqn, "while"):
            outputs = evaluate(eqn, inputs)
        else:
            outputs, here = _STEPS.get(eqn.primitive.name, _call)(eqn, inputs)
            hit = hit | here
        known.update(zip(eqn.outvars, outputs, strict=True))
    return [var.val if isinstance(var, Literal) else known[var] for var in jaxpr.outvars], hit


def _call(eqn: Any, inputs: Values) -> tuple[Values, Any]:
    inner = inner_program(eqn)
    return _run(inner.jaxpr, inner.consts, inputs)


def _while(eqn: Any, inputs: Values) -> tuple[Values, Any]:
    cond, body, n_cond, n_body = while_parts(eqn)
    cond_consts, body_consts, start = inputs[:n_cond], inputs[n_cond : n_cond + n_body], inputs[n_cond + n_body :]

    def proceeds(carry: Values) -> Any:
        return _run(cond.jaxpr, cond.consts, [*cond_consts, *carry])[0][0]

    def go(state: Any) -> Any:
        # a batched loop goes on while any of its rows does
        return jnp.any(proceeds(state[0])) & (state[1] < LIMIT)

    def step(state: Any) -> Any:
        out, hit = _run(body.jaxpr, body.consts, [*body_consts, *state[0]])
        running = proceeds(state[0])  # in a batch, rows whose loop has ended stay as they are
        kept = [jnp.where(_per_row(running, old), new, old) for new, old in zip(out, state[0], strict=True)]
        return kept, state[1] + 1, state[2] | hit

    carry, _, hit = lax.while_loop(go, step, (start, jnp.asarray(0), jnp.asarray(False)))
    late = proceeds(carry)
    return [_poison(late, y) for y in carry], hit | jnp.any(late)


def _scan(eqn: Any, inputs: Values) -> tuple[Values, Any]:
    body, n_consts, n_carry, length, reverse = scan_parts(eqn)
    consts, start, xs = inputs[:n_consts], inputs[n_consts : n_consts + n_carry], inputs[n_consts + n_carry :]

    def step(state: Any, x: Any) -> Any:
        out, hit = _run(body.jaxpr, body.consts, [*consts, *state[0], *x])
        return (out[:n_carry], state[1] | hit), out[n_carry:]

    (carry, hit), ys = lax.scan(step, (start, jnp.asarray(False)), xs, length=length, reverse=reverse)
    return [*carry, *ys], hit


def _cond(eqn: Any, inputs: Values) -> tuple[Values, Any]:
    branches = [lambda *x, b=branch: _run(b.jaxpr, b.consts, list(x)) for branch in eqn.params["branches"]]
    out, hit = lax.switch(inputs[0], branches, *inputs[1:])
    return list(out), hit


def _poison(late: Any, y: Any) -> Any:
    if not jnp.issubdtype(y.dtype, jnp.inexact):
        return y
    return jnp.where(_per_row(late, y), jnp.asarray(jnp.nan, y.dtype), y)


def _per_row(flags: Any, y: Any) -> Any:
    """
    One flag for each row of y, with as many axes as y has.
    """
    return jnp.reshape(flags, jnp.shape(flags) + (1,) * (jnp.ndim(y) - jnp.ndim(flags)))


_STEPS = {"while": _while, "scan": _scan, "cond": _cond}
