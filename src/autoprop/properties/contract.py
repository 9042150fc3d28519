"""The laws of the declared contract: a given gradient, a given implementation, inputs that must be refused."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from .._point import Point
from .._subject import Subject
from .._trees import on_device
from .._verdict import Holds, Mismatch, Verdict, Violated
from ._compare import Routes, agree, attempt, number
from ._gradient import argument_paths, gradient, gradient_of_jax, scalar_loss
from ._law import law, undecided_if_raises

__all__ = ["expected_grad", "reference", "rejects"]


def _choice(subject: Subject) -> int | tuple[int, ...]:
    given = subject.target.argnums
    if given is not None:
        return given
    return subject.argnums[0] if len(subject.argnums) == 1 else subject.argnums


def _chosen(subject: Subject) -> tuple[int, ...]:
    return subject.argnums


def _has_expected(subject: Subject) -> str | None:
    return scalar_loss(subject) if subject.target.expected_grad is not None else "the target gives no expected_grad"


@law("numeric", applies=_has_expected)
def expected_grad(subject: Subject, point: Point) -> Verdict:
    """
    grad(f, argnums)(x) = expected_grad(x)

    The gradient is the one that the author wrote down, which may differ from the derivative of the value on purpose.

    **Catches** factors and signs between a pseudo-loss and the update it is said to give.

    **Does not catch** an expected gradient that is itself wrong.
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises
    given, fn = subject.target.expected_grad, subject.target.fn
    assert given is not None

    def routes(primals: tuple[Any, ...]) -> Routes:
        numbers = _chosen(subject)
        ready = [jax.tree.map(on_device, x) if i in numbers else x for i, x in enumerate(primals)]
        right = attempt(lambda: gradient(subject)(fn, _choice(subject))(*ready)[0])
        left = attempt(lambda: given(*ready))
        if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
            left = [jnp.asarray(a, jnp.result_type(b)) for a, b in zip(left, right, strict=True)]
        return Routes(("expected_grad", "gradient"), argument_paths(subject, numbers), left, right)

    return agree(subject, point, routes)


def _has_reference(subject: Subject) -> str | None:
    return None if subject.target.reference is not None else "the target gives no reference"


@law("numeric", applies=_has_reference)
def reference(subject: Subject, point: Point) -> Verdict:
    """
    f(x) = reference(x), and their gradients agree

    Another implementation of the same function has the same value and the same derivatives, up to rounding.

    **Catches** faults in a fast implementation that a plain one does not share.

    **Does not catch** faults that both share.
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises
    fn, other = subject.target.fn, subject.target.reference
    assert other is not None
    numbers = subject.argnums

    def routes(primals: tuple[Any, ...]) -> Routes:
        left, right = attempt(lambda: other(*primals)), attempt(lambda: fn(*primals))
        if numbers and subject.is_scalar_loss and isinstance(left, list) and isinstance(right, list):
            ready = [jax.tree.map(on_device, x) if i in numbers else x for i, x in enumerate(primals)]
            left = attempt(lambda: (other(*ready), gradient_of_jax(subject)(other, numbers)(*ready)[0]))
            right = attempt(lambda: (fn(*ready), gradient(subject)(fn, numbers)(*ready)[0]))
            return Routes(
                ("reference", "f"), [*subject.array_output_paths, *argument_paths(subject, numbers)], left, right
            )
        return Routes(("reference", "f"), subject.array_output_paths, left, right)

    return agree(subject, point, routes)


def _has_rejects(subject: Subject) -> str | None:
    return None if subject.target.rejects else "the target declares no input that it rejects"


@law("contract", applies=_has_rejects, smooth_only=False)
def rejects(subject: Subject, point: Point) -> Verdict:
    """
    f(bad input) raises the declared error, not a number

    A function that refuses wrong shapes or values does so for each declared input, whatever the point.

    **Catches** broadcasting that turns a wrong shape into an arbitrary number, checks that were dropped.

    **Does not catch** bad input that nobody declared.
    """
    mismatches = []
    for i, (arguments, expected) in enumerate(subject.target.rejects):
        wanted = getattr(expected, "__name__", str(expected))
        try:
            value = subject.target.fn(*arguments)
        except expected:
            continue
        except Exception as error:  # noqa: BLE001  another error than the declared one is the violation
            got = f"raises {type(error).__name__}"
        else:
            leaf = next((x for x in jax.tree.leaves(value) if jnp.ndim(x) == 0), None)
            got = "returns a value" if leaf is None else f"returns {number(leaf)}"
        pair = (("declared", f"raises {wanted}"), ("f", got))
        mismatches.append(Mismatch(f"rejects[{i}]", (), pair, None, None, "bad input must raise the declared error"))
    return Violated(tuple(mismatches)) if mismatches else Holds()
