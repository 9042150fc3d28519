"""What the screen says of laws that must hold at some point, not at each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..properties import Property
from .screen import Batch, Scored

__all__ = ["Somewhere"]


class Somewhere:
    """
    The lowest score of each part of such laws, over all points so far.
    """

    def __init__(self) -> None:
        self._lowest: dict[str, Any] = {}

    def note(self, batch: Batch, scored: Scored, laws: Iterable[Property]) -> None:
        """
        Take the scores of a batch.
        """
        meant = batch.usable & scored.finite & batch.finite
        for law in laws:
            if law.somewhere and law.name in scored.scores and np.any(meant):
                lowest = np.min(scored.scores[law.name][meant], axis=0)
                before = self._lowest.get(law.name)
                self._lowest[law.name] = lowest if before is None else np.minimum(before, lowest)

    def was_screened(self, law: Property) -> bool:
        """
        Say whether there are scores of a law.
        """
        return law.name in self._lowest

    def holds(self, law: Property) -> bool:
        """
        Say whether every part of a law held at some point.
        """
        return self.was_screened(law) and bool(np.all(self._lowest[law.name] <= 0))
