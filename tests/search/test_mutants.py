"""A sample of the mutants of ``tests/mutants``, found by searches that are given typical arguments only."""

from __future__ import annotations

import pytest

from autoprop import Outcome, Settings, Target, search
from mutants import MUTANTS, PARTNERS, Mutant, Partner

pytestmark = pytest.mark.slow

SHORT = Settings(examples=256, signatures=3)
SAMPLE = (
    "sin: sign",
    "product: factor 2",
    "dot: factor 1.01",
    "mean: factor 1.0001",
    "multiply-add: zero",
    "difference: one place on",
    "softmax: residual of the neighbour",
    "quotient: term of the other argument",
    "concatenation: last entry dropped",
    "tanh: not linear",
    "take: offset",
    "log: guarded too much",
    "clip: passes beyond the limits",
    "max: each tie in full",
    "norm: 0/0 at zero",
    "sort: permutation not inverted",
    "recurrence: state of the same step",
    "relu: NaN at 0",
    "multiply-add: zero at 0",
    "cube: wrong for negative",
    "product: wrong beyond 1000",
    "sin: wrong below 1e-6",
    "tanh: wrong at one element",
    "cumsum: batch reversed",
    "cumsum: wrong where not traced",
    "decay: value of the rule differs",
    "log: cotangent one entry short",
    "temporal difference: stop in one branch",
    "two arguments: gradients reversed",
    "linear map: transpose scales more",
)
KNOWN = {mutant.name: mutant for mutant in MUTANTS}
SOUND = ("product", "softmax", "take", "recurrence", "temporal difference", "linear map")


def searched(entry: Mutant | Partner) -> Outcome:
    """Search a function of the table."""
    return search(Target(entry.fn, entry.spec, name=entry.name, **entry.contract), settings=SHORT)


@pytest.mark.parametrize("name", SAMPLE)
def test_found(name: str) -> None:
    """A short search finds the fault, by one of the laws that must catch it."""
    found = {finding.property for finding in searched(KNOWN[name]).findings}
    assert found & set(KNOWN[name].laws)


@pytest.mark.parametrize("name", SOUND)
def test_sound_partners_are_not_accused(name: str) -> None:
    """The same search accuses no sound partner."""
    (partner,) = [partner for partner in PARTNERS if partner.name == name]
    assert searched(partner).findings == ()
