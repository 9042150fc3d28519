"""Every law on the whole zoo: it catches the faults planted for it, and accuses nothing sound."""

from __future__ import annotations

from collections import Counter

import pytest

from autoprop import Holds, Point, Target, Violated
from autoprop._subject import Subject
from autoprop.properties import LAWS
from zoo import FAULTS, SOUND, Planted, Sound


def test_two_faults_for_each_law() -> None:
    """No law goes without two planted faults that it must catch."""
    planted = Counter(entry.law for entry in FAULTS)
    assert {name: planted[name] >= 2 for name in LAWS} == dict.fromkeys(LAWS, True)


def test_a_sound_partner_for_each_law() -> None:
    """No law goes without a tricky function that it must accept; jit and adjoint stand for all that always apply."""
    assert sorted({entry.law for entry in SOUND}) == sorted(LAWS)


@pytest.mark.parametrize("entry", FAULTS, ids=lambda entry: f"{entry.law}-{entry.name}")
def test_faults_are_caught(entry: Planted) -> None:
    """Each law is violated by each fault assigned to it, where the fault shows."""
    subject = Subject(Target(entry.fn, entry.trigger, **entry.contract), entry.trigger)
    law = LAWS[entry.law]
    assert law.why_not(subject) is None
    assert isinstance(law.judge(subject, Point(entry.trigger)), Violated)


HIDDEN = [entry for entry in FAULTS if entry.trigger is not entry.args]


@pytest.mark.parametrize("entry", HIDDEN, ids=lambda entry: f"{entry.law}-{entry.name}")
def test_faults_hide_at_typical_points(entry: Planted) -> None:
    """A fault that needs its trigger is not accused elsewhere: the verdict is about the point, not about the code."""
    subject = Subject(Target(entry.fn, entry.args, **entry.contract), entry.args)
    assert not isinstance(LAWS[entry.law].judge(subject, Point(entry.args)), Violated)


@pytest.mark.slow
@pytest.mark.parametrize("entry", SOUND, ids=lambda entry: f"{entry.law}-{entry.name}")
def test_sound_functions_are_accepted(entry: Sound) -> None:
    """No law accuses a sound function, at typical arguments or at tricky ones, and its own law says that it holds."""
    subject = Subject(Target(entry.fn, entry.args, **entry.contract), entry.args)
    asked = {name: law for name, law in LAWS.items() if not law.on_request or name == entry.law}
    applicable = {name: law for name, law in asked.items() if law.why_not(subject) is None}
    typical = {name: law.judge(subject, Point(entry.args)) for name, law in applicable.items()}
    tricky = {name: law.judge(subject, Point(entry.tricky)) for name, law in applicable.items()}
    accused = [
        (where, name, verdict)
        for where, verdicts in (("typical", typical), ("tricky", tricky))
        for name, verdict in verdicts.items()
        if isinstance(verdict, Violated)
    ]
    # at one dead point alone `live` cannot but fail: a search needs every point to fail
    assert [found for found in accused if found[:2] != ("tricky", "live")] == []
    assert typical[entry.law] == Holds()
