"""Faults of gradient transforms, of contracts, and of how trees and arguments are told apart."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .entry import NUMBERS, Mutant, Partner

__all__ = ["MUTANTS", "PARTNERS"]

F = np.float32
X = np.array([0.5, -1.25, 2.0], F)
W = np.array([1.5, 0.75, -0.5], F)
G = np.array([[1.0, -0.5, 0.25], [2.0, 0.75, -1.5], [0.5, 1.5, -0.75]], F)
_TREE = {"w": W, "b": X}


def two_sided(a: Any, b: Any) -> Any:
    """A loss that treats its two arguments differently."""
    return jnp.sum(jnp.sin(a) * b**2)


def sorting(fn: Any, argnums: Any) -> Any:
    """A gradient transform that sorts its argnums."""
    return jax.grad(fn, argnums if isinstance(argnums, int) else tuple(sorted(argnums)))


def reversing(fn: Any, argnums: Any) -> Any:
    """A gradient transform that gives several gradients back to front."""
    if isinstance(argnums, int):
        return jax.grad(fn, argnums)
    return lambda *args: jax.grad(fn, argnums)(*args)[::-1]


def first_only(fn: Any, argnums: Any) -> Any:
    """A gradient transform that counts negative argnums from the wrong end."""
    if isinstance(argnums, int):
        return jax.grad(fn, abs(argnums) if argnums < -1 else argnums)
    return jax.grad(fn, tuple(abs(n) if n < -1 else n for n in argnums))


def ascending(fn: Any, argnums: Any) -> Any:
    """A gradient transform with the sign of a maximiser."""
    return lambda *args: jax.tree.map(jnp.negative, jax.grad(fn, argnums)(*args))


def normalising(fn: Any, argnums: Any) -> Any:
    """A gradient transform that clips on the sly."""
    return lambda *args: jax.tree.map(lambda g: jnp.clip(g, -0.01, 0.01), jax.grad(fn, argnums)(*args))


def accepts_all(x: Any) -> Any:
    """A function that should refuse a matrix."""
    return jnp.sum(x**2)


def _ascent_rule() -> Any:
    f = jax.custom_vjp(lambda x: jnp.sum((x - 1) ** 2))
    f.defvjp(lambda x: (f(x), x), lambda x, c: (-2 * c * (x - 1),))
    return lambda x: f(x)


def first_leaf_weighs_more(params: Any) -> Any:
    """The order of the leaves is taken for a meaning."""
    leaves = jax.tree.leaves(params)
    return sum((i + 1) * jnp.sum(leaf**2) for i, leaf in enumerate(leaves))


def shortest_name_skipped(params: Any) -> Any:
    """Weight decay that leaves out whatever is called b: names are the user's to give a meaning."""
    return sum(jnp.sum(leaf**2) for name, leaf in params.items() if name != "b")


def plain_tree(params: Any) -> Any:
    """A loss of a tree."""
    return jnp.sum(params["w"] ** 2) + jnp.sum(jnp.sin(params["b"]))


MUTANTS = [
    Mutant("sorted argnums", "two arguments", two_sided, (X, W), ("argnums_order",), contract={"gradient": sorting}),
    Mutant(
        "gradients reversed", "two arguments", two_sided, (X, W), ("argnums_order",), contract={"gradient": reversing}
    ),
    Mutant(
        "negative argnums", "two arguments", two_sided, (X, W), ("argnums_order",), contract={"gradient": first_only}
    ),
    Mutant(
        "gradient of a maximiser",
        "two arguments",
        two_sided,
        (X, W),
        ("descent", "value_and_grad"),
        contract={"gradient": ascending},
    ),
    Mutant(
        "gradient clipped", "two arguments", two_sided, (X, W), ("value_and_grad",), contract={"gradient": normalising}
    ),
    Mutant("rule ascends", "square loss", _ascent_rule(), (X,), ("descent", *NUMBERS)),
    Mutant(
        "accepts a matrix",
        "sum of squares",
        accepts_all,
        (X,),
        ("rejects",),
        contract={"rejects": [((G,), ValueError)]},
    ),
    Mutant(
        "wrong formula",
        "sum of squares",
        accepts_all,
        (X,),
        ("reference",),
        contract={"reference": lambda x: 2 * jnp.sum(x**2)},
    ),
    Mutant(
        "wrong where large",
        "sum of squares",
        lambda x: jnp.sum(jnp.where(jnp.abs(x) > 100, jnp.abs(x), x**2)),
        (X,),
        ("reference",),
        trigger=(200 * X,),
        contract={"reference": lambda x: jnp.sum(x**2)},
    ),
    Mutant(
        "wrong expected gradient",
        "sum of squares",
        accepts_all,
        (X,),
        ("expected_grad",),
        contract={"expected_grad": lambda x: x},
    ),
    Mutant("order of the leaves", "tree", first_leaf_weighs_more, (_TREE,), ("tree_invariance",)),
]
PARTNERS = [
    Partner("two arguments", two_sided, (X, W), contract={"gradient": jax.grad}),
    Partner(
        "sum of squares",
        accepts_all,
        (X,),
        contract={"reference": lambda x: jnp.sum(x * x), "expected_grad": lambda x: 2 * x},
    ),
    Partner("tree", plain_tree, (_TREE,)),
    Partner("names with a meaning", shortest_name_skipped, (_TREE,)),
    Partner("ascent on purpose", _ascent_rule(), (X,), contract={"intended": ("custom_rules",)}),
]
