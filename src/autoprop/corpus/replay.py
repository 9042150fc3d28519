"""Stored cases, judged again."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from autoprop._environment import Environment
from autoprop._errors import AutopropError, CorpusError, UsageError
from autoprop._events import Event, Finished, Found, Started
from autoprop._finding import Finding
from autoprop._point import Point
from autoprop._target import Target
from autoprop._verdict import Holds, Mismatch

from .record import GIVEN, Case, to_finding
from .store import Store

__all__ = ["replay", "replay_case"]

Resolve = Callable[[str], Target]


def replay(
    corpus: Store | str | os.PathLike[str], *, resolve: Resolve | None = None, paths: Iterable[Path] | None = None
) -> Iterator[Event]:
    """
    Judge the stored cases again, each at exactly its stored arguments.

    Args:
        corpus: the folder of the cases.
        resolve: returns the target of a case's ``target``, or raises `UsageError`; by default the target is imported.
        paths: the cases to judge; by default all.

    Yields:
        `Started`, one `Found` per case, `Finished`. A state is ``open`` (still violated), ``known`` (still violated,
        and the case says why that is tolerated), ``fixed``, ``undecided`` or ``stale`` (the target or its arguments
        changed, or the file is refused).
    """
    store = corpus if isinstance(corpus, Store) else Store(Path(corpus))
    chosen = list(store.cases() if paths is None else paths)
    began = time.monotonic()
    yield Started(targets=(), settings=None, environment=Environment.current())
    still = []
    for path in chosen:
        found = replay_case(store, path, resolve=resolve)
        if found.state in ("open", "known"):
            still.append(found.finding)
        yield found
    yield Finished(findings=tuple(still), points=len(chosen), seconds=time.monotonic() - began)


def replay_case(store: Store, path: Path, *, resolve: Resolve | None = None) -> Found:
    """
    Judge one stored case again.
    """
    try:
        case = store.load(path)
    except CorpusError as error:
        return _refused(path, str(error))
    if case.law == GIVEN:
        found = _replay_given(case, path)
    else:
        try:
            found = _replay_law(case, path, resolve)
        except (CorpusError, UsageError) as error:
            found = Found(_known(case, path), str(path), "stale", str(error))
    if case.xfail and found.state == "open":
        return Found(found.finding, found.case, "known", f"tolerated: {case.xfail}")
    if case.xfail and found.state == "fixed":
        return Found(found.finding, found.case, "fixed", "no longer violated: remove its xfail")
    return found


def _replay_law(case: Case, path: Path, resolve: Resolve | None) -> Found:
    from autoprop.properties import judge

    if resolve is None:
        from autoprop._discover import resolve as by_import

        resolve = by_import
    with _precision(case.x64):
        target = resolve(case.target).replace(name=case.target)
        stored = to_finding(case).replace(case=str(path))
        refusal = _refuses(target, stored.point)
        if refusal:
            return Found(stored, str(path), "stale", refusal)
        try:
            verdict = judge(target, case.law, stored.point)
        except AutopropError:
            raise
        except Exception as error:  # noqa: BLE001 - the function under test may raise anything
            return Found(stored, str(path), "stale", f"{case.target} raises {_line(error)} at the stored arguments")
        if isinstance(verdict, Finding):
            again = verdict.replace(target=case.target, case=str(path), cause=verdict.cause or case.cause)
            return Found(again, str(path), "open")
        if isinstance(verdict, Holds):
            return Found(stored, str(path), "fixed")
        raised = _raises(target, stored.point)
        if raised:
            return Found(stored, str(path), "stale", f"{case.target} raises {raised} at the stored arguments")
        return Found(stored, str(path), "undecided", getattr(verdict, "reason", ""))


def _precision(x64: bool) -> AbstractContextManager[Any]:
    """
    Judge with 64-bit values on or off as they were when the case was found.
    """
    import jax

    if bool(jax.config.jax_enable_x64) == x64:
        return nullcontext()
    context: AbstractContextManager[Any] = jax.enable_x64(x64)
    return context


def _refuses(target: Target, point: Point) -> str:
    """
    Say why a target cannot be given these arguments, or nothing.
    """
    try:
        inspect.signature(target.fn).bind(*point.primals)
    except TypeError as error:
        return f"the case stores {len(point.primals)} arguments, which {target.name} does not take: {error}"
    except ValueError:  # a builtin without a signature
        return ""
    return ""


def _raises(target: Target, point: Point) -> str:
    try:
        target.fn(*point.primals)
    except Exception as error:  # noqa: BLE001 - the function under test may raise anything
        return _line(error)
    return ""


def _line(error: Exception) -> str:
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _replay_given(case: Case, path: Path) -> Found:
    from .rerun import rerun

    state, reason = rerun(case, path)
    return Found(_known(case, path), str(path), state, reason)


def _known(case: Case, path: Path) -> Finding:
    """
    Return the finding that a case keeps, without its arguments where they cannot be read.
    """
    seen = ""
    try:
        if case.law != GIVEN:
            return to_finding(case).replace(case=str(path))
        values = case.values()
        point, names = Point(tuple(values.values())), tuple(values)
    except CorpusError:
        point, names, seen = Point(()), (), case.preview
    return Finding(
        property=case.law,
        formula=case.formula,
        target=case.target,
        point=point,
        mismatches=case.mismatches or (Mismatch("test", (), (("raised", case.error),), None, None, seen),),
        environment=case.environment,
        argnames=names,
        cause=case.cause,
        notes=case.notes,
        case=str(path),
    )


def _refused(path: Path, reason: str) -> Found:
    """
    Stand in for a file that cannot be read; its name says which law and target it belongs to.
    """
    finding = Finding(
        property=path.stem.rpartition("-")[0] or path.stem,
        formula="",
        target=path.parent.name,
        point=Point(()),
        mismatches=(Mismatch("case", (), (), None, None, reason),),
        environment=Environment.current(),
        case=str(path),
    )
    return Found(finding, str(path), "stale", reason)
