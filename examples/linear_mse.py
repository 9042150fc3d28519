"""
Mean squared error of a linear model, differentiated in its weights and its bias at once.

At zero parameters, on inputs ((1, 0), (0, 1), (1, 1)) and labels (1, -1, 0), the gradients are (-2/3, 2/3) and 0.
"""

import jax
import jax.numpy as jnp

from autoprop import Target
from hypothesis_jax import array


def mse(w, b, x, y):
    return jnp.mean((x @ w + b - y) ** 2)


def gradient(w, b, x, y):
    residual = x @ w + b - y
    return 2 * (residual @ x) / len(y), 2 * jnp.sum(residual) / len(y)


def swapped(f, argnums):
    """A training loop's own gradient function that hands the gradients back in the wrong order."""
    inner = jax.grad(f, argnums)
    return lambda *args: inner(*args)[::-1]


@jax.custom_vjp
def add_bias(x, b):
    return x + b


def add_bias_forward(x, b):
    return add_bias(x, b), None


def add_bias_backward(_, g):
    """The bias is shared by every row, so its cotangents add up; here they are averaged."""
    return g, jnp.mean(g)


add_bias.defvjp(add_bias_forward, add_bias_backward)


def mse_mean_for_sum(w, b, x, y):
    return jnp.mean((add_bias(x @ w, b) - y) ** 2)


SPEC = (array("d"), array(""), array("n d"), array("n"))
CONTRACT = {"argnums": (0, 1), "live": ("w", "b"), "expected_grad": gradient}

SOUND = [Target(mse, SPEC, name="linear_mse", **CONTRACT)]
FAULTY = [
    Target(mse, SPEC, name="linear_mse_swapped", gradient=swapped, **CONTRACT),
    Target(mse_mean_for_sum, SPEC, name="linear_mse_mean_for_sum", **CONTRACT),
]
TARGETS = [*SOUND, *FAULTY]
