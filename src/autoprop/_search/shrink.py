"""From a point at which a law is broken to the smallest one: Hypothesis' shrinker, then smaller shapes."""

from __future__ import annotations

import time
import unittest
import warnings
from collections.abc import Callable
from typing import Any

from hypothesis import Phase, find, settings
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.errors import HypothesisException, HypothesisWarning, NoSuchExample

import hypothesis_jax as hj

from .._point import Point
from .._subject import Subject
from .._target import Target
from .._verdict import Verdict, Violated
from ..properties import Property
from .signatures import Slot

__all__ = ["shrink"]

EVALUATIONS = 120  # judgements that the shrinker may ask for at one signature
SHAPES = 8  # smaller shapes that are tried; each costs compilations


class _Judge:
    """
    Whether a law is violated at arguments, within a time limit; remembers the last violation.
    """

    def __init__(self, target: Target, law: Property, point: Point, deadline: float) -> None:
        self.target, self.law, self.point, self.deadline = target, law, point, deadline
        self.subject: Subject | None = None
        self.best: tuple[Subject, Point, Violated] | None = None

    def __call__(self, primals: Any) -> bool:
        if time.perf_counter() > self.deadline:
            return False
        primals = tuple(primals)
        if self.subject is None or not self.subject.fits(primals):
            self.subject = Subject(self.target, primals)
        point = self.point.replace(primals=primals)
        try:
            verdict: Verdict = self.law.judge(self.subject, point)
        except Exception:  # noqa: BLE001  where the function cannot even run there is no smaller counterexample
            return False
        if isinstance(verdict, Violated):
            self.best = self.subject, point, verdict
            return True
        return False


def shrink(
    slot: Slot, law: Property, point: Point, verdict: Violated, seconds: float
) -> tuple[Subject, Point, Violated]:
    """
    Return the smallest point found at which the law is still violated, its subject and its verdict.

    Args:
        slot: the signature of the point.
        law: the violated law.
        point: where it is violated.
        verdict: its verdict there.
        seconds: wall time that shrinking may take.
    """
    deadline = time.perf_counter() + seconds
    judge = _Judge(slot.subject.target, law, point, deadline)
    judge.subject = slot.subject
    best = slot.subject, point, verdict
    signature = slot.signature
    for _ in range(SHAPES):
        step = _smaller(slot.spec, signature, best[1].primals, judge)
        if step is None:
            break
        signature, best = step
    judge.best, judge.subject = None, best[0]
    _values(slot.spec, signature, best[1], judge)
    return judge.best or best


def _smaller(spec: Any, signature: hj.Signature, primals: Any, judge: _Judge) -> Any:
    for tried, (small, tree) in enumerate(hj.smaller(spec, signature, primals)):
        if tried >= SHAPES or time.perf_counter() > judge.deadline:
            return None
        if judge(tree):
            return small, judge.best
    return None


def _values(spec: Any, signature: hj.Signature, point: Point, judge: _Judge) -> None:
    """
    Shrink the values at one signature, from the point itself where the strategy can draw it, else from the start.
    """
    strategy = hj.trees(spec, signature=signature, special=True)
    options: dict[str, Any] = {"max_examples": EVALUATIONS, "deadline": None, "derandomize": False}
    choices = hj.choices(spec, tuple(point.primals), signature=signature)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HypothesisWarning)
        if choices is not None and _seeded(strategy, choices, judge, options):
            return
        quiet = settings(database=None, phases=[Phase.generate, Phase.shrink], **options)
        _ask(lambda: find(strategy, judge, settings=quiet))


def _seeded(strategy: Any, choices: tuple[Any, ...], judge: _Judge, options: dict[str, Any]) -> bool:
    """
    Shrink from known choices through an in-memory database; False if Hypothesis does not take them.

    The name and the ``.secondary`` key are not public, see ARCHITECTURE.md; without them the search starts afresh.
    """
    try:
        from hypothesis.database import choices_to_bytes
    except ImportError:
        return False
    key, database = b"autoprop-shrink", InMemoryExampleDatabase()
    database.save(key + b".secondary", choices_to_bytes(choices))
    phases = [Phase.reuse, Phase.shrink]
    seeded = settings(database=database, phases=phases, **options)
    return _ask(lambda: find(strategy, judge, settings=seeded, database_key=key))


def _ask(call: Callable[[], Any]) -> bool:
    try:
        call()
    except (NoSuchExample, unittest.SkipTest, HypothesisException):
        return False
    return True
