"""A generator of wrong rules: sound functions, mutation operators, and the laws that must catch what they make."""

from __future__ import annotations

import attrs
import numpy as np

from . import contracts, elementwise, linear, modes, movement, programs, reductions, states, stops
from .conditions import conditional
from .entry import NUMBERS, Mutant, Partner, Rule
from .operators import CURVATURE, TERMS
from .passes import whole

__all__ = ["MUTANTS", "PARTNERS", "RULES", "Mutant", "Partner", "Rule"]

F = np.float32
_PROGRAMS = (stops, contracts, modes, states, programs)
RULES: dict[str, Rule] = {
    rule.name: rule for module in (elementwise, reductions, linear, movement) for rule in module.RULES
}

# Where a slip shows, if it does not show at typical arguments.
_TRIGGERS = {
    ("log", "guarded too much"): (np.array([0.01, 1, 2], F),),
    ("clip", "passes beyond the limits"): (np.array([0.5, -5, 4], F),),
    ("clip", "one limit is missing"): (np.array([0.5, -5, 4], F),),
    ("max", "each tie in full"): (np.array([2, 0.5, 2], F),),
    ("max", "largest in size"): (np.array([0.5, -3, 2], F),),
    ("norm", "0/0 at zero"): (np.zeros(3, F),),
    ("sort", "permutation not inverted"): (np.array([2, 0.5, 1], F),),
}
_LAWS = {("norm", "0/0 at zero"): ("finite",)}


def _terms() -> list[Mutant]:
    found = []
    for kind, (mutate, laws, where) in (TERMS | CURVATURE).items():
        for name, i in where:
            rule = RULES[name]
            found.append(Mutant.of(kind, rule.replace(i, mutate(rule, i)), laws))
    return found


def _slips() -> list[Mutant]:
    return [
        Mutant.of(
            slip,
            rule.replace(i, term),
            _LAWS.get((name, slip), NUMBERS),
            trigger=_TRIGGERS.get((name, slip), rule.args),
        )
        for name, rule in RULES.items()
        for slip, (i, term) in rule.slips.items()
    ]


# Why no law catches these, though one should.
_SURVIVES = {
    "tree: order of the leaves": "the order of a tree's leaves is that of their names, which may mean something",
}


def _all() -> list[Mutant]:
    programs = (mutant for module in _PROGRAMS for mutant in module.MUTANTS)
    found = [*_terms(), *_slips(), *conditional(RULES), *whole(RULES), *programs]
    return [attrs.evolve(mutant, survives=_SURVIVES.get(mutant.name, mutant.survives)) for mutant in found]


MUTANTS: list[Mutant] = _all()
PARTNERS: list[Partner] = [
    *(Partner(rule.name, rule.build(), rule.args, spec=rule.spec) for rule in RULES.values()),
    *(partner for module in _PROGRAMS for partner in module.PARTNERS),
]
