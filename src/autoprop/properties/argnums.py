"""The laws of argnums: every choice gives the gradients in its order, and value_and_grad gives both."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp

from .._point import Point
from .._subject import Subject
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ._compare import Raised, Routes, agree, attempt
from ._gradient import argument_paths, differentiable, gradient, scalar_loss
from ._law import law, undecided_if_raises

__all__ = ["argnums_order", "value_and_grad"]


def _numbers(subject: Subject) -> tuple[int, ...]:
    return tuple(n for n, good in zip(subject.argnums, differentiable(subject), strict=True) if good)


def _prepared(primals: tuple[Any, ...], numbers: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(jax.tree.map(jnp.asarray, x) if i in numbers else x for i, x in enumerate(primals))


def _choices(numbers: tuple[int, ...], count: int) -> list[int | tuple[int, ...]]:
    """
    The choices tried: single, negative, a tuple of one, every ordered pair, all in both orders.
    """
    choices: list[int | tuple[int, ...]] = []
    for n in numbers:
        choices += [n, n - count, (n,)]
    pairs = list(itertools.permutations(numbers, 2))[:12]
    choices += pairs
    choices += [tuple(a - count if i == 0 else a for i, a in enumerate(pair)) for pair in pairs[:2]]
    if len(numbers) > 2:
        choices += [numbers, numbers[::-1]]
    return list(dict.fromkeys(choices))


@law("trees and argnums", applies=scalar_loss)
def argnums_order(subject: Subject, point: Point) -> Verdict:
    """
    grad(f, (i, j)) = (grad(f, i), grad(f, j)), in that order, for every choice of i and j

    Argnums are positions: a tuple gives a tuple in its own order, also when turned round; an integer gives the bare
    gradient; −1 is the last argument; a tuple of one is not bare. Each gradient has its argument's tree.

    **Catches** transforms that sort, de-duplicate or miscount argnums; gradients handed to the wrong argument.

    **Does not catch** gradients wrong for each argument alone (`numeric`).
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises
    numbers, count = _numbers(subject), len(point.primals)
    if not numbers:
        return Undecided("every differentiated argument holds integers")
    fn, transform = subject.target.fn, gradient(subject)
    alone: dict[Any, dict[int, Any]] = {}

    def bare(primals: tuple[Any, ...]) -> dict[int, Any]:
        key = bool(jax.config.jax_enable_x64), id(primals)
        if key not in alone:
            alone[key] = {n: jax.grad(fn, n)(*primals) for n in numbers}
        return alone[key]

    for choice in _choices(numbers, count):
        chosen = tuple(n % count for n in ((choice,) if isinstance(choice, int) else choice))
        paths = argument_paths(subject, chosen)
        shape = attempt(lambda c=choice: [transform(fn, c)(*_prepared(point.primals, numbers))])  # type: ignore[misc]

        def routes(primals: tuple[Any, ...], choice: Any = choice, chosen: Any = chosen, paths: Any = paths) -> Routes:
            ready = _prepared(primals, numbers)
            names = "each alone", f"gradient(f, {choice})"
            left = attempt(lambda: [bare(ready)[n] for n in chosen])
            right = attempt(lambda: transform(fn, choice)(*ready))
            return Routes(names, paths, left, right)

        if not isinstance(shape, Raised):
            want = bare(_prepared(point.primals, numbers))
            expected = want[chosen[0]] if isinstance(choice, int) else tuple(want[n] for n in chosen)
            got = transform(fn, choice)(*_prepared(point.primals, numbers))
            trees = str(jax.tree.structure(expected)), str(jax.tree.structure(got))
            if trees[0] != trees[1]:
                pair = (("each alone", trees[0]), (f"gradient(f, {choice})", trees[1]))
                return Violated((Mismatch("tree", (), pair, None, None, "an int gives a bare gradient, a tuple a tuple"),))
        verdict = agree(subject, point, routes)
        if not isinstance(verdict, Holds):
            return verdict
    return Holds()


@law("trees and argnums", applies=scalar_loss)
def value_and_grad(subject: Subject, point: Point) -> Verdict:
    """
    value_and_grad(f)(x) = (f(x), grad(f)(x))

    The value that comes with a gradient is the function's value: a forward pass of a custom rule computes the same.

    **Catches** custom rules whose forward pass returns another value than the function, gradients that depend on which
    interface asked for them.

    **Does not catch** what both interfaces share (`numeric`).
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises
    numbers = _numbers(subject)
    if not numbers:
        return Undecided("every differentiated argument holds integers")
    fn, transform = subject.target.fn, gradient(subject)
    paths = ["value", *argument_paths(subject, numbers)]

    def routes(primals: tuple[Any, ...]) -> Routes:
        ready = _prepared(primals, numbers)
        left = attempt(lambda: (fn(*ready), transform(fn, numbers)(*ready)))
        right = attempt(lambda: jax.value_and_grad(fn, numbers)(*ready))
        return Routes(("f and gradient(f)", "value_and_grad(f)"), paths, left, right)

    return agree(subject, point, routes)
