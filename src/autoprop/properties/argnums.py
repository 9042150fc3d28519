"""The laws of argnums: every choice gives the gradients in its order, and value_and_grad gives both."""

from __future__ import annotations

import itertools
from typing import Any

import jax

from .._pairing import cotangents
from .._point import Point
from .._subject import Subject
from .._trees import is_inexact, on_device
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ..oracles.same_program import agrees, expressions
from ._compare import Raised, Routes, agree, attempt
from ._gradient import argument_paths, differentiable, gradient, gradient_of_jax, scalar_loss
from ._law import law, undecided_if_raises
from .numeric import applies_to_values
from .transforms import split_arrays, value_and_gradient

__all__ = ["argnums_order", "value_and_grad"]


def _numbers(subject: Subject) -> tuple[int, ...]:
    return tuple(n for n, good in zip(subject.argnums, differentiable(subject), strict=True) if good)


def _prepared(primals: tuple[Any, ...], numbers: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(jax.tree.map(on_device, x) if i in numbers else x for i, x in enumerate(primals))


def _choices(numbers: tuple[int, ...], count: int, thorough: bool) -> list[int | tuple[int, ...]]:
    """
    The choices tried: a tuple of one, a negative position, all turned round; for a transform of the user's own also
    each alone, each negative, every ordered pair, a pair with a negative position and one argument twice.
    """
    last = numbers[-1]
    choices: list[int | tuple[int, ...]] = [(numbers[0],), last - count, numbers[::-1]]
    if thorough:
        pairs = list(itertools.permutations(numbers, 2))[:12]
        choices += [*numbers, *(n - count for n in numbers), *pairs, *((a - count, b) for a, b in pairs[:2]), numbers]
        choices += [(numbers[0], numbers[0]), (numbers[-1], *numbers[:-1], last - count)]
    return list(dict.fromkeys(choices))


@law("trees and argnums", applies=scalar_loss)
def argnums_order(subject: Subject, point: Point) -> Verdict:
    """
    grad(f, (i, j)) = (grad(f, i), grad(f, j)), in that order, for every choice of i and j

    Argnums are positions: a tuple gives a tuple in its own order, also when turned round; an integer gives the bare
    gradient; −1 is the last argument; a tuple of one is not bare. Each gradient has its argument's tree. An argument
    named twice may be refused, as `jax.grad` does, or given twice.

    **Catches** transforms that sort, de-duplicate or miscount argnums; gradients handed to the wrong argument, scaled,
    clipped or rounded on the way.

    **Does not catch** gradients wrong for each argument alone (`numeric`).
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises
    numbers, count = _numbers(subject), len(point.primals)
    if not numbers:
        return Undecided("every differentiated argument holds integers")
    fn, transform = subject.target.fn, gradient(subject)
    if _is_proven(subject, point, numbers):
        return Holds()
    choices = _choices(numbers, count, subject.target.gradient is not None)
    paths = [f"{path} for argnums={c}" for c in choices for path in argument_paths(subject, _positions(c, count))]
    fault: Mismatch | None = None

    def routes(primals: tuple[Any, ...]) -> Routes:
        nonlocal fault
        ready = _prepared(primals, numbers)
        try:
            bare = {n: gradient_of_jax(subject)(fn, n)(*ready)[0] for n in numbers}
        except Exception as error:  # noqa: BLE001  a rule under test may raise anything; `structure` reports it
            return Routes(("each alone", "gradient"), paths, Raised(error), Raised(error))
        left: list[Any] = []
        right: list[Any] = []
        for choice in choices:
            expected = tuple(bare[n] for n in _positions(choice, count))
            wanted = expected[0] if isinstance(choice, int) else expected
            try:
                got, _ = transform(fn, choice)(*ready)
            except Exception as error:  # noqa: BLE001  a transform under test may raise anything
                if len(set(_positions(choice, count))) == len(_positions(choice, count)):
                    fault = fault or _fault(choice, "a gradient", str(Raised(error)))
                got = wanted
            trees = str(jax.tree.structure(wanted)), str(jax.tree.structure(got))
            if trees[0] != trees[1]:
                fault = fault or _fault(choice, trees[0], trees[1])
                got = wanted
            left += jax.tree.leaves(wanted)
            right += jax.tree.leaves(got)
        return Routes(("each alone", "gradient"), paths, left, right)

    verdict = agree(subject, point, routes)
    return Violated((fault,)) if fault is not None else verdict


def _is_proven(subject: Subject, point: Point, numbers: tuple[int, ...]) -> bool:
    """
    Say whether the gradients of `jax.grad` are one program for every choice; a transform of the user's own may look at
    its numbers, so it is run.
    """
    if subject.target.gradient is not None or not subject.is_traceable:
        return False
    count = len(point.primals)

    def both(moved: Any, held: Any) -> Any:
        ready, of, fn = subject.join(moved, held), gradient_of_jax(subject), subject.target.fn
        bare = {n: of(fn, n)(*ready)[0] for n in numbers}
        left, right = [], []
        for choice in _choices(numbers, count, False):
            expected = tuple(bare[n] for n in _positions(choice, count))
            left.append(expected[0] if isinstance(choice, int) else expected)
            right.append(of(fn, choice)(*ready)[0])
        return left, right

    return agrees(expressions(subject, "argnums", both, *split_arrays(subject, point.primals)))


def _positions(choice: int | tuple[int, ...], count: int) -> tuple[int, ...]:
    return tuple(n % count for n in ((choice,) if isinstance(choice, int) else choice))


def _fault(choice: Any, wanted: str, got: str) -> Mismatch:
    pair = (("each alone", wanted), (f"gradient(f, {choice})", got))
    return Mismatch(
        f"argnums={choice}", (), pair, None, None, "every choice gives its gradients: an int one, a tuple a tuple"
    )


@law("trees and argnums", applies=applies_to_values)
def value_and_grad(subject: Subject, point: Point) -> Verdict:
    """
    value_and_grad(f)(x) = (f(x), grad(f)(x)), and aux is f's own aux

    The value that comes with a gradient is the function's value: a forward pass of a custom rule computes the same. So
    is aux, from `jax.value_and_grad` and from the gradient transform alike, where the target says ``has_aux=True``. Of
    a function that is no scalar loss, the value that comes with its pullback is compared: vjp(f)(x)[0] = f(x).

    **Catches** custom rules whose forward pass returns another value than the function, gradients that depend on which
    interface asked for them.

    **Does not catch** what both interfaces share (`numeric`).
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises
    if not subject.is_scalar_loss:
        return _forward_pass(subject, point)
    numbers = _numbers(subject)
    if not numbers:
        return Undecided("every differentiated argument holds integers")
    fn, transform, has_aux = subject.target.fn, gradient(subject), subject.target.has_aux
    beside = [f"{path} beside the gradient" for path in subject.array_output_paths[1:]]
    paths = [*subject.array_output_paths, *argument_paths(subject, numbers), *beside]

    def apart(*ready: Any) -> Any:
        return fn(*ready), *transform(fn, numbers)(*ready)

    def together(*ready: Any) -> Any:
        value, found = jax.value_and_grad(fn, numbers, has_aux=has_aux)(*ready)
        return value, found, value[1] if has_aux else ()

    if subject.target.gradient is None and subject.is_traceable:

        def both(moved: Any, held: Any) -> Any:
            ready = subject.join(moved, held)
            return apart(*ready), together(*ready)

        if agrees(expressions(subject, "value and gradient", both, *split_arrays(subject, point.primals))):
            return Holds()

    def routes(primals: tuple[Any, ...]) -> Routes:
        ready = _prepared(primals, numbers)
        return Routes(
            ("f and gradient(f)", "value_and_grad(f)"),
            paths,
            attempt(lambda: apart(*ready)),
            attempt(lambda: together(*ready)),
        )

    return agree(subject, point, routes)


def _forward_pass(subject: Subject, point: Point) -> Verdict:
    """
    Compare the value with the one that a pullback brings along; the law `jit` has compiled the program.
    """
    u = cotangents(subject, point.seed)

    def program() -> Any:
        eager = subject.compiled("derivative", lambda: value_and_gradient(subject))
        return subject.compiled("jit:derivative", lambda: jax.jit(eager))

    def routes(primals: tuple[Any, ...]) -> Routes:
        found = attempt(lambda: program()(*split_arrays(subject, primals), u)[:2])
        paths, count = subject.output_paths, len(subject.array_output_paths)
        if isinstance(found, Raised):  # `structure` reports it
            return Routes(("f", "value of vjp(f)"), [], [], [])
        return Routes(("f", "value of vjp(f)"), paths, [y for y in found[:count] if is_inexact(y)], found[count:])

    return agree(subject, point, routes)
