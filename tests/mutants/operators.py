"""Mutation operators: what may be wrong with one term of a rule, wherever it is evaluated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .entry import NUMBERS, Rule

__all__ = ["CURVATURE", "TERMS", "crooked"]

Term = Callable[..., Any]


def _scaled(factor: float) -> Callable[[Rule, int], Term]:
    def mutate(rule: Rule, i: int) -> Term:
        term = rule.term(i)
        return lambda g, *p: factor * term(g, *p)

    return mutate


def _shifted(rule: Rule, i: int) -> Term:
    term = rule.term(i)

    def shifted(g: Any, *p: Any) -> Any:
        if g.ndim:
            return term(jnp.roll(g, 1, axis=-1), *p)
        return jnp.roll(term(g, *p), 1)

    return shifted


def _neighbour(rule: Rule, i: int) -> Term:
    term = rule.term(i)
    return lambda g, *p: term(g, *(jnp.roll(x, 1, axis=-1) if jnp.ndim(x) else x for x in p))


def _of_the_value(rule: Rule, i: int) -> Term:
    term = rule.term(i)
    return lambda g, *p: term(g, rule.value(*p), *p[1:])


def _other_argument(rule: Rule, i: int) -> Term:
    others = [j for j, term in enumerate(rule.terms) if term is not None and j != i]
    return rule.term(others[0])


def _residuals_exchanged(rule: Rule, i: int) -> Term:
    term = rule.term(i)
    return lambda g, x, y, *p: term(g, y, x, *p)


def _rounded(rule: Rule, i: int) -> Term:
    term = rule.term(i)

    def rounded(g: Any, *p: Any) -> Any:
        found = term(g, *p)
        return found.astype(jnp.bfloat16).astype(found.dtype)

    return rounded


def _last_dropped(rule: Rule, i: int) -> Term:
    term = rule.term(i)

    def dropped(g: Any, *p: Any) -> Any:
        found = term(g, *p)
        return found.at[-1].mul(0) if found.ndim else found * (jnp.arange(jnp.size(p[i])) < 0).any()

    return dropped


def _clipped(rule: Rule, i: int) -> Term:
    term = rule.term(i)
    return lambda c, *p: term(jnp.clip(c, -0.1, 0.1), *p)


def _nonlinear(rule: Rule, i: int) -> Term:
    term = rule.term(i)
    return lambda c, *p: term(c * (1 + jnp.abs(c)), *p)


def _offset(rule: Rule, i: int) -> Term:
    term = rule.term(i)
    return lambda c, *p: term(c, *p) + 1e-2


def _normalised(rule: Rule, i: int) -> Term:
    term = rule.term(i)
    return lambda c, *p: term(c, *p) / jnp.max(jnp.abs(c))


def _held(rule: Rule, i: int) -> Term:
    term = rule.term(i)
    return lambda g, *p: term(g, *jax.lax.stop_gradient(p))


@jax.custom_jvp
def crooked(x: Any) -> Any:
    """
    The identity, with twice its derivative.
    """
    return x


crooked.defjvp(lambda primals, tangents: (primals[0], 2 * tangents[0]))


def _crooked(rule: Rule, i: int) -> Term:
    term = rule.term(i)
    return lambda g, *p: term(g, *(crooked(x) if jnp.issubdtype(jnp.result_type(x), jnp.inexact) else x for x in p))


# kind: (operator, laws, [(rule, argument), ...]); the rules are chosen so that each meets several operators.
TERMS: dict[str, tuple[Callable[[Rule, int], Term], tuple[str, ...], list[tuple[str, int]]]] = {
    "sign": (
        _scaled(-1.0),
        NUMBERS,
        [("sin", 0), ("quotient", 0), ("matmul", 1), ("softmax", 0), ("recurrence", 1), ("take", 0), ("inverse", 0)],
    ),
    "factor 2": (
        _scaled(2.0),
        NUMBERS,
        [("exp", 0), ("product", 1), ("logsumexp", 0), ("convolution", 1), ("sort", 0), ("decay", 1), ("where", 1)],
    ),
    "factor 1.01": (
        _scaled(1.01),
        NUMBERS,
        [("log", 0), ("power", 1), ("variance", 0), ("dot", 0), ("solve", 1), ("segment sum", 0), ("norm", 0)],
    ),
    "factor 1.0001": (
        _scaled(1.0001),
        NUMBERS,
        [("tanh", 0), ("cube", 0), ("mean", 0), ("square matmul", 0), ("recurrence", 0), ("layer norm", 0)],
    ),
    "zero": (
        _scaled(0.0),
        NUMBERS,
        [("reciprocal", 0), ("multiply-add", 2), ("interpolation", 2), ("outer product", 1), ("quadratic form", 1)],
    ),
    "one place on": (
        _shifted,
        NUMBERS,
        [("relu", 0), ("product", 0), ("cumsum", 0), ("max", 0), ("transpose", 0), ("difference", 0), ("decay", 0)],
    ),
    "residual of the neighbour": (
        _neighbour,
        NUMBERS,
        [("sin", 0), ("sqrt", 0), ("quotient", 1), ("softmax", 0), ("power", 0), ("norm", 0), ("sort", 0)],
    ),
    "residual of the value": (
        _of_the_value,
        NUMBERS,
        [("tanh", 0), ("cube", 0), ("product", 1), ("multiply-add", 1), ("reciprocal", 0), ("layer norm", 0)],
    ),
    "term of the other argument": (
        _other_argument,
        NUMBERS,
        [("product", 0), ("quotient", 0), ("power", 1), ("dot", 1), ("square matmul", 1), ("interpolation", 0)],
    ),
    "residuals exchanged": (
        _residuals_exchanged,
        NUMBERS,
        [("quotient", 1), ("power", 0), ("interpolation", 2), ("multiply-add", 0), ("dot", 0)],
    ),
    "rounded to bfloat16": (
        _rounded,
        (*NUMBERS, "precision"),
        [("exp", 0), ("mean", 0), ("solve", 1), ("variance", 0), ("log determinant", 0)],
    ),
    "last entry dropped": (
        _last_dropped,
        NUMBERS,
        [("cumsum", 0), ("concatenation", 1), ("convolution", 0), ("log", 0), ("segment sum", 0), ("reshape", 0)],
    ),
    "cotangent clipped": (
        _clipped,
        ("linear", *NUMBERS),
        [("relu", 0), ("recurrence", 0), ("matmul", 0)],
    ),
    "not linear": (
        _nonlinear,
        ("linear", *NUMBERS),
        [("tanh", 0), ("layer norm", 0), ("outer product", 0), ("solve", 1)],
    ),
    "offset": (_offset, ("linear", *NUMBERS), [("clip", 0), ("cumsum", 0), ("take", 0), ("quadratic form", 0)]),
    "cotangent normalised": (
        _normalised,
        ("linear", *NUMBERS),
        [("sqrt", 0), ("softmax", 0), ("where", 2), ("sum of columns", 0)],
    ),
}

# Operators that leave the first derivative right.
CURVATURE: dict[str, tuple[Callable[[Rule, int], Term], tuple[str, ...], list[tuple[str, int]]]] = {
    "residuals held constant": (
        _held,
        ("numeric_second",),
        [("sin", 0), ("tanh", 0), ("cube", 0), ("log", 0), ("logsumexp", 0), ("softmax", 0), ("recurrence", 0)],
    ),
    "residuals crooked": (
        _crooked,
        ("numeric_second",),
        [("exp", 0), ("sqrt", 0), ("reciprocal", 0), ("norm", 0), ("layer norm", 0), ("log determinant", 0)],
    ),
    "mixed derivative held": (
        _held,
        ("symmetric", "numeric_second"),
        [("product", 0), ("power", 0), ("dot", 1), ("matmul", 0), ("quotient", 0), ("decay", 1), ("multiply-add", 1)],
    ),
    "mixed derivative crooked": (
        _crooked,
        ("symmetric", "numeric_second"),
        [("product", 1), ("quadratic form", 0), ("quotient", 1), ("interpolation", 2), ("solve", 1)],
    ),
}
