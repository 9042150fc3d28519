"""What is verified: a function, the spec of its arguments, and its contract."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import attrs

from ._errors import UsageError

__all__ = ["INTENDED", "Target", "argument_names"]

INTENDED = ("stop_gradient", "custom_rules")


def argument_names(fn: Callable[..., Any], count: int) -> tuple[str, ...]:
    """
    Return a name for each of ``count`` positional arguments: the signature's, or ``args[i]`` where it has none.
    """
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):  # builtins and some callables have no signature
        parameters = []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in parameters if parameter.kind in kinds]
    return tuple(names[i] if i < len(names) else f"args[{i}]" for i in range(count))


def _name(fn: Callable[..., Any]) -> str:
    """
    Return a function's own name; of a partial one, that of what it calls.
    """
    while isinstance(fn, functools.partial):
        fn = fn.func
    return getattr(fn, "__name__", type(fn).__name__)


def _names(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _cases(value: Any) -> tuple[Any, ...]:
    return tuple(value)


def _numbers(value: Any) -> int | tuple[int, ...] | None:
    if value is None or isinstance(value, int):
        return value
    return tuple(value)


def _tuple(value: Any) -> Any:
    """
    Return the tuple of arguments: of a tuple or list itself, of anything else but a strategy a tuple of one.
    """
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return value  # the result of `like` stays what it is: it knows the sizes of its example
    if isinstance(value, list):
        return tuple(value)
    return value if _is_strategy(value) else (value,)


def _is_strategy(value: Any) -> bool:
    return any(base.__name__ == "SearchStrategy" for base in type(value).__mro__)


@attrs.frozen(eq=False)
class Target:
    """
    A function, the spec of its arguments, and its contract.

    Attributes:
        fn: the function under test, called with positional arguments. Bind keywords with `functools.partial`, or wrap
            it, ``lambda x, w: f(x, weight=w)``, if a keyword's value is to be drawn.
        args: a tuple of specs, one for each argument; ``like(...)``; the spec of a single argument; or a
            Hypothesis strategy that draws the whole tuple of arguments. Values that are not arrays are static: they
            are passed as they are and never traced (``static("mean", "sum")`` tries several).
        name: how the target is called in messages and in the corpus; by default the function's name.
        argnums: positions that are differentiated; by default every argument that holds floating or complex arrays.
        frozen: arguments or leaf paths (``"target_params"``, ``"params['w']"``) whose derivative must be exactly zero.
        live: arguments or leaf paths that must get a non-zero gradient somewhere.
        intended: ``"stop_gradient"`` if stops are meant: numeric laws then hold the stopped values fixed.
            ``"custom_rules"`` if custom rules declare another derivative on purpose: numeric laws then do not apply.
        rejects: tuples ``(arguments, exception type)``: calling ``fn(*arguments)`` must raise that exception.
        reference: another implementation, whose value and gradient must agree.
        expected_grad: the analytic gradient, a function of the same arguments that returns what the gradient
            transform returns for ``argnums``.
        gradient: the gradient transform under test, called as ``gradient(fn, argnums)(*arguments)``, and as
            ``gradient(fn, argnums, has_aux=True)(*arguments)`` if the target has aux; by default `jax.grad`.
        has_aux: fn returns a pair ``(value, aux)``, as for `jax.grad`: derivatives are those of the value, and aux is
            carried along.
        properties: names of the laws to run; all that apply by default.
        tolerance: relative tolerance that replaces the derived bounds of agreement between routes; None keeps them.
    """

    fn: Callable[..., Any]
    args: Any = attrs.field(default=(), converter=_tuple)
    name: str = attrs.field(kw_only=True, default=None, converter=attrs.converters.optional(str))
    argnums: int | tuple[int, ...] | None = attrs.field(kw_only=True, default=None, converter=_numbers)
    frozen: tuple[str, ...] = attrs.field(kw_only=True, default=(), converter=_names)
    live: tuple[str, ...] = attrs.field(kw_only=True, default=(), converter=_names)
    intended: tuple[str, ...] = attrs.field(kw_only=True, default=(), converter=_names)
    rejects: tuple[Any, ...] = attrs.field(kw_only=True, default=(), converter=_cases)
    reference: Callable[..., Any] | None = attrs.field(kw_only=True, default=None)
    expected_grad: Callable[..., Any] | None = attrs.field(kw_only=True, default=None)
    gradient: Callable[..., Any] | None = attrs.field(kw_only=True, default=None)
    has_aux: bool = attrs.field(kw_only=True, default=False)
    properties: tuple[str, ...] | None = attrs.field(
        kw_only=True, default=None, converter=attrs.converters.optional(_names)
    )
    tolerance: float | None = attrs.field(kw_only=True, default=None)

    def __attrs_post_init__(self) -> None:
        if not callable(self.fn):
            raise UsageError(f"Target: fn={self.fn!r} must be callable")
        if self.name is None:
            object.__setattr__(self, "name", _name(self.fn))
        if not isinstance(self.has_aux, bool):
            raise UsageError(f"{self.name}: has_aux={self.has_aux!r} must be True or False")
        for option in ("reference", "expected_grad", "gradient"):
            value = getattr(self, option)
            if value is not None and not callable(value):
                raise UsageError(f"{self.name}: {option}={value!r} must be a function")
        for word in self.intended:
            if word not in INTENDED:
                raise UsageError(
                    f"{self.name}: intended={word!r} is not known; it must be one of {', '.join(INTENDED)}"
                )
        if self.tolerance is not None and not (isinstance(self.tolerance, (int, float)) and self.tolerance > 0):
            raise UsageError(f"{self.name}: tolerance={self.tolerance!r} must be positive")
        for case in self.rejects:
            pair = isinstance(case, tuple) and len(case) == 2 and isinstance(case[0], tuple)
            if not (pair and isinstance(case[1], type) and issubclass(case[1], BaseException)):
                raise UsageError(f"{self.name}: rejects={case!r} must be a pair (tuple of arguments, exception type)")
        if isinstance(self.args, tuple) and self.args:
            self.positions(len(self.args))

    def positions(self, count: int) -> tuple[int, ...] | None:
        """
        Return the differentiated positions, counted from 0, or None for "all that hold inexact arrays".

        Raises:
            UsageError: an argnum is out of range, or is given twice.
        """
        if self.argnums is None:
            return None
        numbers = (self.argnums,) if isinstance(self.argnums, int) else self.argnums
        for number in numbers:
            if isinstance(number, bool) or not isinstance(number, int) or not -count <= number < count:
                raise UsageError(
                    f"{self.name}: argnums={self.argnums!r} is out of range: the function is given {count} "
                    f"argument{'s' if count != 1 else ''}, so each must lie in {-count} .. {count - 1}"
                )
        found = tuple(number % count for number in numbers)
        if len(set(found)) < len(found):
            raise UsageError(f"{self.name}: argnums={self.argnums!r} names an argument twice; name each once")
        return found

    def replace(self, **changes: Any) -> Target:
        """
        Return a copy with some attributes changed.
        """
        return attrs.evolve(self, **changes)
