"""The hooks of the pytest plugin; each returns at once where there is nothing for autoprop to do."""

from __future__ import annotations

import sys
from collections.abc import Generator
from functools import partial
from typing import Any

import pytest

from ._pytest import options


@pytest.fixture
def _autoprop_case(request: pytest.FixtureRequest) -> Any:
    """
    Give the law or stored case that an item runs.
    """
    return getattr(request, "param", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """
    Declare ``--autoprop-…`` and the ini-file's options.
    """
    options.add(parser)


def pytest_configure(config: pytest.Config) -> None:
    """
    Read the options; listen for what the items tell.
    """
    options.configure(config)
    if not hasattr(config, "workerinput"):
        from ._pytest.summary import Summary

        config.pluginmanager.register(Summary(), "autoprop-summary")


def pytest_report_header(config: pytest.Config) -> str:
    """
    Say which jax and which corpus are used.
    """
    return options.header(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """
    Hand the listing of the corpus to a worker of pytest-xdist: every worker must collect the same items.
    """
    chosen = options.Options.of(node.config)
    node.workerinput["autoprop_folder"] = str(chosen.folder)
    node.workerinput["autoprop_cases"] = chosen.names()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """
    Make the items of a ``verify`` test, and those of the stored cases of any test.
    """
    if not _in_use():
        return
    from ._pytest import items

    items.parametrize(metafunc)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Put stored cases first in their module.
    """
    if not _in_use() and not options.Options.of(config).replay_only:
        return
    from ._pytest import items as ours
    from ._pytest import methods

    methods.adopt(config, items)
    ours.arrange(config, items)


def pytest_collection_finish(session: pytest.Session) -> None:
    """
    Look for stored cases whose test is gone.
    """
    if not options.Options.of(session.config).folder.is_dir():
        return
    if not hasattr(session.config, "workerinput") or session.config.workerinput["workerid"] == "gw0":
        from ._pytest import orphans

        orphans.report(session)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """
    Run an item of ours.
    """
    if not _in_use():
        return None
    from ._pytest import items

    found = items.parameter(pyfuncitem)
    if isinstance(found, items.Law):
        from ._pytest import laws

        pyfuncitem.obj(run=partial(laws.run, pyfuncitem, found))
        return True
    if isinstance(found, items.Case):
        from ._pytest import replay

        replay.run(pyfuncitem, found)
        return True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """
    Refuse a stale case that has no item of its own.
    """
    if "hypothesis" in sys.modules:
        from ._pytest import methods

        methods.refuse_stale(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """
    Keep the counterexample of a user's own ``@given`` test that failed.
    """
    report = yield
    if call.when == "call" and call.excinfo is not None and report.failed and "hypothesis" in sys.modules:
        from ._pytest import saving

        saving.save_given(item, call.excinfo.value, report)
    return report


def _in_use() -> bool:
    """
    Say whether any test of this process can be ours: they all need one of these modules.
    """
    return "autoprop._target" in sys.modules or "hypothesis" in sys.modules
