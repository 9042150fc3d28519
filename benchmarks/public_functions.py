"""
A survey: the derivatives of the public functions of JAX that take floating-point arrays, over their domains.

Run it with ``autoprop fuzz benchmarks/public_functions.py``. What it has found stands in docs/public_functions.md.
"""

import jax
import jax.numpy as jnp
import jax.scipy.stats
from function_tables import arrays, lax, linear, special, stats
from function_tables.rows import survey

NONE: frozenset[str] = frozenset()

# Prefix, module, its table, the names left out by reason, and the names that some supported version of JAX lacks.
MODULES = [
    ("jax.numpy", jnp, arrays.ROWS, arrays.LEFT_OUT, arrays.NOT_EVERYWHERE),
    ("jax.numpy.linalg", jnp.linalg, linear.LINALG, linear.LINALG_LEFT_OUT, NONE),
    ("jax.numpy.fft", jnp.fft, linear.FFT, linear.FFT_LEFT_OUT, NONE),
    ("jax.lax", jax.lax, lax.ROWS, lax.LEFT_OUT, lax.NOT_EVERYWHERE),
    ("jax.nn", jax.nn, special.NN, special.NN_LEFT_OUT, NONE),
    (
        "jax.scipy.special",
        jax.scipy.special,
        special.SPECIAL,
        special.SPECIAL_LEFT_OUT,
        special.SPECIAL_NOT_EVERYWHERE,
    ),
    ("jax.scipy.stats", jax.scipy.stats, stats.STATS, stats.STATS_LEFT_OUT, NONE),
]

TARGETS = [target for prefix, module, table, _, missing in MODULES for target in survey(module, prefix, table, missing)]
