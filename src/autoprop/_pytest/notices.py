"""What one item tells the summary: pairs of names and texts on its report, which reach it from any process."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import pytest

from autoprop._errors import AutopropWarning

if TYPE_CHECKING:
    from autoprop._settings import Settings
    from autoprop._target import Target

__all__ = ["KINDS", "PREFIX", "describe", "describe_environment", "notify", "skip_undecided"]

PREFIX = "autoprop_"

KINDS = {
    "saved": "saved in the corpus, replayed first from now on",
    "known": "already in the corpus",
    "unsaved": "found, but not saved",
    "flaky": "flaky, so not saved: make the test repeatable first",
    "stale": "stale cases",
    "undecided": "decided nothing, so skipped",
    "remark": "held, with a remark",
    "partly": "could not be judged at some points",
}


def notify(item: pytest.Item, kind: str, text: str) -> None:
    """
    Attach a notice of one of the `KINDS` to an item.
    """
    item.user_properties.append((PREFIX + kind, text))


def skip_undecided(item: pytest.Item, text: str) -> NoReturn:
    """
    Skip an item that decided nothing, with a warning: it must not pass in silence.
    """
    __tracebackhide__ = True
    notify(item, "undecided", text)
    refused = None
    try:
        item.warn(AutopropWarning(f"{item.nodeid}: {text}"))
    except AutopropWarning as error:  # the user's filters make warnings errors
        refused = str(error)
    if refused is not None:  # outside of the handler, whose exception would be told too
        pytest.fail(refused, pytrace=False)
    pytest.skip(text)


def describe(item: pytest.Item, target: Target, settings: Settings) -> None:
    """
    Attach where and how an item was judged.
    """
    describe_environment(item)
    item.user_properties.append((PREFIX + "seed", str(settings.seed)))
    if target.tolerance is not None:
        item.user_properties.append((PREFIX + "tolerance", f"{target.tolerance:g} for {target.name}"))


ENVIRONMENT: pytest.StashKey[str] = pytest.StashKey()


def describe_environment(item: pytest.Item) -> None:
    """
    Attach versions, device and modes. Only for an item that used jax, since this claims the device.
    """
    stash = item.config.stash
    if ENVIRONMENT not in stash:
        from autoprop._environment import Environment

        stash[ENVIRONMENT] = str(Environment.current())
    item.user_properties.append((PREFIX + "environment", stash[ENVIRONMENT]))
