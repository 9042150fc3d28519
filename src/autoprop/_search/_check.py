"""Every applicable law of a function at one given point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._errors import UsageError
from .._point import Point
from .._subject import Subject
from .._target import Target
from .._verdict import Verdict, Violated
from ..properties import chosen, finding

__all__ = ["check"]


def check(fn: Callable[..., Any], *args: Any, properties: Any = None, **contract: Any) -> Mapping[str, Verdict]:
    """
    Check every applicable law of ``fn`` at one point.

    Args:
        fn: the function under test.
        *args: concrete arguments.
        properties: names of the laws to check; all that apply by default.
        **contract: options of `Target`; ``seed`` chooses the tangents and cotangents.

    Returns:
        The verdict of each law that applies: `Holds` or `Undecided`.

    Raises:
        Falsified: a law is violated; the first one in listing order.
        UsageError: a law is unknown, or the contract is wrong.
    """
    seed = contract.pop("seed", 0)
    target = Target(fn, args, properties=properties, **contract)
    subject, point = Subject(target, args), Point(args, seed)
    verdicts: dict[str, Verdict] = {}
    for law in chosen(target):
        reason = law.why_not(subject)
        if reason is not None and target.properties is not None:
            raise UsageError(f"{target.name}: the law {law.name!r} was asked for but does not apply: {reason}")
        if reason is not None:
            continue
        verdict = law.judge(subject, point)
        if isinstance(verdict, Violated):
            raise law.error(finding(law, subject, point, verdict))
        verdicts[law.name] = verdict
    return verdicts
