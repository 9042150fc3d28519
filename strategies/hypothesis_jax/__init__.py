"""Hypothesis strategies for JAX: specs of pytrees with named dims, and plain strategies of arrays, keys and trees."""

from __future__ import annotations

from ._families import FAMILIES
from ._interval import mask, positive, real, unit_interval
from ._layout import Arguments
from ._leaves import LeafSpec, array, constant, key, labels, static
from ._like import like
from ._matrices import orthogonal, spd
from ._plain import arrays, dtypes, keys
from ._pool import signatures
from ._pytrees import pytrees
from ._register import register as _register
from ._sample import Sample, rows, sample
from ._signature import Signature
from ._smaller import smaller
from ._support import Support
from ._trees import choices, trees
from ._vectors import one_hot, simplex, sorted_

__all__ = [
    "FAMILIES",
    "Arguments",
    "LeafSpec",
    "Sample",
    "Signature",
    "Support",
    "array",
    "arrays",
    "choices",
    "constant",
    "dtypes",
    "key",
    "keys",
    "labels",
    "like",
    "mask",
    "one_hot",
    "orthogonal",
    "positive",
    "pytrees",
    "real",
    "rows",
    "sample",
    "signatures",
    "simplex",
    "smaller",
    "sorted_",
    "spd",
    "static",
    "trees",
    "unit_interval",
]

_register()
