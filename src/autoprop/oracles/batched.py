"""A function's values and derivatives at many points at once, by two small programs; the rest is done on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .._compile import Program
from .._dtypes import eps
from .._pairing import pair
from .._subject import Subject
from .automatic import both_modes, missing_mode
from .bounded import fast
from .paired import paired

__all__ = ["Points", "ahead", "derivatives_of_rows", "lines_of_rows"]


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


def _program(
    subject: Subject, name: str, build: Callable[[], Callable[..., Any]], points: Points, *more: Any
) -> tuple[Program, tuple[Any, ...]]:
    """
    Return a program of one point, ``build()(moved, held, tangents, cotangents, *more)``, made one of many points, and
    its arguments.
    """

    def batched() -> Any:
        axes = (*map(list, points.axes), 0, 0, *(0 for _ in more))
        return fast(subject, jax.vmap(build(), in_axes=axes))

    program: Any = subject.compiled((name, points.axes), batched)
    return program, (*map(list, points[1:]), *more)


def ahead(subject: Subject, points: Points, steps: Any = None) -> None:
    """
    Begin to compile what `derivatives_of_rows` runs for such points, and `lines_of_rows` if there are steps.
    """
    program, arguments = _derivatives(subject, points)
    program.ahead(*arguments)
    if steps is not None:
        program, arguments = _lines(subject, points, steps)
        program.ahead(*arguments)


def _derivatives(subject: Subject, points: Points) -> tuple[Program, tuple[Any, ...]]:
    def build() -> Callable[..., Any]:
        return lambda m, h, t, c: both_modes(lambda x: subject.f(x, h), m, t, c)

    return _program(subject, "batched derivatives", build, points)


def derivatives_of_rows(subject: Subject, points: Points) -> tuple[list[Any], list[Any] | None, list[Any] | None]:
    """
    Return f(x), J·v and Jᵀ·u of each point, NumPy arrays with the points on axis 0; None for a mode that is not there.
    """
    program, arguments = _derivatives(subject, points)
    found: tuple[list[Any], list[Any] | None, list[Any] | None] = jax.device_get(program(*arguments))
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
    program, arguments = _lines(subject, points, steps)
    values, slopes = jax.device_get(program(*arguments))
    return np.asarray(values, np.float64), np.asarray(slopes, np.float64)


def _lines(subject: Subject, points: Points, steps: Any) -> tuple[Program, tuple[Any, ...]]:
    leaves = [*points.moved, *points.cotangents]
    real = np.float64 if any(eps(leaf) < eps(np.float32(0)) for leaf in leaves) else np.float32

    def build() -> Callable[..., Any]:
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

        return one

    return _program(subject, "batched lines", build, points, np.asarray(steps, real))
