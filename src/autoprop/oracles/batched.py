"""A function's values and derivatives at many points at once, by two small programs; the rest is done on the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._dtypes import eps
from .._pairing import pair
from .._subject import Subject
from .automatic import both_modes, missing_mode
from .bounded import fast
from .paired import paired

__all__ = ["Axes", "derivatives_of_rows", "lines_of_rows"]

Axes = tuple[tuple[int | None, ...], tuple[int | None, ...]]


def derivatives_of_rows(
    subject: Subject, axes: Axes, moved: Sequence[Any], held: Sequence[Any], v: Sequence[Any], u: Sequence[Any]
) -> tuple[list[Any], list[Any] | None, list[Any] | None]:
    """
    Return f(x), J·v and Jᵀ·u of each row, NumPy arrays with the rows on axis 0; None for a mode that is not there.

    Args:
        subject: the target at the signature of a row.
        axes: for each moved and each held leaf the axis of its rows, or None where all rows share it.
        moved: the moved leaves.
        held: the held leaves.
        v: tangents of the moved leaves, rows on axis 0.
        u: cotangents of the inexact outputs, rows on axis 0.
    """

    def build() -> Any:
        def one(m: Any, h: Any, t: Any, c: Any) -> Any:
            return both_modes(lambda x: subject.f(x, h), m, t, c)

        return fast(subject, jax.vmap(one, in_axes=(list(axes[0]), list(axes[1]), 0, 0)))

    program = subject.compiled(("batched derivatives", axes), build)
    found: tuple[list[Any], list[Any] | None, list[Any] | None]
    found = jax.device_get(program(list(moved), list(held), list(v), list(u)))
    return found


def lines_of_rows(
    subject: Subject,
    axes: Axes,
    moved: Sequence[Any],
    held: Sequence[Any],
    v: Sequence[Any],
    u: Sequence[Any],
    steps: Any,
) -> tuple[Any, Any]:
    """
    Return φ(t) = ⟨u, g(x + t·v)⟩ and φ'(t) by automatic differentiation, forward where there is forward mode.

    g is the function under test, with stopped values held at x if the target intends stops.

    Args:
        subject: the target at the signature of a row.
        axes: for each moved and each held leaf the axis of its rows, or None where all rows share it.
        moved: the moved leaves.
        held: the held leaves.
        v: tangents of the moved leaves, rows on axis 0.
        u: cotangents of the inexact outputs, rows on axis 0.
        steps: the values of t, of shape (rows, number of steps).
    """
    real = np.float64 if any(eps(leaf) < eps(np.float32(0)) for leaf in [*moved, *u]) else np.float32

    def build() -> Any:
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

        return fast(subject, jax.vmap(one, in_axes=(list(axes[0]), list(axes[1]), 0, 0, 0)))

    program = subject.compiled(("batched lines", axes), build)
    values, slopes = jax.device_get(program(list(moved), list(held), list(v), list(u), np.asarray(steps, real)))
    return np.asarray(values, np.float64), np.asarray(slopes, np.float64)
