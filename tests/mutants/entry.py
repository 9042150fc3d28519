"""What the table of mutants is made of: rules written by hand, mutants, and sound partners."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
import jax

from hypothesis_jax import like

__all__ = ["NUMBERS", "Mutant", "Partner", "Rule"]

NUMBERS = ("numeric", "custom_rule")  # either of these laws must see a first derivative that is wrong


@attrs.frozen(eq=False)
class Rule:
    """
    A function and its derivative by hand, one term for each argument.

    Attributes:
        name: what it computes.
        value: ``value(*primals)``.
        terms: ``terms[i](g, *primals)``, where g is the tangent of argument i and the result a tangent of the value;
            or, for a rule in ``reverse``, g is the cotangent of the value and the result the cotangent of argument i.
            None for an argument that is not differentiated.
        args: typical arguments.
        reverse: the rule is a custom_vjp, not a custom_jvp.
        spec: the spec of the arguments; ``like(*args)`` where it is not given.
        forward: the value that the rule returns beside the derivative.
        slips: mistakes that only this rule invites: what is wrong, the argument, and its wrong term.
    """

    name: str
    value: Callable[..., Any]
    terms: tuple[Callable[..., Any] | None, ...]
    args: tuple[Any, ...]
    reverse: bool = attrs.field(default=False, kw_only=True)
    spec: Any = attrs.field(default=attrs.Factory(lambda self: like(*self.args), takes_self=True), kw_only=True)
    forward: Callable[..., Any] = attrs.field(
        default=attrs.Factory(lambda self: self.value, takes_self=True), kw_only=True
    )
    slips: Mapping[str, tuple[int, Callable[..., Any]]] = attrs.field(factory=dict, kw_only=True)

    def term(self, i: int) -> Callable[..., Any]:
        """
        Return the term of argument i.
        """
        term = self.terms[i]
        assert term is not None, f"{self.name} has no derivative with respect to argument {i}"
        return term

    def replace(self, i: int, term: Callable[..., Any]) -> Rule:
        """
        Return the rule with another term for argument i.
        """
        return attrs.evolve(self, terms=(*self.terms[:i], term, *self.terms[i + 1 :]))

    def build(self) -> Callable[..., Any]:
        """
        Return the function with its custom rule.
        """
        value = self.value
        made: Any
        if self.reverse:
            made = jax.custom_vjp(lambda *primals: value(*primals))
            made.defvjp(
                lambda *primals: (self.forward(*primals), primals),
                lambda primals, c: tuple(None if term is None else term(c, *primals) for term in self.terms),
            )
        else:
            made = jax.custom_jvp(lambda *primals: value(*primals))
            made.defjvp(self._push)
        return _function(made, self.name, len(self.args))

    def _push(self, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        parts = [term(t, *primals) for term, t in zip(self.terms, tangents, strict=True) if term is not None]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return self.forward(*primals), total


def _function(made: Any, name: str, count: int) -> Callable[..., Any]:
    """
    Return ``made`` as a function whose signature says how many arguments it takes.
    """
    functions: dict[int, Callable[..., Any]] = {
        1: lambda x: made(x),
        2: lambda x, y: made(x, y),
        3: lambda x, y, z: made(x, y, z),
    }
    function = functions[count]
    function.__name__ = name.replace(" ", "_")
    return function


@attrs.frozen(eq=False)
class Mutant:
    """
    A function with one fault.

    Attributes:
        kind: the mutation, by which mutants are counted.
        base: the sound partner's name.
        fn: the function.
        args: typical arguments, which need not show the fault.
        laws: the laws that must catch it: any one of them is enough.
        spec: the spec of the arguments, by default ``like(*args)``.
        trigger: arguments at which the fault shows, or None where a search does not get to.
        contract: options of its `Target`.
        survives: why no law catches it, or an empty string.
    """

    kind: str
    base: str
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    laws: tuple[str, ...]
    spec: Any = attrs.field(default=attrs.Factory(lambda self: like(*self.args), takes_self=True), kw_only=True)
    trigger: tuple[Any, ...] | None = attrs.field(
        default=attrs.Factory(lambda self: self.args, takes_self=True), kw_only=True
    )
    contract: Mapping[str, Any] = attrs.field(factory=dict, kw_only=True)
    survives: str = attrs.field(default="", kw_only=True)

    @classmethod
    def of(cls, kind: str, rule: Rule, laws: tuple[str, ...], **options: Any) -> Mutant:
        """
        Return the mutant that a wrong rule makes.
        """
        return cls(kind, rule.name, rule.build(), rule.args, laws, spec=rule.spec, **options)

    @property
    def name(self) -> str:
        """
        Kind and base.
        """
        return f"{self.base}: {self.kind}"


@attrs.frozen(eq=False)
class Partner:
    """
    A sound function that no law may accuse.

    Attributes:
        name: what it computes.
        fn: the function.
        args: typical arguments.
        spec: the spec of the arguments, by default ``like(*args)``.
        contract: options of its `Target`.
    """

    name: str
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    spec: Any = attrs.field(default=attrs.Factory(lambda self: like(*self.args), takes_self=True), kw_only=True)
    contract: Mapping[str, Any] = attrs.field(factory=dict, kw_only=True)
