"""Which pytest items there are: one for each stored case, and one for each law of a target."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from autoprop._errors import CorpusError

from . import given
from .options import Options

if TYPE_CHECKING:
    from autoprop._target import Target

__all__ = ["Case", "Law", "arrange", "parameter", "parametrize", "seen", "target_id"]

NAME = "_autoprop_case"
MARK = "autoprop_corpus"


@dataclass(frozen=True)
class Law:
    """
    The parameter of an item that runs one law of a target.
    """

    test: str
    name: str


@dataclass(frozen=True)
class Case:
    """
    The parameter of an item that replays one stored case.
    """

    test: str
    path: Path


SEEN: pytest.StashKey[set[str]] = pytest.StashKey()


def parameter(item: pytest.Item) -> Law | Case | None:
    """
    Return the parameter of an item that is ours, or None.
    """
    callspec = getattr(item, "callspec", None)
    found: Law | Case | None = callspec.params.get(NAME) if callspec is not None else None
    return found


def target_id(item: pytest.Item) -> str:
    """
    Return the id of the test an item belongs to: without parameters, as the corpus has it.
    """
    found = parameter(item)
    if found is not None:
        return found.test
    parent = item.parent.nodeid if item.parent is not None else ""
    return f"{parent}::{getattr(item, 'originalname', None) or item.name}"


def parametrize(metafunc: pytest.Metafunc) -> None:
    """
    Give a test of ours its items. Tests that are neither ``verify``'s nor Hypothesis' stay as they are.
    """
    target = getattr(metafunc.function, "__autoprop_target__", None)
    drawn = target is None and given.is_given(metafunc.function)
    options = Options.of(metafunc.config)
    test = metafunc.definition.nodeid
    seen(metafunc.config).add(test)
    if target is None and not drawn:
        return
    if drawn and options.capture != "off":
        given.install(metafunc.function)
    parameters = [_case(Case(test, path), options) for path in options.cases(test)]
    if drawn and not parameters:
        return
    if target is None:
        parameters.append(pytest.param(None, id=getattr(pytest, "HIDDEN_PARAM", "generate")))
    else:
        # With `--dist loadgroup` one process of pytest-xdist runs all laws of a target, so that it is searched once.
        group = [pytest.mark.xdist_group(test)] if metafunc.config.pluginmanager.hasplugin("xdist") else []
        parameters += [pytest.param(Law(test, law), id=law, marks=group) for law in _laws(target)]
    metafunc.fixturenames.append(NAME)
    metafunc.parametrize(NAME, parameters, indirect=True)


def seen(config: pytest.Config) -> set[str]:
    """
    Return the ids of all tests collected so far, also of those that a selection drops.
    """
    return config.stash.setdefault(SEEN, set())


def _case(case: Case, options: Options) -> Any:
    from autoprop.corpus.store import Store

    marks: list[pytest.MarkDecorator] = [getattr(pytest.mark, MARK)]
    try:
        reason = Store(options.folder).load(case.path).xfail
    except CorpusError:
        reason = None  # the item itself reports what is wrong with the file
    if reason is not None:
        marks.append(pytest.mark.xfail(reason=reason, strict=True))
    return pytest.param(case, id=f"corpus-{case.path.stem.rpartition('-')[2]}", marks=marks)


class _Unknown(Exception):  # noqa: N818 - never leaves this module
    """
    A law asked for more than the contract.
    """


class _Contract:
    """
    A subject of which only the contract is known.
    """

    def __init__(self, target: Target) -> None:
        self.target = target

    def __getattr__(self, name: str) -> Any:
        raise _Unknown(name)


def _laws(target: Target) -> list[str]:
    """
    Return the laws to run: the chosen ones, or all but those on request and those that the contract alone rules out.
    """
    if target.properties is not None:
        return list(dict.fromkeys(target.properties))
    from autoprop.properties import LAWS

    contract: Any = _Contract(target)
    chosen = []
    for name, law in LAWS.items():
        try:
            applies = not law.on_request and law.why_not(contract) is None
        except _Unknown:
            applies = True
        if applies:
            chosen.append(name)
    if not chosen:
        raise pytest.Collector.CollectError(
            f"{target.name}: no law applies to this contract; nothing would be verified"
        )
    return chosen


def arrange(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Put the stored cases of each module before the rest of it; drop the rest if only cases are to be replayed.
    """
    arranged: list[pytest.Item] = []
    for _, module in groupby(items, key=lambda item: item.nodeid.partition("::")[0]):
        arranged += sorted(module, key=lambda item: not _is_replay(item))
    if Options.of(config).replay_only:
        config.hook.pytest_deselected(items=[item for item in arranged if not _is_replay(item)])
        arranged = [item for item in arranged if _is_replay(item)]
    items[:] = arranged


def _is_replay(item: pytest.Item) -> bool:
    return isinstance(parameter(item), Case)
