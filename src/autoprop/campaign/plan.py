"""What a campaign is to do, and how its time is shared out."""

from __future__ import annotations

import attrs

from autoprop._discover import Discovered
from autoprop._settings import Settings
from autoprop.corpus.store import Store

__all__ = ["LONGEST", "SHORTEST", "Plan", "share"]

LONGEST = 60.0  # seconds on one target before the next has its turn, so that a long campaign sees many epochs
SHORTEST = 0.5  # seconds below which no further search is begun: it would not end its first compilation


@attrs.frozen(kw_only=True)
class Plan:
    """
    What a campaign is to do.

    Attributes:
        targets: what to search, in order.
        settings: seed, rows and first epoch of each search.
        seconds: the budget of the whole campaign, or None: one search of each target.
        properties: names of the laws to run, or None for all that apply.
        store: the corpus: replayed first, findings are kept in it.
        save: whether findings are kept.
    """

    targets: tuple[Discovered, ...]
    settings: Settings = attrs.field(factory=Settings)
    seconds: float | None = None
    properties: tuple[str, ...] | None = None
    store: Store
    save: bool = True


def share(left: float, waiting: int) -> float:
    """
    Return the seconds for the next search: an even part of what is left for those that wait in this round.
    """
    return min(max(left / waiting, SHORTEST), LONGEST)
