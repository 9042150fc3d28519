"""Rules of linear algebra: products, convolutions, inverses."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from hypothesis_jax import array, spd

from .entry import Rule

__all__ = ["RULES"]

F = np.float32
X = np.array([0.5, -1.25, 2.0], F)
Y = np.array([1.5, 0.75, -0.5], F)
A = np.array([[0.5, -1.25, 2.0], [1.5, 0.75, -0.5]], F)
B = np.array([[1.0, -0.5], [0.25, 2.0], [-1.5, 0.75]], F)
S = np.array([[2.0, 0.5, 0.25], [0.5, 1.5, -0.25], [0.25, -0.25, 1.0]], F)
G = np.array([[1.0, -0.5, 0.25], [2.0, 0.75, -1.5], [0.5, 1.5, -0.75]], F)
SPD = array("n n", support=spd)

RULES = [
    Rule(
        "dot",
        jnp.dot,
        (lambda t, x, y: jnp.dot(t, y), lambda t, x, y: jnp.dot(x, t)),
        (X, Y),
        slips={"of itself": (0, lambda t, x, y: jnp.dot(t, x))},
    ),
    Rule(
        "matmul",
        jnp.matmul,
        (lambda c, a, b: c @ b.T, lambda c, a, b: a.T @ c),
        (A, B),
        reverse=True,
        spec=(array("n m"), array("m k")),
        slips={"reshaped for transposed": (1, lambda c, a, b: a.reshape(a.shape[::-1]) @ c)},
    ),
    Rule(
        "square matmul",
        jnp.matmul,
        (lambda c, a, b: c @ b.T, lambda c, a, b: a.T @ c),
        (G, S),
        reverse=True,
        spec=(array("n n"), array("n n")),
        slips={
            "not transposed": (1, lambda c, a, b: a @ c),
            "order exchanged": (0, lambda c, a, b: b.T @ c),
            "result transposed": (0, lambda c, a, b: (c @ b.T).T),
        },
    ),
    Rule(
        "outer product",
        jnp.outer,
        (lambda c, x, y: c @ y, lambda c, x, y: x @ c),
        (X, np.array([1.5, -0.5], F)),
        reverse=True,
        slips={"diagonal only": (0, lambda c, x, y: jnp.zeros_like(x).at[: y.size].add(jnp.diagonal(c) * y[: x.size]))},
    ),
    Rule(
        "convolution",
        lambda x, k: jnp.convolve(x, k, mode="full"),
        (
            lambda c, x, k: jnp.convolve(c, k[::-1], mode="valid"),
            lambda c, x, k: jnp.convolve(c, x[::-1], mode="valid"),
        ),
        (np.array([0.5, -1.25, 2.0, 1.0, -0.75], F), X),
        reverse=True,
        spec=(array(5), array(3)),
        slips={
            "kernel not flipped": (0, lambda c, x, k: jnp.convolve(c, k, mode="valid")),
            "signal not flipped": (1, lambda c, x, k: jnp.convolve(c, x, mode="valid")),
            "cut at the start": (0, lambda c, x, k: jnp.convolve(c, k[::-1], mode="full")[: x.size]),
        },
    ),
    Rule(
        "quadratic form",
        lambda x, a: x @ a @ x,
        (lambda c, x, a: c * (a + a.T) @ x, lambda c, x, a: c * jnp.outer(x, x)),
        (X, G),
        reverse=True,
        slips={"matrix taken for symmetric": (0, lambda c, x, a: 2 * c * a @ x)},
    ),
    Rule(
        "solve",
        lambda a, b: jnp.linalg.solve(a, b),
        (
            lambda c, a, b: -jnp.outer(jnp.linalg.solve(a.T, c), jnp.linalg.solve(a, b)),
            lambda c, a, b: jnp.linalg.solve(a.T, c),
        ),
        (S, X),
        reverse=True,
        spec=(SPD, array("n")),
        slips={
            "minus is missing": (0, lambda c, a, b: jnp.outer(jnp.linalg.solve(a.T, c), jnp.linalg.solve(a, b))),
            "factors exchanged": (0, lambda c, a, b: -jnp.outer(jnp.linalg.solve(a, b), jnp.linalg.solve(a.T, c))),
        },
    ),
    Rule(
        "inverse",
        jnp.linalg.inv,
        (lambda t, a: -jnp.linalg.inv(a) @ t @ jnp.linalg.inv(a),),
        (S,),
        spec=(SPD,),
        slips={"one factor": (0, lambda t, a: -jnp.linalg.inv(a) @ t)},
    ),
    Rule(
        "log determinant",
        lambda a: jnp.linalg.slogdet(a)[1],
        (lambda c, a: c * jnp.linalg.inv(a).T,),
        (G + 3 * np.eye(3, dtype=F),),
        reverse=True,
        slips={
            "inverse not transposed": (0, lambda c, a: c * jnp.linalg.inv(a)),
            "of the determinant": (0, lambda c, a: c * jnp.linalg.det(a) * jnp.linalg.inv(a).T),
        },
    ),
]
