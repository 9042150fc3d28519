"""The fields of a case, and how they become a file's text and a Finding."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from autoprop._environment import Environment
from autoprop._errors import CorpusError
from autoprop._verdict import Mismatch

from . import text
from .preview import preview

if TYPE_CHECKING:
    from autoprop._finding import Finding
    from autoprop._point import Point

__all__ = ["FORMAT", "GIVEN", "Case", "dumps", "fingerprint", "from_arguments", "from_finding", "loads", "to_finding"]

FORMAT = 1
"""The format that this autoprop writes, and the only one that it reads."""

GIVEN = "given"
"""The law of a case that comes from a user's own ``@given`` test."""

_POINT = ("primals", "seed", "family")


@attrs.frozen
class Case:
    """
    What one corpus file says. The arguments stay encoded until they are asked for, so reading needs no jax.

    Attributes:
        target: ``pkg.module:name``, ``path/file.py:name`` or the id of a pytest test without its parameters.
        law: name of the violated law, or ``given`` for a user's own ``@given`` test.
        preview: short decimal view of the arguments, for people.
        arguments: encoded; for a law ``primals``, ``seed`` and ``family`` of its point, for ``given`` name to value.
        argnames: name of each primal, as far as known.
        error: what went wrong, in one line, such as ``AssertionError: …``.
        mismatches: the routes that disagreed, the worst first; empty for ``given``.
        formula: the law in one line; empty for ``given``.
        cause: file, line and function of the equation at fault, or None.
        notes: advice, one sentence each.
        xfail: why the case is known and tolerated, or None.
        x64: whether ``jax_enable_x64`` was on, without which the arguments may not load.
        environment: where it was found.
        created: day on which it was found, as ISO date.
        name: the file it was read from, for errors; empty for a case that was not read.
    """

    target: str
    law: str
    preview: str
    arguments: dict[str, Any]
    argnames: tuple[str, ...]
    error: str
    mismatches: tuple[Mismatch, ...]
    formula: str
    cause: str | None
    notes: tuple[str, ...]
    xfail: str | None
    x64: bool
    environment: Environment
    created: str
    name: str = attrs.field(default="", eq=False)

    def __attrs_post_init__(self) -> None:
        label = self.name or f"case of {self.target}"
        if not self.target or not self.law:
            raise CorpusError(f"{label}: target {self.target!r} and law {self.law!r} must not be empty")
        if self.law == GIVEN:
            return
        if sorted(self.arguments) != sorted(_POINT):
            raise CorpusError(
                f"{label}: the arguments of a law are {', '.join(_POINT)}, not {', '.join(self.arguments)}"
            )
        if type(self.arguments["seed"]) is not int or type(self.arguments["family"]) is not str:
            raise CorpusError(f"{label}: the seed of a point is an integer and its family is text")
        if not self.mismatches:
            raise CorpusError(f"{label}: a violated law has at least one mismatch")

    def replace(self, **changes: Any) -> Case:
        """
        Return a copy with some attributes changed.
        """
        return attrs.evolve(self, **changes)

    def values(self) -> dict[str, Any]:
        """
        Decode the arguments of a ``given`` case, by name.
        """
        if self.law != GIVEN:
            raise CorpusError(f"{self.name or self.target}: a case of law {self.law!r} holds a point; use point()")
        from .codec import decode

        return {key: decode(value, name=self._label(key)) for key, value in self.arguments.items()}

    def point(self) -> Point:
        """
        Decode the point of a law's case.
        """
        if self.law == GIVEN:
            raise CorpusError(f"{self.name or self.target}: a case of a @given test holds values; use values()")
        from autoprop._point import Point

        from .codec import decode

        primals = decode(self.arguments["primals"], name=self._label("primals"))
        if type(primals) is not tuple:
            raise CorpusError(f"{self._label('primals')}: must be a tuple, but is a {type(primals).__name__}")
        return Point(primals, seed=self.arguments["seed"], family=self.arguments["family"])

    def _label(self, part: str) -> str:
        return f"{self.name}: {part}" if self.name else part


