"""What a law is: a name, a formula, and how to judge it at a point."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import attrs
import jax.numpy as jnp

from .._environment import Environment
from .._errors import Falsified, UsageError
from .._finding import Finding
from .._jaxprs import indexes_arrays, refusal
from .._origin import stop_gradient_lines
from .._pairing import cotangents
from .._point import Point
from .._subject import Subject
from .._target import Target
from .._trees import is_array
from .._verdict import Undecided, Verdict, Violated
from ..oracles.automatic import reverse_mode
from ..oracles.bounded import LIMIT, ends

if TYPE_CHECKING:
    from ._rows import Rows

__all__ = ["Property", "finding", "law"]

SIGNATURES = 8  # whose compiled programs are kept for a function that is called as `properties.<law>(fn, ...)`


def _always(subject: Subject) -> str | None:
    return None


@attrs.frozen(eq=False)
class Property:
    """
    A law of differentiation. Calling it checks one function at one point.

    Attributes:
        name: the law's name in pytest ids, the corpus and the command line.
        group: the group it is listed under.
        judge: ``judge(subject, point)`` returns the `Verdict` at one point, alone and unbatched.
        applies: ``applies(subject)`` returns why the law does not apply to a target, or None where it does.
        screen: ``screen(rows)`` looks at many points at once. It returns suspicion scores, a row for each point (or
            one number), positive where the law may be broken, NaN where it has nothing to say; None if the law is
            judged point by point only.
        remarks: like ``screen``: one score a point, positive where the law may hold with a remark; it returns None if
            there can be no remark on the target.
        somewhere: the law asks for one point where it holds, not for all: a finding needs every point to fail.
        numeric: the law compares with the derivative of the value, so it is off where custom rules declare another one.
        smooth_only: the law is not meaningful at points with NaN or infinite entries.
        finite_value: the law is about points with a finite value only.
        probes: which points are judged alone although the screen does not accuse them: ``none``, one of each family of
            ``edges`` (where a derivative may be wrong on a set of measure zero), or one of ``all`` families.
        once: the law is about the program and not about the numbers: one point of a signature tells as much as many.
        on_request: the law costs seconds, and is judged only where ``properties`` names it.
        order: 2 for laws of second derivatives. They are screened by programs of their own, after those of the first
            order, and not at all where the first derivative is found to be wrong.
        doc: the docstring: formula, why it must hold, **Catches**, **Does not catch**.
        error: the exception class raised by a call; each law has its own.
    """

    name: str
    group: str
    judge: Callable[[Subject, Point], Verdict]
    applies: Callable[[Subject], str | None] = _always
    screen: Callable[[Rows], Any] | None = None
    remarks: Callable[[Rows], Any] | None = None
    somewhere: bool = False
    numeric: bool = False
    smooth_only: bool = True
    finite_value: bool = True
    probes: Literal["none", "edges", "all"] = "none"
    once: bool = False
    on_request: bool = False
    order: int = 1
    doc: str = ""
    error: type[Falsified] = Falsified

    @property
    def formula(self) -> str:
        """
        The law in one line.
        """
        return inspect.cleandoc(self.doc).splitlines()[0] if self.doc else self.name

    def why_not(self, subject: Subject) -> str | None:
        """
        Return why the law does not apply to a target, or None where it does.
        """
        if self.numeric and "custom_rules" in subject.target.intended:
            return "custom rules declare another derivative on purpose (intended=('custom_rules',))"
        return self.applies(subject)

    def __call__(self, fn: Callable[..., Any], *args: Any, **contract: Any) -> Verdict:
        """
        Check the law for ``fn`` at ``args``, for use inside one's own ``@given`` tests.

        Args:
            fn: the function under test.
            *args: concrete arguments: arrays, pytrees of arrays, keys, static values.
            **contract: options of `Target`, such as ``argnums`` or ``frozen``; ``seed`` chooses the tangents and
            cotangents.

        Returns:
            `Holds` or `Undecided`.

        Raises:
            Falsified: the law is violated; the class is the law's own ``error``.
            UsageError: the law does not apply to this function, or the contract is wrong.
        """
        seed = contract.pop("seed", 0)
        subject, point = _subject(fn, args, contract), Point(args, seed)
        reason = self.why_not(subject)
        if reason is not None:
            raise UsageError(f"{subject.target.name}: the law {self.name!r} does not apply: {reason}")
        verdict = self.judge(subject, point)
        if isinstance(verdict, Violated):
            raise self.error(finding(self, subject, point, verdict))
        return verdict


def _subject(fn: Callable[..., Any], args: tuple[Any, ...], contract: dict[str, Any]) -> Subject:
    """
    Return the subject of an earlier call with the same function, contract and signature, so that a test which checks
    many points compiles once; else a new one.
    """
    try:
        known = _subjects(fn, tuple(sorted(contract.items())))
    except TypeError:  # a contract that cannot be hashed is not kept
        return Subject(Target(fn, args, **contract), args)
    for subject in known:
        if subject.fits(args):
            return subject
    known.append(Subject(Target(fn, args, **contract), args))
    del known[:-SIGNATURES]
    return known[-1]


@functools.lru_cache(maxsize=16)
def _subjects(fn: Callable[..., Any], contract: tuple[Any, ...]) -> list[Subject]:
    return []


def finding(law: Property, subject: Subject, point: Point, verdict: Violated) -> Finding:
    """
    Return the finding that a violated law of a subject makes at a point.
    """
    notes = []
    constant = [name for i, name in enumerate(subject.argnames) if i not in subject.argnums]
    if constant and subject.argnums:
        chosen = ", ".join(subject.argnames[i] for i in subject.argnums)
        notes.append(f"differentiated with respect to {chosen}; constant: {', '.join(constant)}")
    indices = _indices(subject) if law.group in ("modes", "numeric") else []
    if indices:
        notes.append(
            f"{', '.join(indices)} holds integers that index an array; some are drawn out of range. If yours never "
            "are, say so in the spec: labels('n', below='c')"
        )
    if law.numeric and not subject.target.intended:
        lines = stop_gradient_lines(subject.target.fn, point.primals)
        if lines:
            notes.append(
                f"the function stops gradients at {', '.join(lines)}; if that is meant, say "
                "intended=('stop_gradient',): stopped values are then held fixed"
            )
    return Finding(
        property=law.name,
        formula=law.formula,
        target=subject.target.name,
        point=point,
        mismatches=verdict.mismatches,
        environment=Environment.current(),
        argnames=subject.argnames,
        notes=tuple(notes),
    )


def _indices(subject: Subject) -> list[str]:
    """
    Paths of the integer leaves of a function that indexes arrays.
    """
    names = [
        path
        for path, leaf in zip(subject.paths, subject.leaves, strict=True)
        if is_array(leaf) and jnp.issubdtype(jnp.result_type(leaf), jnp.integer)
    ]
    return names if names and subject.is_traceable and indexes_arrays(subject.traced) else []


def law(group: str, **options: Any) -> Callable[[Callable[[Subject, Point], Verdict]], Property]:
    """
    Turn ``judge(subject, point) -> Verdict`` into a law named like the function; options are `Property`'s attributes.

    The docstring's first line is the law's formula.
    """

    def decorate(judge: Callable[[Subject, Point], Verdict]) -> Property:
        name = judge.__name__
        if not judge.__doc__:
            raise UsageError(f"law {name!r} needs a docstring whose first line is its formula")
        title = "".join(part.capitalize() for part in name.split("_"))
        error = type(
            f"{title}Falsified",
            (Falsified,),
            {"__doc__": f"The law `{name}` is violated.", "__module__": judge.__module__},
        )
        return Property(name=name, group=group, judge=_decided(judge), doc=judge.__doc__, error=error, **options)

    return decorate


def _decided(judge: Callable[[Subject, Point], Verdict]) -> Callable[[Subject, Point], Verdict]:
    """
    Return a judge that is undecided where JAX has no derivative of the kind that it asks for.
    """

    @functools.wraps(judge)
    def decided(subject: Subject, point: Point) -> Verdict:
        try:
            return judge(subject, point)
        except Exception as error:
            reason = refusal(error)
            if reason is None:
                raise
            return Undecided(f"not possible in JAX: {reason}")

    return decided


def _loops_end(subject: Subject, point: Point) -> bool:
    u = cotangents(subject, point.seed)

    def derivative(moved: Any, held: Any) -> Any:
        def f(m: Any) -> Any:
            return subject.f(m, held)

        return f(moved), reverse_mode(f, moved, u)

    try:
        return ends(subject, point.primals, derivative)
    except Exception:  # noqa: BLE001  a function that cannot be traced raises below, where the reason is told
        return True


def undecided_if_raises(subject: Subject, point: Point) -> Undecided | None:
    """
    Return `Undecided` if the function itself raises at a point, or loops there without end: then no law has anything to
    say there.
    """
    if not _loops_end(subject, point):
        return Undecided(f"a loop does not end within {LIMIT} iterations here")
    try:
        subject.target.fn(*point.primals)
    except Exception as error:  # noqa: BLE001  the function under test may raise anything
        return Undecided(f"the function raises {type(error).__name__} here")
    return None
