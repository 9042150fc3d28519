"""Which points of a batch are judged alone though nothing accuses them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..properties import Property
from .screen import Batch

__all__ = ["first_of_families", "spread"]

# Families that lie exactly where a derivative may be wrong on a set of measure zero: judged without being accused.
EDGES = (
    "zeros",
    "zero element",
    "zero row",
    "ones",
    "ties",
    "equal elements",
    "equal rows",
    "small integers",
    "half integers",
    "identity",
    "all true",
    "one true",
    "edges",
    "out of range",
)


def first_of_families(batch: Batch, meant: Any, all_families: bool) -> list[int]:
    """
    Return the first row of each family, or of each edge family, among the rows that are meant.
    """
    first: dict[str, int] = {}
    for i, family in enumerate(batch.sample.families):
        if meant[i] and (all_families or family in EDGES):
            first.setdefault(family, i)
    return list(first.values())


def spread(batch: Batch, count: int, law: Property) -> list[int]:
    """
    A few rows of a batch: the first of each family, the example and typical ones first, then integers at their edges.
    """
    meant = batch.usable & (batch.finite | (not law.smooth_only))
    first: dict[str, int] = {}
    for i in np.flatnonzero(meant).tolist():
        first.setdefault(batch.sample.families[i], i)
    order = ["example", "typical", "edges", "magnitude 1e1..1e3", "out of range", "zeros", *EDGES, *first]
    found = [first[family] for family in dict.fromkeys(order) if family in first]
    if count == 1 and len(found) > 1:  # later rounds: another family each time
        return [found[(batch.seeds[0] // 7) % len(found)]]
    return found[:count]
