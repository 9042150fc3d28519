"""What the derivatives at points nearby say of the one at a point."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._pairing import paired_on_host
from .._tolerance import AWAY, BELOW, NEAR
from .._trees import is_inexact
from ..oracles.difference import STEPS, Slope
from ..oracles.promoted import Promoted
from ..oracles.steps import takes_other_steps

__all__ = ["automatic", "is_limit", "is_resolved"]

NEIGHBOURS = 32  # points that tell whether a derivative is the limit of others, at most
ALONE = 8  # of them are tried with the leaf at fault moved alone, too
OWN = (1 / 64, 1.0, 64.0)  # how far the row at fault is moved, where its leaf moves alone


def automatic(here: Promoted, mode: str, v: Any, u: Any) -> float | None:
    """
    ⟨u, J v⟩ by one mode, or None where the function does not have it.
    """
    forward, reverse = here.derivatives(v, u)
    left, right = (u, forward) if mode == "forward" else (reverse, v)
    if left is None or right is None:
        return None
    return paired_on_host(left, right)[0]


def is_resolved(here: Promoted, mode: str, v: Any, u: Any, ad: float, measured: Slope) -> bool:
    """
    Say whether the steps can see the derivative: at the smallest one it is still what it is here, or (a fault at this
    point alone) what the slope says, and no staircase takes other steps. In between, oscillations that are faster than
    any step would pass for a slope.
    """
    for offset in (float(STEPS[-1]), -float(STEPS[-1])):
        near = automatic(here.shifted(v, offset), mode, v, u)
        if near is None or not np.isfinite(near):
            continue
        close = NEAR * max(abs(ad), measured.scale)
        if abs(near - ad) > close and not measured.low - close <= near <= measured.high + close:
            return False
    if takes_other_steps(here, v, float(STEPS[-1])):
        return False
    return not _has_structure_below(here, mode, v, u, ad)


def _has_structure_below(here: Promoted, mode: str, v: Any, u: Any, ad: float) -> bool:
    """
    Say whether the derivative is the same beside the point, on the scale of entries far below any step: kinks are near.
    """
    sizes = np.concatenate([np.abs(x).reshape(-1) for x in [*here.moved, *here.held] if is_inexact(x)])
    smallest, largest = np.min(sizes[sizes > 0], initial=np.inf), max(np.max(np.abs(t), initial=0) for t in v)
    if not smallest < STEPS[-1] * largest:
        return False
    offset = float(BELOW * smallest / largest)
    near = [automatic(here.shifted(v, side), mode, v, u) for side in (offset, -offset)]
    return any(d is not None and np.isfinite(d) and abs(d - ad) <= NEAR * abs(ad) for d in near)


def is_limit(here: Promoted, mode: str, v: Any, u: Any, ad: float, alone: tuple[int, int] | None = None) -> bool:
    """
    Say whether derivatives at points nearby, in any direction, lie on both sides of the one at the point.

    Args:
        here: the point.
        mode: ``forward`` or ``reverse``.
        v: the direction of the derivative.
        u: the cotangents.
        ad: the derivative at the point.
        alone: a moved leaf and a flat position in it; points where no other leaf differs count as well, the row of
            that position moved as far as the others, less far and further, so that it may win or lose a comparison.
    """
    near: list[float] = []
    for point in _neighbours(here, alone):
        found = automatic(point, mode, v, u)
        if found is not None and np.isfinite(found):
            near.append(found)
            slack = NEAR * max([abs(ad), *map(abs, near)])
            if min(near) - slack <= ad <= max(near) + slack and max(near) - min(near) > slack:
                return True
    return False


def _neighbours(here: Promoted, alone: tuple[int, int] | None) -> Iterator[Promoted]:
    for seed in range(NEIGHBOURS):
        point = here.perturbed(AWAY, seed, AWAY)
        yield point
        if alone is not None and seed < ALONE:
            i, k = alone
            x = np.asarray(here.moved[i])
            own = np.zeros((*x.shape[:1], *(1 for _ in x.shape[1:])), bool)
            own.reshape(-1)[k * own.size // x.size] = True
            for share in OWN:
                yield here.with_leaf(i, x + np.where(own, share, 1) * (point.moved[i] - x))
