"""A function's values and derivatives at many points at once, by two small programs; the rest is done on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._dtypes import eps
from .._pairing import pair
from .._subject import Subject
from .automatic import both_modes, missing_mode
from .bounded import fast
from .paired import paired

__all__ = ["Points", "derivatives_of_rows", "lines_of_rows"]


class Points(NamedTuple):
    """
    Many points of one signature with their directions.

    Attributes:
        axes: for each moved and each held leaf the axis of the points, which is 0, or None where all of them share it.
        moved: the moved leaves.
        held: the held leaves.
        tangents: tangents of the moved leaves, points on axis 0.
        cotangents: cotangents of the inexact outputs, points on axis 0.
    """

    axes: tuple[tuple[int | None, ...], tuple[int | None, ...]]
    moved: Sequence[Any]
    held: Sequence[Any]
    tangents: Sequence[Any]
    cotangents: Sequence[Any]

    def take(self, chosen: Any) -> Points:
        """
        Return some of the points.
        """
        moved, held = (
            [leaf if axis is None else leaf[chosen] for leaf, axis in zip(leaves, axes, strict=True)]
            for leaves, axes in zip((self.moved, self.held), self.axes, strict=True)
        )
        v, u = ([leaf[chosen] for leaf in leaves] for leaves in (self.tangents, self.cotangents))
        return Points(self.axes, moved, held, v, u)


def _run(subject: Subject, name: str, one: Callable[..., Any], points: Points, *more: Any) -> Any:
    """
    Run a program of one point, ``one(moved, held, tangents, cotangents, *more)``, on all of them; compiled once.
    """

    def build() -> Any:
        axes = (*map(list, points.axes), 0, 0, *(0 for _ in more))
        return fast(subject, jax.vmap(one, in_axes=axes))

    return jax.device_get(subject.compiled((name, points.axes), build)(*map(list, points[1:]), *more))


def derivatives_of_rows(subject: Subject, points: Points) -> tuple[list[Any], list[Any] | None, list[Any] | None]:
    """
    Return f(x), J·v and Jᵀ·u of each point, NumPy arrays with the points on axis 0; None for a mode that is not there.
    """

    def one(m: Any, h: Any, t: Any, c: Any) -> Any:
        return both_modes(lambda x: subject.f(x, h), m, t, c)

    found: tuple[list[Any], list[Any] | None, list[Any] | None] = _run(subject, "batched derivatives", one, points)
    return found


def lines_of_rows(subject: Subject, points: Points, steps: Any) -> tuple[Any, Any]:
    """
    Return φ(t) = ⟨u, g(x + t·v)⟩ and φ'(t) by automatic differentiation, forward where there is forward mode.

    g is the function under test, with stopped values held at x if the target intends stops.

    Args:
        subject: the target at the signature of a point.
        points: the points.
        steps: the values of t, of shape (points, number of steps).
    """
    leaves = [*points.moved, *points.cotangents]
    real = np.float64 if any(eps(leaf) < eps(np.float32(0)) for leaf in leaves) else np.float32
    forward = not missing_mode(subject)["forward"]

    def one(m: Any, h: Any, t: Any, c: Any, steps: Any) -> Any:
        def f(x: Any) -> Any:
            return subject.f(x, h)

        g = paired(f, m) if "stop_gradient" in subject.target.intended else f

        def at(step: Any) -> Any:
            x = [leaf + jnp.asarray(step, leaf.dtype) * along for leaf, along in zip(m, t, strict=True)]
            if forward:
                value, change = jax.jvp(g, (x,), (t,))
                return pair(c, value), pair(c, change)
            value, pull = jax.vjp(g, x)
            return pair(c, value), pair(pull(c)[0], t)

        return jax.vmap(at)(steps)

    values, slopes = _run(subject, "batched lines", one, points, np.asarray(steps, real))
    return np.asarray(values, np.float64), np.asarray(slopes, np.float64)
