"""A generator of wrong rules: sound functions, mutation operators, and the laws that must catch what they make."""

from __future__ import annotations

import numpy as np

from . import elementwise, linear, movement, reductions
from .conditions import conditional
from .entry import NUMBERS, Mutant, Partner, Rule
from .operators import CURVATURE, TERMS
from .programs import PARTNERS as PROGRAM_PARTNERS
from .programs import PROGRAMS

__all__ = ["MUTANTS", "PARTNERS", "RULES", "Mutant", "Partner", "Rule"]

F = np.float32
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
            wrong = rule.replace(i, mutate(rule, i)).build()
            found.append(Mutant(kind, name, wrong, rule.args, laws, spec=rule.spec))
    return found


def _slips() -> list[Mutant]:
    return [
        Mutant(
            slip,
            name,
            rule.replace(i, term).build(),
            rule.args,
            _LAWS.get((name, slip), NUMBERS),
            spec=rule.spec,
            trigger=_TRIGGERS.get((name, slip), rule.args),
        )
        for name, rule in RULES.items()
        for slip, (i, term) in rule.slips.items()
    ]


MUTANTS: list[Mutant] = [*_terms(), *_slips(), *conditional(RULES), *PROGRAMS]
PARTNERS: list[Partner] = [
    *(Partner(rule.name, rule.build(), rule.args, spec=rule.spec) for rule in RULES.values()),
    *PROGRAM_PARTNERS,
]