def fingerprint(case: Case) -> str:
    """
    Return the sha256, in hex, of what makes a case that case: its target, its law and the exact bits of its arguments.

    Where it was found, when, by which family and how far the routes were apart do not count.
    """
    from .codec import canonical

    try:
        exact = canonical({key: value for key, value in case.arguments.items() if case.law == GIVEN or key != "family"})
    except CorpusError as error:
        raise CorpusError(f"{case.name}: {error}" if case.name else str(error)) from None
    identity = [case.target, case.law, sorted(exact.items())]
    return hashlib.sha256(json.dumps(identity, separators=(",", ":")).encode()).hexdigest()


def from_finding(finding: Finding, *, xfail: str | None = None) -> Case:
    """
    Return the case that keeps a finding.

    Raises:
        CorpusError: an argument cannot be stored; the message names it.
    """
    from .codec import encode

    names = finding.argnames if len(finding.argnames) == len(finding.point.primals) else ()
    labels = names or tuple(f"argument {at}" for at in range(len(finding.point.primals)))
    primals = [encode(value, name=name) for name, value in zip(labels, finding.point.primals, strict=True)]
    worst = finding.mismatch
    at = f"{worst.leaf}{list(worst.index)}" if worst.index else worst.leaf
    return Case(
        target=finding.target,
        law=finding.property,
        preview=preview(dict(zip(labels, primals, strict=True))),
        arguments={
            "primals": {"$": "tuple", "v": primals},
            "seed": int(finding.point.seed),
            "family": finding.point.family,
        },
        argnames=finding.argnames,
        error=f"{finding.property}: {at}: " + ", ".join(f"{route} gives {what}" for route, what in worst.routes),
        mismatches=finding.mismatches,
        formula=finding.formula,
        cause=finding.cause,
        notes=finding.notes,
        xfail=xfail,
        x64=finding.environment.x64,
        environment=finding.environment,
        created=_today(),
    )


def from_arguments(
    target: str,
    arguments: Mapping[str, Any],
    *,
    error: str,
    notes: tuple[str, ...] = (),
    xfail: str | None = None,
    environment: Environment | None = None,
) -> Case:
    """
    Return the case that keeps a failing example of a user's own ``@given`` test.

    Args:
        target: id of the test, without parameters.
        arguments: the values that Hypothesis drew, by name.
        error: the error in one line, such as ``AssertionError: …``.
        notes: advice, one sentence each.
        xfail: why the case is known and tolerated.
        environment: where it failed; this process if None.

    Raises:
        CorpusError: an argument cannot be stored; the message names it.
    """
    from .codec import encode

    encoded = {name: encode(value, name=name) for name, value in arguments.items()}
    environment = environment or Environment.current()
    return Case(
        target=target,
        law=GIVEN,
        preview=preview(encoded),
        arguments=encoded,
        argnames=tuple(encoded),
        error=error,
        mismatches=(),
        formula="",
        cause=None,
        notes=notes,
        xfail=xfail,
        x64=environment.x64,
        environment=environment,
        created=_today(),
    )


def to_finding(case: Case) -> Finding:
    """
    Return the finding that a law's case keeps.
    """
    point = case.point()
    from autoprop._finding import Finding

    return Finding(
        property=case.law,
        formula=case.formula,
        target=case.target,
        point=point,
        mismatches=case.mismatches,
        environment=case.environment,
        argnames=case.argnames,
        cause=case.cause,
        notes=case.notes,
        case=case.name or None,
    )


def dumps(case: Case) -> str:
    """
    Return the text of a case's file.
    """
    from .envelope import unstructure

    return text.write({"autoprop_case": FORMAT, **unstructure(case)})


def loads(source: str, *, name: str) -> Case:
    """
    Return the case of a file's text.

    Args:
        source: the text.
        name: the file, for errors.

    Raises:
        CorpusError: the text is not a case of a format that this autoprop reads.
    """
    document = text.parse(source, name=name)
    if "autoprop_case" not in document:
        raise CorpusError(f'{name}: not a case: the key "autoprop_case" with the format number is missing')
    version = document.pop("autoprop_case")
    if type(version) is not int or version != FORMAT:
        raise CorpusError(
            f"{name}: has format {version!r}, but this autoprop reads format {FORMAT}; "
            "use the version of autoprop that wrote it, or a newer one"
        )
    from .envelope import structure

    return structure(document, name)


def _today() -> str:
    return dt.datetime.now(dt.UTC).date().isoformat()
