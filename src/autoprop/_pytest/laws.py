"""The run of one law's item; all items of a target share one search."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import pytest

from autoprop._errors import AutopropError

from . import notices, programs, saving
from .items import Law, parameter
from .options import Options

if TYPE_CHECKING:
    from autoprop._events import Counts
    from autoprop._finding import Finding
    from autoprop._search import Outcome
    from autoprop._settings import Settings
    from autoprop._target import Target

__all__ = ["run"]

SEARCHES: pytest.StashKey[dict[str, Outcome | Exception]] = pytest.StashKey()


def run(item: pytest.Function, law: Law) -> None:
    """
    Report one law of a target: pass, fail with its findings as the whole text, or skip where nothing was decided.
    """
    __tracebackhide__ = True
    target: Target = item.function.__autoprop_target__
    options = Options.of(item.config)
    settings = options.settings(item.function.__autoprop_settings__)
    outcome = _search(item, law.test, target, settings)
    notices.describe(item, target, settings)
    findings = [finding for finding in outcome.findings if finding.property == law.name]
    counts = outcome.counts.get(law.name)
    if findings:
        _fail(item, law, findings)
    if counts is not None and counts.not_applicable is not None:
        pytest.skip(f"not applicable: {counts.not_applicable}")
    if counts is None or not counts.decided:
        why = _reasons(counts) if counts is not None and counts.undecided else "no point was judged"
        notices.skip_undecided(item, f"{law.name} decided nothing: {why}")
    if counts.remark:
        notices.notify(item, "remark", counts.remark)
    if counts.undecided:
        total = counts.undecided + counts.decided
        notices.notify(item, "partly", f"{law.name} {counts.undecided} of {total}: {_reasons(counts)}")


def _fail(item: pytest.Function, law: Law, findings: list[Finding]) -> NoReturn:
    """
    Save the findings of a law and fail with their reports; expect the failure if every one is a tolerated case.
    """
    __tracebackhide__ = True
    saved = [saving.save_finding(item, law.test, finding) for finding in findings]
    reasons = [reason for _, reason in saved if reason is not None]
    if len(reasons) == len(saved):
        pytest.xfail("; ".join(reasons))
    pytest.fail("\n\n".join(str(finding) for finding, reason in saved if reason is None), pytrace=False)


def _search(item: pytest.Function, test: str, target: Target, settings: Settings) -> Outcome:
    """
    Search for violations of the laws that the session selected for a target, at the first of its items.
    """
    __tracebackhide__ = True
    searches = item.config.stash.setdefault(SEARCHES, {})
    if test not in searches:
        from autoprop._search import search

        laws = [
            found.name
            for other in item.session.items
            if isinstance(found := parameter(other), Law) and found.test == test
        ]
        try:
            with programs.kept(item.config):
                searches[test] = search(target, settings=settings, properties=tuple(dict.fromkeys(laws)))
        except AutopropError as error:
            searches[test] = error
        except Exception as error:
            searches[test] = error
            raise
    outcome = searches[test]
    if isinstance(outcome, AutopropError):
        pytest.fail(str(outcome), pytrace=False)
    if isinstance(outcome, Exception):
        pytest.fail(f"the search of {target.name} raised {type(outcome).__name__}: {outcome}", pytrace=False)
    return outcome


def _reasons(counts: Counts) -> str:
    """
    Return the reasons with their counts, the most frequent first.
    """
    ranked = sorted(counts.reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = [f"{reason} ({count})" for reason, count in ranked[:3]]
    if len(ranked) > 3:
        shown.append(f"{len(ranked) - 3} other reasons ({sum(count for _, count in ranked[3:])})")
    return "; ".join(shown) or "no reason was given"
