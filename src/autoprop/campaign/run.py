"""The events of a campaign: stored cases first, then rounds of searches until the time is used."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs

from autoprop._environment import Environment
from autoprop._errors import AutopropError, CorpusError
from autoprop._events import Checked, Counts, Event, Finished, Found, Started
from autoprop._finding import Finding
from autoprop.corpus.record import GIVEN, from_finding
from autoprop.corpus.replay import replay_case

from .plan import SHORTEST, Plan, share
from .tally import Tally

__all__ = ["run"]

Explore = Callable[..., Iterator[Event]]
Key = tuple[str, str, str]


def run(plan: Plan, *, explore: Explore | None = None) -> Iterator[Event]:
    """
    Replay the targets' stored cases, search the targets, keep what is found.

    With a budget of time it is shared out evenly, and rounds with further epochs follow until it is used. A law that is
    found broken is left out of its target's later rounds.

    Args:
        plan: what to do.
        explore: searches one target; `autoprop._search.explore` by default.

    Yields:
        `Started`; a `Found` for each stored case; `Checked` and `Found` of each search; a `Checked` that is
        ``done`` for each target; `Finished`.
    """
    if explore is None:
        from autoprop._search import explore as search_one

        explore = search_one
    began = time.monotonic()
    yield Started(tuple(each.id for each in plan.targets), plan.settings, Environment.current())
    campaign = _Campaign(plan, explore, [Tally(each) for each in plan.targets])
    yield from campaign.stored_cases()
    if plan.seconds is None:
        for tally in campaign.tallies:
            yield from campaign.search(tally, plan.settings)
            yield tally.checked(done=True)
    else:
        yield from campaign.rounds(began + plan.seconds)
        for tally in campaign.tallies:
            yield tally.checked(done=True)
    yield Finished(
        findings=tuple(campaign.findings),
        points=sum(tally.points for tally in campaign.tallies),
        seconds=time.monotonic() - began,
        errors=tuple(f"{tally.discovered.id}: {tally.error}" for tally in campaign.tallies if tally.error),
    )


@attrs.define
class _Campaign:
    plan: Plan
    explore: Explore
    tallies: list[Tally]
    findings: list[Finding] = attrs.field(factory=list)
    known: dict[Key, str] = attrs.field(factory=dict)

    def stored_cases(self) -> Iterator[Event]:
        """
        Judge the stored cases of the targets again.
        """
        for each in self.plan.targets:
            for path in self.plan.store.cases(each.id):
                if not self.wanted(path):
                    continue
                found = replay_case(self.plan.store, path, resolve=lambda _, target=each.target: target)  # type: ignore[misc]
                if found.state in ("open", "known"):
                    self.known[_key(found.finding)] = str(path)
                if found.state == "open":
                    self.findings.append(found.finding)
                yield found

    def wanted(self, path: Path) -> bool:
        """
        Say whether a case belongs to the laws that run; those of ``@given`` tests are pytest's business.
        """
        law = path.stem.rpartition("-")[0]
        return law != GIVEN and (self.plan.properties is None or law in self.plan.properties)

    def rounds(self, end: float) -> Iterator[Event]:
        """
        Search all targets again and again, one epoch further each time, until the time is used.
        """
        epoch = self.plan.settings.epoch
        while True:
            waiting = [tally for tally in self.tallies if tally.error is None and not tally.exhausted]
            if not waiting or end - time.monotonic() < SHORTEST:
                return
            for position, tally in enumerate(waiting):
                left = end - time.monotonic()
                if left < SHORTEST:
                    return
                seconds = share(left, len(waiting) - position)
                settings = attrs.evolve(self.plan.settings, seconds=seconds, examples=None, epoch=epoch)
                yield from self.search(tally, settings)
            epoch += 1

    def search(self, tally: Tally, settings: Any) -> Iterator[Event]:
        """
        Search one target once.
        """
        laws = self.laws(tally)
        if laws is not None and not laws:
            counts = {
                law: Counts(not_applicable="the target asks for other laws") for law in self.plan.properties or ()
            }
            tally.keep(Checked(tally.discovered.id, counts, points=0, seconds=0.0, done=True))
            return
        try:
            for event in self.explore(tally.discovered.target, settings, properties=laws):
                if isinstance(event, Checked):
                    yield tally.with_search(event)
                    if event.done:
                        tally.error = event.error
                        tally.keep(event)
                elif isinstance(event, Found):
                    tally.broken.add(event.finding.property)
                    yield self.keep(event.finding.replace(target=tally.discovered.id))
        except AutopropError as error:
            tally.error = str(error)
        except Exception as error:  # noqa: BLE001 - whatever one target raises, the others are still searched
            tally.error = f"the search stopped with {type(error).__name__}: {error}"

    def laws(self, tally: Tally) -> tuple[str, ...] | None:
        """
        Return the laws to run: those asked for, without those that are broken; None leaves the choice to the search.
        """
        if tally.broken:
            return tally.laws
        own, wanted = tally.discovered.target.properties, self.plan.properties
        if own is None or wanted is None:
            return wanted
        return tuple(law for law in wanted if law in own)

    def keep(self, finding: Finding) -> Found:
        """
        Store a finding, unless the corpus has an open case of the same target, law and leaf.
        """
        case = self.known.get(_key(finding))
        if case is not None:
            return Found(finding.replace(case=case), case, "known")
        found = Found(finding, None, "new", "saving is off")
        if self.plan.save:
            found = self.saved(finding)
        self.findings.append(found.finding)
        if found.case is not None:
            self.known[_key(finding)] = found.case
        return found

    def saved(self, finding: Finding) -> Found:
        try:
            path = self.plan.store.save(from_finding(finding)).path.as_posix()
        except CorpusError as error:
            return Found(finding, None, "new", f"could not be saved: {error}")
        return Found(finding.replace(case=path), path, "new")


def _key(finding: Finding) -> Key:
    return finding.target, finding.property, finding.mismatch.leaf
