"""
A quadratic beside a stopped linear branch: the value has both, the gradient only the quadratic's.

At x = (2, -3) the loss is 13 - 10 = 3 and its gradient 2x = (4, -6).
"""

import jax
import jax.numpy as jnp

from autoprop import Target
from hypothesis_jax import array

SLOPE = jnp.array([1.0, 4.0])


def quadratic_stop(x):
    return x @ x + jax.lax.stop_gradient(SLOPE @ x)


def stop_missing(x):
    """The linear branch leaks into the gradient."""
    return x @ x + SLOPE @ x


def stop_misplaced(x):
    """The brackets close too late: nothing is left to learn from."""
    return jax.lax.stop_gradient(x @ x + SLOPE @ x)


def gradient(x):
    return 2 * x


CONTRACT = {"argnums": 0, "live": "x", "intended": "stop_gradient", "expected_grad": gradient}

SOUND = [Target(quadratic_stop, array("2"), **CONTRACT)]
FAULTY = [
    Target(stop_missing, array("2"), name="quadratic_stop_missing", **CONTRACT),
    Target(stop_misplaced, array("2"), name="quadratic_stop_misplaced", **CONTRACT),
]
TARGETS = [*SOUND, *FAULTY]
