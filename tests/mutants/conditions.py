"""Faults that show under a condition only: at some values, sizes or dtypes, or under some transform."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import jax
import jax.numpy as jnp
import numpy as np

from hypothesis_jax import like

from .entry import NUMBERS, Mutant, Rule

__all__ = ["conditional"]

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


def _if(test: Callable[[Any], bool], i: int, wrong: Callable[[Any], Any]) -> Callable[[Rule], Rule]:
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


def _negated(found: Any) -> Any:
    return -found


def _more(found: Any) -> Any:
    return 1.25 * found


def _nan(found: Any) -> Any:
    return jnp.full_like(found, jnp.nan)


def _zero(found: Any) -> Any:
    return 0 * found


def _tied(x: Any) -> Any:
    return x == jnp.roll(x, 1, axis=-1) if x.size > 1 else jnp.zeros(x.shape, bool)


def _traced(x: Any) -> bool:
    return isinstance(x, jax.core.Tracer)


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
    _At("wrong at 1", lambda x: x == 1, _negated, NUMBERS, 1.0, (("log", 0), ("sqrt", 0), ("product", 0))),
    _At(
        "wrong at half integers",
        lambda x: (2 * x == jnp.round(2 * x)) & (x != jnp.round(x)),
        _negated,
        NUMBERS,
        1.5,
        (("sin", 0), ("cumsum", 0)),
    ),
    _At(
        "wrong for negative",
        lambda x: x < 0,
        _more,
        NUMBERS,
        -2.5,
        (("cube", 0), ("product", 0), ("recurrence", 0), ("quotient", 0)),
    ),
    _At(
        "wrong beyond 1000",
        lambda x: jnp.abs(x) > 1e3,
        _negated,
        NUMBERS,
        2000.0,
        (("product", 1), ("cube", 0), ("relu", 0), ("cumsum", 0), ("matmul", 0), ("log", 0)),
    ),
    _At(
        "wrong beyond 1e8",
        lambda x: jnp.abs(x) > 1e8,
        _negated,
        NUMBERS,
        1e9,
        (("relu", 0), ("multiply-add", 2), ("concatenation", 0), ("sqrt", 0)),
    ),
    _At(
        "wrong below 1e-6",
        lambda x: jnp.abs(x) < 1e-6,
        _more,
        NUMBERS,
        1e-9,
        (("sin", 0), ("sqrt", 0), ("multiply-add", 1), ("sum of columns", 0)),
    ),
    _At(
        "wrong between 20 and 40",
        lambda x: (jnp.abs(x) > 20) & (jnp.abs(x) < 40),
        _negated,
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
        _mutant(
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
        laws, wrong = (("finite",), _nan) if name in ("product", "max") else (NUMBERS, _negated)
        kind = "NaN at ties" if wrong is _nan else "wrong at ties"
        found.append(_mutant(kind, _where(_tied, i, wrong)(rules[name]), laws, trigger=trigger))
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
            changed = _if(test, 0, _negated)(rule)
            trigger = None if survives else vectors
            found.append(_mutant(kind, changed, NUMBERS, trigger=trigger, survives=survives))
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
            changed = _if(lambda x, dtype=dtype: x.dtype == dtype, 0, _negated)(rule)
            changed = attrs.evolve(changed, args=args, spec=like(*args))
            found.append(_mutant(f"wrong in {np.dtype(dtype).name}", changed, ("precision",)))
    return found


def _batched(term: Callable[..., Any], wrong: Callable[[Any], Any]) -> Callable[..., Any]:
    """
    Return a term that is wrong in a batch.
    """
    whole = jax.custom_batching.custom_vmap(lambda *args: term(*args))

    @whole.def_vmap
    def rule(size: int, batched: list[bool], *args: Any) -> Any:
        axes = [0 if b else None for b in batched]
        return wrong(jax.vmap(term, in_axes=axes, axis_size=size)(*args)), True

    return whole


def _vmaps(rules: dict[str, Rule]) -> list[Mutant]:
    found = []
    kinds: list[tuple[str, Callable[[Any], Any], Sequence[str]]] = [
        ("sign under vmap", _negated, ("tanh", "matmul", "softmax", "take")),
        ("batch reversed", lambda y: y[::-1], ("log", "cumsum", "variance")),
        ("first of the batch for all", lambda y: jnp.broadcast_to(y[:1], y.shape), ("relu", "where", "solve")),
        ("last of the batch dropped", lambda y: y.at[-1].mul(0), ("sqrt", "convolution", "sort")),
    ]
    for kind, wrong, names in kinds:
        for name in names:
            i = 1 if name == "where" else 0
            rule = rules[name]
            found.append(_mutant(kind, rule.replace(i, _batched(rule.term(i), wrong)), ("vmap",)))
    found += [
        _mutant(
            "value wrong under vmap", attrs.evolve(rules[name], value=_batched(rules[name].value, wrong)), ("vmap",)
        )
        for name, wrong in (("sin", _negated), ("mean", _more), ("segment sum", lambda y: y[::-1]))
    ]
    large = _batched(rules["reshape"].term(0), lambda y: -y if len(y) > 3 else y)
    found.append(
        _mutant(
            "sign in batches of more than 3",
            rules["reshape"].replace(0, large),
            ("vmap",),
            survives="the law vmap looks at batches of three points only",
        )
    )
    return found


def _traces(rules: dict[str, Rule]) -> list[Mutant]:
    found = []
    for name in ("tanh", "quotient", "cumsum", "softmax"):
        mutants = [
            ("wrong where traced", _if(_traced, 0, _negated), ("jit", *NUMBERS)),
            ("wrong where not traced", _if(lambda x: not _traced(x), 0, _negated), ("jit",)),
        ]
        found += [_mutant(kind, mutate(rules[name]), laws) for kind, mutate, laws in mutants]
    for name in ("sin", "norm"):
        value = rules[name].value
        asks = attrs.evolve(
            rules[name], value=lambda *p, value=value: value(*p) * (1.5 if _traced(p[0]) else 1.0), forward=value
        )
        found.append(_mutant("value asks whether it is traced", asks, ("jit", "value_and_grad")))
    return found


def _passes(rules: dict[str, Rule]) -> list[Mutant]:
    """
    Faults of the whole pass: its value, and the shapes and dtypes of its cotangents.
    """
    found = []
    for name in ("log", "matmul", "softmax", "decay"):
        value = rules[name].value
        off = attrs.evolve(rules[name], forward=lambda *p, value=value: 1.01 * value(*p))
        found.append(_mutant("value of the rule differs", off, ("value_and_grad",)))
    changes: list[tuple[str, Callable[[Any], Any], Sequence[str]]] = [
        ("summed to a scalar", jnp.sum, ("tanh", "take")),
        ("one axis more", lambda y: y[None], ("relu", "sort")),
        ("one entry short", lambda y: y[1:], ("cumsum", "log")),
        ("in float16", lambda y: y.astype(jnp.float16), ("sqrt", "matmul")),
        ("as a list", lambda y: [y], ("clip", "variance")),
        ("raises", lambda y: y.missing, ("softmax", "solve")),
    ]
    for kind, change, names in changes:
        for name in names:
            term = rules[name].term(0)
            wrong = rules[name].replace(0, lambda c, *p, term=term, change=change: change(term(c, *p)))
            found.append(_mutant(f"cotangent {kind}", wrong, ("structure",)))
    return found


def _mutant(kind: str, rule: Rule, laws: tuple[str, ...], **options: Any) -> Mutant:
    return Mutant(kind, rule.name, rule.build(), rule.args, laws, spec=rule.spec, **options)


def conditional(rules: dict[str, Rule]) -> list[Mutant]:
    """
    Return the mutants whose fault shows under a condition, or is not in a term.
    """
    makers = (_values, _ties, _sizes, _dtypes, _vmaps, _traces, _passes)
    return [mutant for make in makers for mutant in make(rules)]
