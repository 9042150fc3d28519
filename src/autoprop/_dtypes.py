"""Promotion of arrays to the widest dtype of their kind, and what dtypes can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ._trees import is_inexact

__all__ = ["all_finite", "double", "eps", "finfo", "narrow", "wide", "wide_dtype"]


# Smallest normal numbers of dtypes computed with an exponent of 8 bits: float32, bfloat16, complex64.
FLUSHED = (1e-40, 1e-37)


def finfo(dtype: Any) -> Any:
    """
    Return the limits of an inexact dtype, those of its parts for a complex one; bfloat16 and its kin included.
    """
    return jnp.finfo(dtype)  # type: ignore[no-untyped-call]


def wide_dtype(leaf: Any) -> Any:
    """
    Return the 64-bit dtype of a leaf's kind: float64, or complex128.
    """
    return jnp.complex128 if jnp.issubdtype(jnp.result_type(leaf), jnp.complexfloating) else jnp.float64


def wide(leaves: Sequence[Any]) -> list[Any]:
    """
    Promote the inexact leaves to 64 bits; call under ``jax.enable_x64(True)``. Other leaves stay as they are.

    Subnormal numbers of 32-bit exponent range become 0, as they do in XLA's own arithmetic.
    """
    promoted = []
    for leaf in leaves:
        if is_inexact(leaf):
            x = np.asarray(leaf)
            tiny = float(finfo(x.dtype).tiny)
            leaf = x.astype(wide_dtype(leaf))
            if FLUSHED[0] < tiny < FLUSHED[1]:
                for part in (leaf.real, leaf.imag) if np.iscomplexobj(leaf) else (leaf,):
                    with np.errstate(invalid="ignore"):
                        part[...] = np.where(np.abs(part) < tiny, part * 0.0, part)  # a zero keeps its sign
        promoted.append(leaf)
    return promoted


def narrow(leaves: Sequence[Any]) -> list[Any]:
    """
    Demote the inexact leaves to 32 bits. Other leaves stay as they are.
    """
    demoted = []
    for leaf in leaves:
        if is_inexact(leaf):
            complex_ = jnp.issubdtype(jnp.result_type(leaf), jnp.complexfloating)
            leaf = np.asarray(leaf).astype(np.complex64 if complex_ else np.float32)
        demoted.append(leaf)
    return demoted


def double(leaf: Any) -> Any:
    """
    Return a leaf as a NumPy array of float64, or of complex128 where it is complex.
    """
    x = np.asarray(leaf)
    return x.astype(np.complex128 if jnp.issubdtype(x.dtype, jnp.complexfloating) else np.float64)


def all_finite(leaves: Sequence[Any]) -> bool:
    """
    Say whether every number of these leaves is finite.
    """
    return all(bool(np.all(np.isfinite(double(leaf)))) for leaf in leaves)


def eps(leaf: Any) -> float:
    """
    Return the machine epsilon of an inexact leaf's dtype.
    """
    return float(finfo(jnp.result_type(leaf)).eps)
