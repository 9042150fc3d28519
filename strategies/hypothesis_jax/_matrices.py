"""Supports that constrain matrices by the last two axes: spd, orthogonal."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis.errors import InvalidArgument

from ._dims import Dims
from ._dtypes import DType, finfo
from ._elements import Array
from ._support import Support

__all__ = ["SPD", "Orthogonal", "orthogonal", "spd"]

_PLAIN = frozenset(
    (
        *("typical", "zeros", "identity", "diagonal", "equal elements", "equal columns"),
        *("rank deficient", "small integers", "symmetric"),
    )
)
_SCALED = frozenset(("magnitude 1e9", "magnitude 1e-9", "scaled identity 1e9", "scaled identity 1e-20"))


class SPD(Support):
    """
    Symmetric positive definite matrices, well enough conditioned for the dtype. Shrinks to the identity.
    """

    axes: ClassVar[int] = 2

    def __repr__(self) -> str:
        return "spd"

    def check(self, dims: Dims, dtype: DType) -> None:
        super().check(dims, dtype)
        if dims[-1] != dims[-2]:
            raise InvalidArgument(
                f"dims={' '.join(map(str, dims))!r} with support=spd must end in two equal dims; write 'n n'"
            )

    def contains(self, values: Array, dtype: DType) -> Array:
        symmetric = (values == values.swapaxes(-1, -2)).all((-1, -2)) & np.isfinite(values).all((-1, -2))
        # scaled, so that no eigenvalue overflows
        top = np.where(symmetric, np.abs(values).max((-1, -2)), 1.0)
        usable = symmetric & (top > 0)
        scaled = np.where(usable[..., None, None], values / np.where(usable, top, 1.0)[..., None, None], 0.0)
        roots = np.linalg.eigvalsh(scaled)
        inside: Array = usable & (roots[..., 0] > 4 * finfo(dtype).eps * roots[..., -1])
        return inside

    def project(self, values: Array, dtype: DType) -> Array:
        """
        Return s/2 (M Mᵀ + I), where M is the matrix scaled to the Frobenius norm √n, and s its scale: I stays I.
        """
        info, n = finfo(dtype), values.shape[-1]
        values = np.clip(np.nan_to_num(values), -1e100, 1e100)
        scale = np.sqrt((values**2).sum((-1, -2), keepdims=True) / n)
        m = np.where(scale > 0, values / np.where(scale > 0, scale, 1), np.eye(n))
        bounded = np.clip(np.where(scale > 0, scale, 1), max(1e-20, 1e3 * info.tiny), min(2e9, info.max / (n + 1)))
        made = bounded / 2 * (m @ m.swapaxes(-1, -2) + np.eye(n))
        return np.asarray((made + made.swapaxes(-1, -2)) / 2)

    def families(self, shape: tuple[int, ...], dtype: DType) -> tuple[str, ...]:
        return tuple(f for f in super().families(shape, dtype) if f in _PLAIN | _SCALED)


class Orthogonal(Support):
    """
    Matrices with orthonormal columns, square or tall. Shrinks to the identity.
    """

    axes: ClassVar[int] = 2

    def __repr__(self) -> str:
        return "orthogonal"

    def check(self, dims: Dims, dtype: DType) -> None:
        super().check(dims, dtype)
        rows, columns = dims[-2:]
        if isinstance(rows, int) and isinstance(columns, int) and rows < columns:
            raise InvalidArgument(
                f"dims={' '.join(map(str, dims))!r} with support=orthogonal must not be wider than tall; "
                f"write '{columns} {rows}'"
            )

    def fits(self, shape: tuple[int, ...]) -> bool:
        return shape[-2] >= shape[-1]

    def interval(self, dtype: DType, *, special: bool = False) -> tuple[Any, Any]:
        return -1.0, 1.0

    def contains(self, values: Array, dtype: DType) -> Array:
        off = np.abs(values.swapaxes(-1, -2) @ values - np.eye(values.shape[-1])).max((-1, -2))
        inside: Array = off <= 2 * values.shape[-2] * finfo(dtype).eps
        return inside

    def project(self, values: Array, dtype: DType) -> Array:
        q, r = np.linalg.qr(values)
        sign = np.where(np.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
        return np.asarray(q * sign[..., None, :])

    def families(self, shape: tuple[int, ...], dtype: DType) -> tuple[str, ...]:
        return tuple(f for f in super().families(shape, dtype) if f in _PLAIN)


spd = SPD()
orthogonal = Orthogonal()
