"""The mutants of ``tests/mutants``, each judged by its laws where its fault shows, and their sound partners."""

from __future__ import annotations

from collections import Counter

import pytest

from autoprop import Point, Target, Violated
from autoprop._subject import Subject
from autoprop.properties import LAWS
from mutants import MUTANTS, PARTNERS, Mutant, Partner

JUDGED = [mutant for mutant in MUTANTS if mutant.trigger is not None]


def is_violated(mutant: Mutant | Partner, name: str, args: tuple[object, ...]) -> bool:
    """Say whether a law applies to a mutant and is violated at given arguments."""
    subject = Subject(Target(mutant.fn, args, **mutant.contract), args)
    law = LAWS[name]
    return law.why_not(subject) is None and isinstance(law.judge(subject, Point(args)), Violated)


def test_the_table_is_large_and_without_doubles() -> None:
    """There are at least 150 mutants of at least 30 functions, each with a name of its own."""
    assert len(MUTANTS) >= 150
    assert len({mutant.base for mutant in MUTANTS}) >= 30
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_two_mutants_for_each_law() -> None:
    """No law goes without two mutants of which it is said to see them."""
    named = Counter(law for mutant in MUTANTS for law in mutant.laws)
    assert {law: named[law] >= 2 for law in LAWS} == dict.fromkeys(LAWS, True)


def test_at_most_two_of_a_hundred_survive() -> None:
    """Of the mutants at least 98 % are killed, and what survives says why."""
    assert 50 * sum(bool(mutant.survives) for mutant in MUTANTS) <= len(MUTANTS)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", JUDGED, ids=lambda mutant: mutant.name)
def test_mutants_are_caught(mutant: Mutant) -> None:
    """One of its laws is violated where the fault shows, unless it is said to survive, and then none is."""
    laws = [name for name in mutant.laws if name in LAWS]
    if not laws:
        pytest.skip(f"no law {' or '.join(mutant.laws)} yet")
    assert mutant.trigger is not None
    assert any(is_violated(mutant, name, mutant.trigger) for name in laws) is not bool(mutant.survives)


@pytest.mark.slow
@pytest.mark.parametrize("partner", PARTNERS, ids=lambda partner: partner.name)
def test_sound_partners_are_not_accused(partner: Partner) -> None:
    """No law accuses a sound function at its typical arguments."""
    assert [name for name in LAWS if is_violated(partner, name, partner.args)] == []
