"""Faults of a whole pass: under vmap, where it is traced, in its value, and in the shapes that it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import jax
import jax.numpy as jnp

from .conditions import more, negated, only_if
from .entry import NUMBERS, Mutant, Rule

__all__ = ["whole"]


def _traced(x: Any) -> bool:
    return isinstance(x, jax.core.Tracer)


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
        ("sign under vmap", negated, ("tanh", "matmul", "softmax", "take")),
        ("batch reversed", lambda y: y[::-1], ("log", "cumsum", "variance")),
        ("first of the batch for all", lambda y: jnp.broadcast_to(y[:1], y.shape), ("relu", "where", "solve")),
        ("last of the batch dropped", lambda y: y.at[-1].mul(0), ("sqrt", "convolution", "sort")),
    ]
    for kind, wrong, names in kinds:
        for name in names:
            i = 1 if name == "where" else 0
            rule = rules[name]
            found.append(Mutant.of(kind, rule.replace(i, _batched(rule.term(i), wrong)), ("vmap",)))
    found += [
        Mutant.of(
            "value wrong under vmap", attrs.evolve(rules[name], value=_batched(rules[name].value, wrong)), ("vmap",)
        )
        for name, wrong in (("sin", negated), ("mean", more), ("segment sum", lambda y: y[::-1]))
    ]
    for size, survives in ((3, ""), (8, "the law vmap looks at batches of five points only")):
        large = _batched(rules["reshape"].term(0), lambda y, size=size: -y if len(y) > size else y)
        kind = f"sign in batches of more than {size}"
        found.append(Mutant.of(kind, rules["reshape"].replace(0, large), ("vmap",), survives=survives))
    return found


def _traces(rules: dict[str, Rule]) -> list[Mutant]:
    found = []
    for name in ("tanh", "quotient", "cumsum", "softmax"):
        mutants = [
            ("wrong where traced", only_if(_traced, 0, negated), ("jit", *NUMBERS)),
            ("wrong where not traced", only_if(lambda x: not _traced(x), 0, negated), ("jit",)),
        ]
        found += [Mutant.of(kind, mutate(rules[name]), laws) for kind, mutate, laws in mutants]
    for name in ("sin", "norm"):
        value = rules[name].value
        asks = attrs.evolve(
            rules[name], value=lambda *p, value=value: value(*p) * (1.5 if _traced(p[0]) else 1.0), forward=value
        )
        found.append(Mutant.of("value asks whether it is traced", asks, ("jit", "value_and_grad")))
    return found


def _passes(rules: dict[str, Rule]) -> list[Mutant]:
    """
    Faults of the whole pass: its value, and the shapes and dtypes of its cotangents.
    """
    found = []
    for name in ("log", "matmul", "softmax", "decay"):
        value = rules[name].value
        off = attrs.evolve(rules[name], forward=lambda *p, value=value: 1.01 * value(*p))
        found.append(Mutant.of("value of the rule differs", off, ("value_and_grad",)))
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
            found.append(Mutant.of(f"cotangent {kind}", wrong, ("structure",)))
    return found


def whole(rules: dict[str, Rule]) -> list[Mutant]:
    """
    Return the mutants whose fault is not in a term.
    """
    return [mutant for make in (_vmaps, _traces, _passes) for mutant in make(rules)]
