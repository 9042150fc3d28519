"""Whether a function takes other steps of a staircase within a distance: there its differences tell no slope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._jaxprs import TRANSPARENT, Literal, equations, evaluate, inner_program
from .bounded import fast
from .promoted import Promoted

__all__ = ["takes_other_steps"]

ROUNDING = frozenset({"ceil", "floor", "round"})


def takes_other_steps(here: Promoted, v: Sequence[Any], offset: float) -> bool:
    """
    Say whether some element is rounded to another integer at x + offset·v than at x, and at x − offset·v too.

    Rounding down, up or to nearest, the integer part of a quotient whose remainder is taken, and the conversion to
    integers count; those inside of loops and branches do not.

    Args:
        here: the point.
        v: the direction.
        offset: how far.
    """
    with jax.enable_x64(True):
        program = here.subject.compiled("promoted:steps", lambda: _program(here))
        if program is None:
            return False
        at, *sides = (
            program(side.moved, side.held) for side in (here, *(here.shifted(v, s * offset) for s in (1, -1)))
        )
        return all(any(np.any(np.asarray(a) != np.asarray(b)) for a, b in zip(at, side, strict=True)) for side in sides)


def _program(here: Promoted) -> Any:
    closed = jax.make_jaxpr(here.subject.f)(here.moved, here.held)
    if not any(_integers_of(eqn) for eqn in equations(closed)):
        return None

    def call(moved: Any, held: Any) -> list[Any]:
        found: list[Any] = []
        _run(closed.jaxpr, closed.consts, [*moved, *held], found)
        return found

    return fast(here.subject, call)


def _integers_of(eqn: Any) -> Callable[..., Any] | None:
    """
    The function of an equation's inputs and its output that gives the integers of its steps, or None.
    """
    name = eqn.primitive.name
    dtype = getattr(eqn.invars[0].aval, "dtype", None) if eqn.invars else None
    if dtype is None or not jnp.issubdtype(dtype, jnp.floating):
        return None
    if name in ROUNDING:
        return lambda inputs, y: y
    if name == "rem":
        return lambda inputs, y: jnp.trunc(inputs[0] / inputs[1])
    if name == "convert_element_type" and jnp.issubdtype(eqn.outvars[0].aval.dtype, jnp.integer):
        return lambda inputs, y: y
    return None


def _run(jaxpr: Any, consts: Sequence[Any], values: list[Any], found: list[Any]) -> list[Any]:
    known: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    known.update(zip(jaxpr.invars, values, strict=True))

    def read(var: Any) -> Any:
        return var.val if isinstance(var, Literal) else known[var]

    for eqn in jaxpr.eqns:
        inputs = [read(var) for var in eqn.invars]
        if eqn.primitive.name in TRANSPARENT:
            inner = inner_program(eqn)
            outputs = _run(inner.jaxpr, inner.consts, inputs, found)
        else:
            outputs = evaluate(eqn, inputs)
        integers = _integers_of(eqn)
        if integers is not None:
            found.append(integers(inputs, outputs[0]))
        known.update(zip(eqn.outvars, outputs, strict=True))
    return [read(var) for var in jaxpr.outvars]
