"""The gradient of a scalar loss through JAX's own interface, or through the user's transform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from .._subject import Subject
from .._trees import is_inexact, leaf_paths

__all__ = ["argument_paths", "differentiable", "gradient", "gradient_of_jax", "scalar_loss"]


def scalar_loss(subject: Subject) -> str | None:
    """
    Return why a law of the gradient does not apply: the value is no scalar loss, or nothing is differentiated.
    """
    if not subject.argnums or not any(differentiable(subject)):
        return "no floating or complex argument is differentiated"
    if not subject.is_scalar_loss:
        shown = jax.tree.map(lambda leaf: f"{leaf.dtype}{list(leaf.shape)}", subject.without_aux(subject.outputs))
        return f"the value must be one real scalar, but is {shown}"
    return None


def differentiable(subject: Subject) -> list[bool]:
    """
    Say for each differentiated position whether `jax.grad` takes it without ``allow_int``: it holds inexact arrays
    only.
    """
    found = []
    for number in subject.argnums:
        leaves = [leaf for leaf, owner in zip(subject.leaves, subject.owners, strict=True) if owner == number]
        found.append(bool(leaves) and all(is_inexact(leaf) for leaf in leaves if leaf is not None))
    return found


def gradient(subject: Subject) -> Callable[..., Any]:
    """
    Return the transform under test, the target's ``gradient`` or `jax.grad`, called as ``gradient(fn, argnums)``; what
    it returns gives the gradient and aux, ``()`` where the target has none.
    """
    return _and_aux(subject, subject.target.gradient or jax.grad)


def gradient_of_jax(subject: Subject) -> Callable[..., Any]:
    """
    Return `jax.grad` in the form of `gradient`.
    """
    return _and_aux(subject, jax.grad)


def _and_aux(subject: Subject, transform: Callable[..., Any]) -> Callable[..., Any]:
    def of(fn: Callable[..., Any], argnums: int | tuple[int, ...]) -> Callable[..., Any]:
        if subject.target.has_aux:
            with_aux: Callable[..., Any] = transform(fn, argnums, has_aux=True)
            return with_aux
        return lambda *args: (transform(fn, argnums)(*args), ())

    return of


def argument_paths(subject: Subject, numbers: tuple[int, ...]) -> list[str]:
    """
    Return the path of each leaf of these arguments, in order.
    """
    arguments = jax.tree.unflatten(subject.treedef, subject.leaves)
    return [path for n in numbers for path in leaf_paths(arguments[n], subject.argnames[n])]
