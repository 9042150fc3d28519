"""The replay of a stored case, before anything new is drawn."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from autoprop._errors import CorpusError

from . import given, notices
from .items import Case
from .options import Options

if TYPE_CHECKING:
    from autoprop._target import Target
    from autoprop.corpus import Case as Stored

__all__ = ["add_example", "run"]


def run(item: pytest.Function, case: Case) -> None:
    """
    Replay a stored case on its test: pass where it holds now, fail where it does not or no longer matches the test.
    """
    __tracebackhide__ = True
    if hasattr(item.function, "__autoprop_target__"):
        item.obj(run=functools.partial(_replay, item, case, _replay_law))
    else:
        _replay(item, case, _replay_given)


def _replay(item: pytest.Function, case: Case, way: Callable[[pytest.Function, Stored, Path], None]) -> None:
    __tracebackhide__ = True
    options = Options.of(item.config)
    reason = None
    try:
        way(item, _load(case.path, options), case.path)
    except CorpusError as error:
        reason = str(error).replace(str(options.folder), options.show(options.folder))
    if reason is not None:  # outside of the handler, whose exception would be told too
        notices.notify(item, "stale", reason)
        pytest.fail(f"stale case: {reason}", pytrace=False)


def _load(path: Path, options: Options) -> Stored:
    """
    Read a case; skip where it needs 64-bit mode and that is off.
    """
    __tracebackhide__ = True
    from autoprop.corpus import Store

    stored = Store(options.folder).load(path).replace(name=options.show(path))
    if stored.x64:
        import jax

        if not jax.config.jax_enable_x64:
            pytest.skip(f"{stored.name} was found with jax_enable_x64 on, which is off")
    return stored


def _replay_law(item: pytest.Function, stored: Stored, path: Path) -> None:
    __tracebackhide__ = True
    from autoprop.corpus import Store
    from autoprop.corpus.replay import replay_case

    target: Target = item.function.__autoprop_target__
    options = Options.of(item.config)
    found = replay_case(Store(options.folder), path, resolve=lambda _: target)
    notices.describe(item, target, options.settings(item.function.__autoprop_settings__))
    if found.state == "stale":
        raise CorpusError(f"{stored.name}: {found.reason}; {_REMEDY}")
    if found.state == "undecided":
        notices.skip_undecided(item, f"{stored.name}: {stored.law} cannot be judged any more: {found.reason}")
    if found.state != "fixed":
        pytest.fail(str(found.finding.replace(case=stored.name)), pytrace=False)


_REMEDY = "remove the case if the test changed on purpose"


def _arguments(function: Callable[..., Any], stored: Stored) -> dict[str, Any]:
    """
    Return the values of a ``given`` case, if they are still those that the test takes.
    """
    if stored.law != "given":
        raise CorpusError(
            f"{stored.name}: is a case of the law {stored.law!r}, but the test is a @given test; {_REMEDY}"
        )
    expected = given.argument_names(function)
    if sorted(stored.arguments) != sorted(expected):
        raise CorpusError(
            f"{stored.name}: holds {', '.join(stored.arguments)}, but the test draws {', '.join(expected)}; {_REMEDY}"
        )
    values = stored.values()
    for name, value in values.items():
        if isinstance(value, dict) and list(value) == [given.DRAWS]:
            values[name] = Replayed(value[given.DRAWS], stored.name)
    return values


def _replay_given(item: pytest.Function, stored: Stored, _: Path) -> None:
    """
    Call a ``@given`` test with stored values, inside Hypothesis, so that ``note``, ``assume`` and ``event`` work.
    """
    __tracebackhide__ = True
    import hypothesis
    from hypothesis import strategies as st

    function = item.function
    values = _arguments(function, stored)
    inner: Any = given.inner_test(function)

    @functools.wraps(inner, updated=())  # without the marks of the user's own @settings, which may not be given twice
    def plain(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return inner(*args, **kwargs)

    drawn: Any = hypothesis.given(**{name: st.none() for name in values})(plain)  # the strategies are never used
    settings = hypothesis.settings(phases=[hypothesis.Phase.explicit], deadline=None, database=None)
    test = settings(hypothesis.example(**values)(drawn))
    wanted = [name for name in inspect.signature(function).parameters if name in item.funcargs]
    bound = [] if item.instance is None else [item.instance]
    test(*bound, **{name: item.funcargs[name] for name in wanted})


def add_example(function: Callable[..., Any], path: Path, options: Options) -> None:
    """
    Have Hypothesis try a stored case first: the way for methods of `unittest.TestCase`.
    """
    import hypothesis

    stored = _load(path, options)
    case = hypothesis.example(**_arguments(function, stored)).via(f"the corpus: {stored.name}")
    (case if stored.xfail is None else case.xfail(reason=stored.xfail))(function)


class Replayed:
    """
    A ``st.data()`` argument that gives stored values in their order.
    """

    def __init__(self, values: list[Any], name: str) -> None:
        self._values = iter(values)
        self._name = name

    def draw(self, strategy: Any, label: Any = None) -> Any:
        """
        Return the next stored value.
        """
        for value in self._values:
            return value
        pytest.fail(f"stale case: {self._name}: the test draws more values than were stored; {_REMEDY}", pytrace=False)

    def __repr__(self) -> str:
        return "data(...)"
