"""Faults that show under a condition only: at some values, sizes or dtypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import jax.numpy as jnp
import numpy as np

from hypothesis_jax import like

from .entry import NUMBERS, Mutant, Rule

__all__ = ["conditional", "more", "negated", "only_if"]

F = np.float32


def _where(test: Callable[[Any], Any], i: int, wrong: Callable[[Any], Any]) -> Callable[[Rule], Rule]:
    """
    Make wrong the entries of a term at which a test of its argument holds.
    """

    def mutate(rule: Rule) -> Rule:
        term = rule.term(i)

        def changed(g: Any, *p: Any) -> Any:
            found, hit = term(g, *p), test(p[i])
            if jnp.shape(found) != jnp.shape(p[i]):
                hit = jnp.any(hit)
            return jnp.where(hit, wrong(found), found)

        return rule.replace(i, changed)

    return mutate


def only_if(test: Callable[[Any], bool], i: int, wrong: Callable[[Any], Any]) -> Callable[[Rule], Rule]:
    """
    Make a term wrong where a test in Python of its argument holds.
    """

    def mutate(rule: Rule) -> Rule:
        term = rule.term(i)

        def changed(g: Any, *p: Any) -> Any:
            found = term(g, *p)
            return wrong(found) if test(p[i]) else found

        return rule.replace(i, changed)

    return mutate


def negated(found: Any) -> Any:
    """Return the term with the other sign."""
    return -found


def more(found: Any) -> Any:
    """Return the term, a quarter too large."""
    return 1.25 * found


def _nan(found: Any) -> Any:
    return jnp.full_like(found, jnp.nan)


def _zero(found: Any) -> Any:
    return 0 * found


def _tied(x: Any) -> Any:
    return x == jnp.roll(x, 1, axis=-1) if x.size > 1 else jnp.zeros(x.shape, bool)


def _first(args: tuple[Any, ...], i: int, number: float) -> tuple[Any, ...]:
    """
    Return arguments whose i-th starts with a number; is all that number, if it is so small that it would not be seen.
    """
    x = np.array(args[i])
    x.reshape(-1)[: x.size if 0 < number < 1e-3 else 1] = number
    return (*args[:i], x, *args[i + 1 :])


@attrs.frozen(eq=False)
class _At:
    """
    A fault at some values of an argument.
    """

    kind: str
    test: Callable[[Any], Any]
    wrong: Callable[[Any], Any]
    laws: tuple[str, ...]
    number: float
    where: tuple[tuple[str, int], ...]


VALUES = [
    _At("NaN at 0", lambda x: x == 0, _nan, ("finite",), 0.0, (("sin", 0), ("relu", 0), ("product", 1), ("where", 1))),
    _At(
        "zero at 0", lambda x: x == 0, _zero, NUMBERS, 0.0, (("exp", 0), ("tanh", 0), ("multiply-add", 0), ("take", 0))
    ),
    _At("wrong at 1", lambda x: x == 1, negated, NUMBERS, 1.0, (("log", 0), ("sqrt", 0), ("product", 0))),
    _At(
        "wrong at half integers",
        lambda x: (2 * x == jnp.round(2 * x)) & (x != jnp.round(x)),
        negated,
        NUMBERS,
        1.5,
        (("sin", 0), ("cumsum", 0)),
    ),
    _At(
        "wrong for negative",
        lambda x: x < 0,
        more,
        NUMBERS,
        -2.5,
        (("cube", 0), ("product", 0), ("recurrence", 0), ("quotient", 0)),
    ),
    _At(
        "wrong beyond 1000",
        lambda x: jnp.abs(x) > 1e3,
        negated,
        NUMBERS,
        2000.0,
        (("product", 1), ("cube", 0), ("relu", 0), ("cumsum", 0), ("matmul", 0), ("log", 0)),
    ),
    _At(
        "wrong beyond 1e8",
        lambda x: jnp.abs(x) > 1e8,
        negated,
        NUMBERS,
        1e9,
        (("relu", 0), ("multiply-add", 2), ("concatenation", 0), ("sqrt", 0)),
    ),
    _At(
        "wrong below 1e-6",
        lambda x: jnp.abs(x) < 1e-6,
        more,
        NUMBERS,
        1e-9,
        (("sin", 0), ("sqrt", 0), ("multiply-add", 1), ("sum of columns", 0)),
    ),
    _At(
        "wrong between 20 and 40",
        lambda x: (jnp.abs(x) > 20) & (jnp.abs(x) < 40),
        negated,
        NUMBERS,
        30.0,
        (("sin", 0), ("product", 0), ("difference", 0)),
    ),
    _At(
        "saturated too early",
        lambda x: jnp.abs(x) > 4,
        _zero,
        NUMBERS,
        5.0,
        (("tanh", 0), ("logsumexp", 0), ("quotient", 0)),
    ),
]


def _values(rules: dict[str, Rule]) -> list[Mutant]:
    return [
        Mutant.of(
            at.kind,
            _where(at.test, i, at.wrong)(rules[name]),
            at.laws,
            trigger=_first(rules[name].args, i, at.number),
        )
        for at in VALUES
        for name, i in at.where
    ]


def _ties(rules: dict[str, Rule]) -> list[Mutant]:
    found = []
    for name, i in (("product", 0), ("softmax", 0), ("sum of columns", 0), ("max", 0)):
        args = rules[name].args
        trigger = (*args[:i], np.full_like(args[i], 1.5), *args[i + 1 :])
        laws, wrong = (("finite",), _nan) if name in ("product", "max") else (NUMBERS, negated)
        kind = "NaN at ties" if wrong is _nan else "wrong at ties"
        found.append(Mutant.of(kind, _where(_tied, i, wrong)(rules[name]), laws, trigger=trigger))
    return found


def _sizes(rules: dict[str, Rule]) -> list[Mutant]:
    tests: list[tuple[str, Callable[[Any], bool], int, Sequence[str], str]] = [
        ("wrong above 8 elements", lambda x: x.size > 8, 9, ("sin", "cumsum", "softmax", "dot", "recurrence"), ""),
        ("wrong at one element", lambda x: x.size == 1, 1, ("tanh", "logsumexp", "product"), ""),
        ("wrong at even sizes", lambda x: x.size % 2 == 0, 4, ("relu", "sort"), ""),
        (
            "wrong above 1000 elements",
            lambda x: x.size > 1000,
            1001,
            ("exp",),
            "no pool of signatures has so many elements, except in float16 and bfloat16",
        ),
    ]
    found = []
    for kind, test, size, names, survives in tests:
        for name in names:
            rule = rules[name]
            vectors = tuple(np.resize(x, size) if np.ndim(x) == 1 else x for x in rule.args)
            changed = only_if(test, 0, negated)(rule)
            trigger = None if survives else vectors
            found.append(Mutant.of(kind, changed, NUMBERS, trigger=trigger, survives=survives))
    return found


def _dtypes(rules: dict[str, Rule]) -> list[Mutant]:
    found = []
    for dtype, names in (
        (jnp.bfloat16, ("sin", "product", "cumsum", "softmax")),
        (jnp.float16, ("tanh", "dot", "relu", "mean")),
        (jnp.float32, ("exp", "quotient", "logsumexp", "transpose")),
    ):
        for name in names:
            rule = rules[name]
            args = tuple(np.asarray(jnp.asarray(x, dtype)) for x in rule.args)
            changed = only_if(lambda x, dtype=dtype: x.dtype == dtype, 0, negated)(rule)
            changed = attrs.evolve(changed, args=args, spec=like(*args))
            found.append(Mutant.of(f"wrong in {np.dtype(dtype).name}", changed, ("precision",)))
    return found


def conditional(rules: dict[str, Rule]) -> list[Mutant]:
    """
    Return the mutants whose fault shows under a condition.
    """
    return [mutant for make in (_values, _ties, _sizes, _dtypes) for mutant in make(rules)]
