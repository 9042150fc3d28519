"""The real pairing of cotangents with values, and the directions in which functions are differentiated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ._dtypes import double, finfo
from ._point import directions
from ._subject import Subject

__all__ = [
    "absolute_terms",
    "cotangents",
    "cotangents_of_rows",
    "pair",
    "paired_on_host",
    "paired_rows",
    "shortened",
    "tangents",
    "tangents_of_rows",
]


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
    total, size = paired_rows([np.asarray(u)[None] for u in cotangents], [np.asarray(y)[None] for y in values], 1)
    return float(total[0]), float(size[0])


def paired_rows(cotangents: Sequence[Any], values: Sequence[Any], count: int) -> tuple[Any, Any]:
    """
    Return `paired_on_host` of each of ``count`` points, which are on axis 0 of the leaves.
    """
    total, size = np.zeros(count), np.zeros(count)
    for u, y in zip(cotangents, values, strict=True):
        a, b = double(u), double(y)
        with np.errstate(all="ignore"):
            terms = np.where((a == 0) | (b == 0), 0, a * b).reshape(count, -1)
            total, size = total + terms.real.sum(1), size + np.abs(terms).sum(1)
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
    rows = tangents_of_rows(subject, [np.asarray(leaf)[None] for leaf in moved], range(seed, seed + 1))
    return [row[0] for row in rows]


def shortened(v: Sequence[Any]) -> list[Any]:
    """
    Return tangents of the same signs with no entry above 1: J·v may overflow for v as large as the data where J does
    not.
    """
    return [(double(t) / np.maximum(np.abs(double(t)), 1)).astype(t.dtype) for t in v]


def tangents_of_rows(subject: Subject, moved: Sequence[Any], seeds: range) -> list[Any]:
    """
    Return the `tangents` of many points, with the points on axis 0.

    Args:
        subject: the target at the signature of a point.
        moved: the moved leaves, the points on axis 0 (of length 1 where all share a leaf).
        seeds: the seed of each point.
    """
    frozen = set(subject.moved_among(subject.target.frozen, "frozen"))
    found = []
    for i, (path, leaf) in enumerate(zip(subject.moved_paths, moved, strict=True)):
        x = np.asarray(leaf)
        dtype = x.dtype
        if i in frozen:
            found.append(np.zeros((len(seeds), *x.shape[1:]), dtype))
            continue
        size = np.abs(double(x))
        tiny = float(finfo(dtype).tiny) * 2.0**40
        r = _numbers(seeds, "tangent", path, x.shape[1:], dtype)
        with np.errstate(all="ignore"):
            v = np.where(size > tiny, r * size, r)
            v = np.where(np.isfinite(size), v, 0)
            found.append(v.astype(dtype))
    return found


def cotangents(subject: Subject, seed: int, dtypes: Sequence[Any] | None = None) -> list[Any]:
    """
    Return fixed random cotangents for the inexact outputs; 1 for a scalar loss.

    Args:
        subject: the target.
        seed: the point's seed.
        dtypes: dtype of each output, where it differs from the subject's own.
    """
    return [row[0] for row in cotangents_of_rows(subject, range(seed, seed + 1), dtypes)]


def cotangents_of_rows(subject: Subject, seeds: range, dtypes: Sequence[Any] | None = None) -> list[Any]:
    """
    Return the `cotangents` of many points, with the points on axis 0.

    Args:
        subject: the target.
        seeds: the seed of each point.
        dtypes: dtype of each output, where it differs from the subject's own.
    """
    found = []
    for i, (path, leaf) in enumerate(zip(subject.output_paths, subject.inexact_outputs, strict=True)):
        dtype = leaf.dtype if dtypes is None else dtypes[i]
        if subject.is_scalar_loss:
            found.append(np.ones(len(seeds)).astype(dtype))
        else:
            found.append(_numbers(seeds, "cotangent", path, leaf.shape, dtype).astype(dtype))
    return found


def _numbers(seeds: range, kind: str, path: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """
    Directions in float64, or in complex128 for a complex dtype.
    """
    real = directions(seeds, f"{kind}:{path}", shape)
    if not jnp.issubdtype(dtype, jnp.complexfloating):
        return real
    return real + 1j * directions(seeds, f"{kind}-imaginary:{path}", shape)
