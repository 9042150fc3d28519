"""The law `structure`: a gradient has its argument's tree, shapes and dtypes."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from .._jaxprs import refusal
from .._pairing import cotangents, pair
from .._point import Point
from .._subject import Subject
from .._trees import is_array, is_inexact, on_device, same_tree
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ._compare import Raised
from ._law import law
from .numeric import applies_to_values

__all__ = ["structure"]


@law("contract", applies=applies_to_values, smooth_only=False)
def structure(subject: Subject, point: Point) -> Verdict:
    """
    ∇f(x) has the tree, the shapes and the dtypes of x; float0 for integers

    A gradient is a tangent of its argument, so that ``x - rate * gradient`` makes sense leaf by leaf. A function of
    more than one number is paired with fixed cotangents first. A function that can be called can be differentiated:
    raising is a violation, except where JAX says that it has no such derivative by design.

    **Catches** rules that return a wrong shape or dtype, gradients of integer leaves, backward passes that raise.

    **Does not catch** wrong numbers.
    """
    u = cotangents(subject, point.seed)

    def loss(*args: Any) -> Any:
        value = subject.target.fn(*args)
        leaves = subject.inexact(value)
        paired = leaves[0] if subject.is_scalar_loss else pair(u, leaves)
        return (paired, value[1]) if subject.target.has_aux else paired

    numbers = tuple(n for n in subject.argnums if _all_arrays(point.primals[n]))
    if not numbers:
        return Undecided("every differentiated argument holds values that are not arrays")
    whole = [
        jax.tree.map(on_device, argument) if i in numbers else argument for i, argument in enumerate(point.primals)
    ]
    integers = any(not is_inexact(leaf) for n in numbers for leaf in jax.tree.leaves(whole[n]))
    has_aux: dict[str, Any] = {"has_aux": True} if subject.target.has_aux else {}
    transform = subject.target.gradient
    try:
        if transform is not None and not integers:
            found = _shapes(transform(loss, numbers, **has_aux), subject, whole)
        else:
            found = _shapes(jax.grad(loss, numbers, allow_int=integers, **has_aux), subject, whole)
        found = found[0] if has_aux else found
    except Exception as error:  # noqa: BLE001  a rule under test may raise anything
        reason = refusal(error)
        if reason is not None:
            return Undecided(f"not possible in JAX: {reason}")
        routes = (("value", "exists"), ("gradient", str(Raised(error))))
        return Violated(
            (Mismatch("value", (), routes, None, None, "a function that can be called can be differentiated"),)
        )
    return _compare(subject, numbers, whole, found)


def _shapes(gradient: Any, subject: Subject, whole: list[Any]) -> Any:
    """
    The gradient's tree of shapes and dtypes, traced if that is possible: nothing is compiled then.
    """
    leaves, treedef = jax.tree.flatten(tuple(whole))
    traced = [i for i, leaf in enumerate(leaves) if is_array(leaf)]

    def call(values: list[Any]) -> Any:
        merged = dict(zip(traced, values, strict=True))
        return gradient(*jax.tree.unflatten(treedef, [merged.get(i, leaf) for i, leaf in enumerate(leaves)]))

    try:
        return jax.eval_shape(call, [leaves[i] for i in traced])
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError):  # works eagerly only
        return gradient(*whole)


def _all_arrays(argument: Any) -> bool:
    return all(is_array(leaf) for leaf in jax.tree.leaves(argument))


def _compare(subject: Subject, numbers: tuple[int, ...], whole: list[Any], found: Any) -> Verdict:
    expected = tuple(whole[n] for n in numbers)
    trees = jax.tree.structure(expected), jax.tree.structure(found)
    if not same_tree(*trees):
        routes = (("arguments", str(trees[0])), ("gradient", str(trees[1])))
        return Violated((Mismatch("tree", (), routes, None, None, "the trees must be equal"),))
    paths = [p for n in numbers for p in _paths(subject, n)]
    mismatches = []
    for path, x, g in zip(paths, jax.tree.leaves(expected), jax.tree.leaves(found), strict=True):
        dtype = jnp.result_type(x) if is_inexact(x) else jax.dtypes.float0
        want, got = f"{dtype}{list(jnp.shape(x))}", f"{getattr(g, 'dtype', type(g).__name__)}{list(jnp.shape(g))}"
        if want != got:
            routes = (("argument", want), ("gradient", got))
            mismatches.append(Mismatch(path, (), routes, None, None, "shape and dtype must be equal"))
    return Violated(tuple(mismatches)) if mismatches else Holds()


def _paths(subject: Subject, n: int) -> list[str]:
    return [path for path, owner in zip(subject.paths, subject.owners, strict=True) if owner == n]
