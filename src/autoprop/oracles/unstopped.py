"""The function with nothing stopped: what its derivative would be if every stop let it pass."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import jaxpr_as_fun

from .._jaxprs import Literal, has_stop_gradient, is_program
from .._subject import Subject

__all__ = ["unstopped", "without_stops"]

Values = list[Any]


def unstopped(f: Callable[[Values], Values], leaves: Sequence[Any]) -> Callable[[Values], Values]:
    """
    Return f with every `jax.lax.stop_gradient` replaced by the identity; f itself if it stops nothing.

    Values stay what they are. Custom rules stay too, stops in their functions included: the rule says what the
    derivative is, so those stops take nothing from it.

    Args:
        f: a function of a list of arrays that returns a list of arrays.
        leaves: arrays of the shapes and dtypes that it is called with.
    """
    closed = jax.make_jaxpr(lambda *x: f(list(x)))(*leaves)
    opened = _opened(closed)
    return f if opened is closed else lambda x: list(jaxpr_as_fun(opened)(*x))


def without_stops(subject: Subject) -> Subject | None:
    """
    Return the subject of the same target with nothing stopped, or None if it stops nothing or cannot be traced.
    """
    if "without stops" not in subject.memo:
        subject.memo["without stops"] = _without_stops(subject)
    found: Subject | None = subject.memo["without stops"]
    return found


def _without_stops(subject: Subject) -> Subject | None:
    primals = jax.tree.unflatten(subject.treedef, subject.leaves)
    target = subject.target

    def flattened(count: int) -> tuple[Callable[[Values], Values], list[Any]]:
        trees: list[Any] = []

        def f(arrays: Values) -> Values:
            leaves, tree = jax.tree.flatten(target.fn(*subject.join(arrays[:count], arrays[count:])))
            trees.append(tree)
            return leaves

        return f, trees

    @functools.wraps(target.fn)
    def fn(*arguments: Any) -> Any:
        moved, held = subject.split(arguments)
        f, trees = flattened(len(moved))
        values = unstopped(f, [*moved, *held])([*moved, *held])
        return jax.tree.unflatten(trees[0], values)

    moved, held = subject.split(primals)
    f, _ = flattened(len(moved))
    try:
        if unstopped(f, [*moved, *held]) is f:
            return None
        intended = tuple(word for word in target.intended if word != "stop_gradient")
        free = Subject(target.replace(fn=fn, intended=intended), primals)
        _ = free.outputs
    except Exception:  # noqa: BLE001  for advice only: what cannot be traced is judged as it is
        return None
    return free


def _opened(program: Any) -> Any:
    """
    A jaxpr (closed or open) in which what would be stopped passes; the very same one if it stops nothing.
    """
    jaxpr = getattr(program, "jaxpr", program)
    passed: dict[Any, Any] = {}
    eqns, changed = [], False

    def read(var: Any) -> Any:
        return var if isinstance(var, Literal) else passed.get(var, var)

    for eqn in jaxpr.eqns:
        inputs = [read(var) for var in eqn.invars]
        if eqn.primitive.name == "stop_gradient":
            passed[eqn.outvars[0]] = inputs[0]
            changed = True
            continue
        params = eqn.params
        if has_stop_gradient(eqn) and not _has_own_rule(eqn):
            params = {name: _opened_parameter(value) for name, value in params.items()}
            changed |= any(params[name] is not value for name, value in eqn.params.items())
        eqns.append(eqn.replace(invars=inputs, params=params))
    if not changed:
        return program
    opened = jaxpr.replace(eqns=eqns, outvars=[read(var) for var in jaxpr.outvars])
    return opened if program is jaxpr else program.replace(jaxpr=opened)


def _has_own_rule(eqn: Any) -> bool:
    """
    Say whether an equation is differentiated by a rule and not through its inner programs: custom rules, and the root
    finding and linear solves that JAX builds on them.
    """
    name: str = eqn.primitive.name
    return name.startswith(("custom_", "linear_call"))


def _opened_parameter(value: Any) -> Any:
    if is_program(value):
        return _opened(value)
    if type(value) not in (tuple, list) or not any(map(is_program, value)):
        return value
    found = type(value)(_opened(each) if is_program(each) else each for each in value)
    return value if all(new is old for new, old in zip(found, value, strict=True)) else found
