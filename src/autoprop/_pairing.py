"""The real pairing of cotangents with values, and the directions in which functions are differentiated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ._dtypes import double, finfo
from ._point import direction
from ._subject import Subject

__all__ = ["absolute_terms", "cotangents", "pair", "paired_on_host", "tangents"]


def pair(cotangents: Sequence[Any], values: Sequence[Any]) -> Any:
    """
    Return Σ Re(u·y) over all leaves, in float32 at least. JAX's cotangents pair without conjugation.
    """
    return sum(
        (jnp.sum(jnp.real(_lift(u) * _lift(y))) for u, y in zip(cotangents, values, strict=True)), jnp.float32(0)
    )


def absolute_terms(cotangents: Sequence[Any], values: Sequence[Any]) -> Any:
    """
    Return Σ |u·y|, the size against which the pairing rounds.
    """
    return sum((jnp.sum(jnp.abs(_lift(u) * _lift(y))) for u, y in zip(cotangents, values, strict=True)), jnp.float32(0))


def paired_on_host(cotangents: Sequence[Any], values: Sequence[Any]) -> tuple[float, float]:
    """
    Return `pair` and `absolute_terms` of concrete leaves, in float64, without compiling anything.

    Where either side is exactly 0 the term is 0, whatever the other is: a direction of 0 makes no statement.
    """
    total = size = 0.0
    for u, y in zip(cotangents, values, strict=True):
        a, b = double(u), double(y)
        with np.errstate(all="ignore"):
            terms = np.where((a == 0) | (b == 0), 0, a * b)
            total, size = total + float(np.sum(terms.real)), size + float(np.sum(np.abs(terms)))
    return total, size


def _lift(leaf: Any) -> Any:
    dtype = jnp.result_type(leaf)
    narrow = jnp.issubdtype(dtype, jnp.floating) and finfo(dtype).bits < 32
    return jnp.asarray(leaf, jnp.float32) if narrow else jnp.asarray(leaf)


def tangents(subject: Subject, moved: Sequence[Any], seed: int) -> list[Any]:
    """
    Return a relative direction: r·|x| where x is neither 0 nor too small to step from, else r; 0 at non-finite
    entries and on frozen leaves. Such directions never step over the origin from a small x, and scale with the data.

    Args:
        subject: the target at the signature of ``moved``.
        moved: the moved leaves; NumPy or JAX arrays.
        seed: the point's seed.
    """
    frozen = set(subject.moved_among(subject.target.frozen, "frozen"))
    found = []
    for i, (path, leaf) in enumerate(zip(subject.moved_paths, moved, strict=True)):
        x = np.asarray(leaf)
        dtype = x.dtype
        complex_ = jnp.issubdtype(dtype, jnp.complexfloating)
        size = np.abs(x.astype(np.complex128 if complex_ else np.float64))
        tiny = float(finfo(dtype).tiny) * 2.0**40
        r: Any = direction(seed, f"tangent:{path}", x.shape)
        if complex_:
            r = r + 1j * direction(seed, f"tangent-imaginary:{path}", x.shape)
        with np.errstate(all="ignore"):
            v = np.where(size > tiny, r * size, r)
        v = np.where(np.isfinite(size), v, 0)
        found.append((np.zeros_like(v) if i in frozen else v).astype(dtype))
    return found


def cotangents(subject: Subject, seed: int, dtypes: Sequence[Any] | None = None) -> list[Any]:
    """
    Return fixed random cotangents for the inexact outputs; 1 for a scalar loss.

    Args:
        subject: the target.
        seed: the point's seed.
        dtypes: dtype of each output, where it differs from the subject's own.
    """
    found = []
    for i, (path, leaf) in enumerate(zip(subject.output_paths, subject.inexact_outputs, strict=True)):
        dtype = leaf.dtype if dtypes is None else dtypes[i]
        u: Any = np.ones(()) if subject.is_scalar_loss else direction(seed, f"cotangent:{path}", leaf.shape)
        if jnp.issubdtype(dtype, jnp.complexfloating):
            u = u + 1j * direction(seed, f"cotangent-imaginary:{path}", leaf.shape)
        found.append(np.asarray(u).astype(dtype))
    return found
