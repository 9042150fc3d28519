"""
A survey: the derivatives of the float and complex cases that JAX tests its primitives with.

Run it with ``autoprop fuzz benchmarks/harness_cases.py``. JAX keeps these cases in a module that is not public,
``jax._src.internal_test_util.test_harnesses``, which installed wheels hold; without it this file is refused.
"""

import functools
import zlib
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autoprop import Target
from hypothesis_jax import like

try:
    from jax._src.internal_test_util import test_harnesses
except ImportError as error:
    raise ImportError(
        f"JAX {jax.__version__} has no jax._src.internal_test_util.test_harnesses, where its test cases were; "
        "run benchmarks/public_functions.py instead, which needs public names only"
    ) from error

MANY = 4096  # elements of the largest argument of a case: a search multiplies them by its rows


def is_inexact(value: Any) -> bool:
    """
    Say whether a value is a floating or complex array, or a Python number of these kinds.
    """
    return isinstance(value, float | complex) or (hasattr(value, "dtype") and jnp.issubdtype(value.dtype, jnp.inexact))


def is_meant(harness: Any) -> bool:
    """
    Say whether a case is of a float or complex dtype that is on, and is implemented on the CPU.
    """
    if harness.dtype is None or not jnp.issubdtype(harness.dtype, jnp.inexact):
        return False
    return jax.dtypes.canonicalize_dtype(harness.dtype) == np.dtype(harness.dtype) and harness.filter("cpu")


def cases() -> Iterator[Target]:
    """
    Yield a target for each case that takes and returns floating or complex arrays and is not too large.

    The example's own values are made by a generator seeded with the case's name, so that a case never changes.
    """
    for harness in filter(is_meant, test_harnesses.all_harnesses):
        name = f"{harness.group_name}/{harness.name}"
        arguments = harness.dyn_args_maker(np.random.RandomState(zlib.crc32(name.encode())))
        leaves = jax.tree.leaves(arguments)
        if any(map(is_inexact, leaves)) and max(map(np.size, leaves)) <= MANY:
            outputs = jax.eval_shape(functools.partial(harness.dyn_fun, *arguments))
            if any(map(is_inexact, jax.tree.leaves(outputs))):
                yield Target(harness.dyn_fun, like(*arguments), name=name)


TARGETS = list(cases())
