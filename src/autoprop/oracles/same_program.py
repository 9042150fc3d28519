"""Whether two programs compute the same numbers because they are the same expressions, without compiling either."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax
import numpy as np

from .._equations import called_program, is_commutative, is_identity, is_repeatable, operation
from .._jaxprs import Literal, is_program
from .._subject import Subject
from .._trees import is_key, same_tree

__all__ = ["Numbering", "agrees", "expressions"]

LARGE = 2**20  # bytes of a constant above which it is known by identity, not by its bits


class Unnumbered(Exception):  # noqa: N818  never leaves this module
    """
    A program that has effects, calls back into Python, or holds what is no value: it need not do the same twice.
    """


class Numbering:
    """
    Numbers for the values of programs, equal only for equal expressions of equal inputs: value numbering.

    An expression is a primitive, its parameters and the numbers of its operands, in any order where it does not matter.
    Calls of jit, remat and custom rules count as what they call, stopped gradients as their operand, inner programs as
    the expressions of their outputs, and constants as their bits. Programs with effects and callbacks have no numbers.
    Equal numbers prove that two programs agree; different ones prove nothing.
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._kept: list[Any] = []  # what is known by its identity must stay alive

    def outputs(self, closed: Any, inputs: Sequence[int]) -> list[int] | None:
        """
        Return the number of each output of a closed jaxpr, or None where it has none.

        Args:
            closed: the program.
            inputs: the number of each input; see `inputs` and `constant`.
        """
        try:
            return self._outputs(closed, inputs)
        except Unnumbered:
            return None

    def inputs(self, closed: Any) -> list[int]:
        """
        Return numbers for the inputs of a closed jaxpr that are the same for every program with such inputs.
        """
        return [self._number(("input", i, self._form(var.aval))) for i, var in enumerate(closed.jaxpr.invars)]

    def constant(self, value: Any) -> int:
        """
        Return the number of a constant.
        """
        if isinstance(value, jax.core.Tracer):  # leaked from another trace
            raise Unnumbered
        if is_key(value):
            words = np.asarray(jax.random.key_data(value))
            return self._number(("key", str(jax.random.key_impl(value)), words.shape, words.tobytes()))
        array = np.asarray(value)
        if array.nbytes > LARGE or array.dtype.hasobject:
            return self._number(("object", self._identity(value)))
        return self._number(("constant", str(array.dtype), array.shape, array.tobytes()))

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _identity(self, value: Any) -> int:
        self._kept.append(value)
        return id(value)

    @staticmethod
    def _form(aval: Any) -> Hashable:
        return str(getattr(aval, "dtype", aval)), getattr(aval, "shape", ())

    def _outputs(self, closed: Any, inputs: Sequence[int]) -> list[int]:
        jaxpr = closed.jaxpr
        known: dict[Any, int] = dict(zip(jaxpr.invars, inputs, strict=True))
        known.update(zip(jaxpr.constvars, map(self.constant, closed.consts), strict=True))

        def number(var: Any) -> int:
            if isinstance(var, Literal):
                aval: Any = var.aval
                return self.constant(np.asarray(var.val, aval.dtype))
            return known[var]

        for eqn in jaxpr.eqns:
            if not is_repeatable(eqn):
                raise Unnumbered
            operands = [number(var) for var in eqn.invars]
            called = called_program(eqn)
            if is_identity(eqn):
                found = operands
            elif called is not None:
                found = self._outputs(called, operands)
            else:
                key = self._operation(eqn, sorted(operands) if is_commutative(eqn) else operands)
                found = [self._number(("output", key, i)) for i in range(len(eqn.outvars))]
            known.update(zip(eqn.outvars, found, strict=True))
        return [number(var) for var in jaxpr.outvars]

    def _operation(self, eqn: Any, operands: Sequence[int]) -> int:
        params = tuple((name, self._parameter(value)) for name, value in sorted(eqn.params.items()))
        return self._number(("operation", operation(eqn), params, tuple(operands)))

    def _parameter(self, value: Any) -> Hashable:
        if is_program(value):
            inner = called_program(value)
            formal = [self._number(("formal", i, self._form(v.aval))) for i, v in enumerate(inner.jaxpr.invars)]
            return "program", tuple(formal), tuple(self._outputs(inner, formal))
        if isinstance(value, (jax.Array, np.ndarray)):
            return "array", self.constant(value)
        if isinstance(value, (tuple, list)):
            return type(value).__name__, tuple(map(self._parameter, value))
        if isinstance(value, dict):
            return "dict", tuple((name, self._parameter(value[name])) for name in sorted(value, key=repr))
        if isinstance(value, np.generic):
            return self._parameter(value.item())
        if callable(value) and not isinstance(value, type):
            return "object", self._identity(value)
        if isinstance(value, float):
            return "float", value.hex()
        try:
            hash(value)
        except TypeError:
            return "object", self._identity(value)
        return type(value).__name__, value


def expressions(subject: Subject, name: Any, program: Callable[..., Any], *arguments: Any) -> Any:
    """
    Return what a program of a subject returns, with the number of its expression for each leaf; None where it cannot be
    traced, or has no numbers. Leaves with one number are the same number at every point of the signature.

    Args:
        subject: the target, traceable; it keeps what is found under ``name``.
        name: what the program is called.
        program: the program; one that is jitted is not traced again when it is called with such arguments.
        arguments: arrays of the shapes and dtypes in question.
    """
    forms = tuple(map(_of, jax.tree.leaves(arguments)))
    return subject.compiled(("expressions", name, forms), lambda: _numbered(subject, program, arguments))


def agrees(pair: Any) -> bool:
    """
    Say whether the two sides of what `expressions` returns are the same, in their trees too; not where it is None.
    """
    if pair is None:
        return False
    left, right = pair
    same = same_tree(jax.tree.structure(left), jax.tree.structure(right))
    return same and bool(jax.tree.leaves(left) == jax.tree.leaves(right))


def _of(leaf: Any) -> Hashable:
    aval: Any = jax.typeof(leaf)
    return str(aval.dtype), aval.shape, aval.weak_type


def _numbered(subject: Subject, program: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    numbering = subject.memo.setdefault("numbering", Numbering())
    try:
        closed, shape = _traced(program, arguments)
    except Exception:  # noqa: BLE001  whatever a rule under test raises: who runs the program will tell
        return None
    found = numbering.outputs(closed, numbering.inputs(closed))
    return None if found is None else jax.tree.unflatten(jax.tree.structure(shape), found)


def _traced(program: Any, arguments: tuple[Any, ...]) -> tuple[Any, Any]:
    if hasattr(program, "trace"):
        traced = program.trace(*arguments)
        return traced.jaxpr, traced.out_info
    return jax.make_jaxpr(program, return_shape=True)(*arguments)
