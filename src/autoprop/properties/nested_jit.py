"""The law `nested_jit`: compiling and differentiating may be done in either order."""

from __future__ import annotations

import jax

from .._point import Point
from .._subject import Subject
from .._verdict import Holds, Verdict
from ..oracles.bounded import fast
from ._law import law
from ._transformed import Program, derivative, transformed
from .numeric import applies_to_values

__all__ = ["nested_jit"]


@law("transforms", applies=applies_to_values)
def nested_jit(subject: Subject, point: Point) -> Verdict:
    """
    grad(jit(f))(x) = jit(grad(f))(x) = jit(grad(jit(f)))(x), and the value with it, up to rounding

    Differentiating a compiled function compiles two programs, and residuals pass from one to the other; differentiating
    first compiles one. Where there is no reverse mode, Jv is compared.

    **Catches** rules whose residuals do not survive the border of a program, state that changes between two traces,
    rules that ask whether the function is compiled.

    **Does not catch** what eager and compiled evaluation do not share (`jit`).
    """
    verdict = transformed(subject, point, "grad(jit(f))", lambda: _nested(subject))
    if verdict != Holds():
        return verdict
    return transformed(subject, point, "jit(grad(jit(f)))", lambda: fast(subject, _nested(subject)))


def _nested(subject: Subject) -> Program:
    """
    The gradient of the compiled function; compiled anew each time, since JAX remembers what it has traced.
    """
    return derivative(subject, jax.jit(lambda moved, held: subject.f(moved, held)))
