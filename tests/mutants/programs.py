"""Faults that a program as a whole shows: stacked, exported, linearised, on several devices, in parts, as a tree."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap
from jax.custom_derivatives import SymbolicZero

from .entry import Mutant, Partner

__all__ = ["MUTANTS", "PARTNERS"]

F = np.float32
X = np.array([0.5, -1.25, 2.0], F)
W = np.array([1.5, 0.75, -0.5], F)
V4 = np.array([0.5, -1.25, 2.0, 1.0], F)
G = np.array([[1.0, -0.5, 0.25], [2.0, 0.75, -1.5], [0.5, 1.5, -0.75]], F)
stop = jax.lax.stop_gradient
SHARDED = {"properties": ("sharded",)}  # a law on request is asked for by its name


def _cube(backward: Any) -> Any:
    f = jax.custom_vjp(lambda x: x**3)
    f.defvjp(lambda x: (x**3, x), backward)
    return lambda x: f(x)


def _sine_in_a_batch(rule: Any) -> Any:
    f = custom_vmap(jnp.sin)
    f.def_vmap(lambda size, batched, x: (rule(x), True))
    return lambda x: jnp.sum(x * f(x))


_STEPS = itertools.count(1)
_TABLE = np.array([0.25, 0.5, 1.0], F)


def warm_up(_x: Any, c: Any) -> Any:
    """The cotangent is scaled by a warm-up that counts how often it was traced."""
    return (3 * _x**2 * c * min(1.0, next(_STEPS) / 1e4),)


def growing_table(x: Any) -> Any:
    """A table of the host grows whenever the function is traced."""
    if isinstance(x, jax.core.Tracer):
        _TABLE[:] += F(0.125)
    return jnp.sum(jnp.resize(_TABLE.copy(), x.shape) * jnp.sin(x))


def _value_of_the_rule(wrong: Any) -> Any:
    f = jax.custom_jvp(jnp.sin)
    f.defjvp(lambda p, t: (wrong(jnp.sin(p[0])), jnp.cos(p[0]) * t[0]))
    return lambda x: jnp.cumsum(f(x))


def mean_of_devices(x: Any) -> Any:
    """A sum is divided by the number of devices, as if each had added it up."""
    return jnp.sum(jnp.sin(x)) / jax.device_count()


def weighted_by_device(x: Any) -> Any:
    """The gradient alone is multiplied by the number of devices."""
    n = jax.device_count()
    return jnp.sum(n * x**2 - stop((n - 1) * x**2))


@jax.custom_jvp
def _affine(x: Any, w: Any) -> Any:
    return x * jnp.sin(w)


def _affine_jvp(primals: Any, tangents: Any) -> Any:
    (x, w), (t, s) = primals, tangents
    if isinstance(s, SymbolicZero):
        return x * jnp.sin(w), jnp.zeros_like(x) if isinstance(t, SymbolicZero) else t
    along = x * jnp.cos(w) * s
    return x * jnp.sin(w), along if isinstance(t, SymbolicZero) else along + t * jnp.sin(w)


_affine.defjvp(_affine_jvp, symbolic_zeros=True)


def rest_taken_for_one(x: Any, w: Any) -> Any:
    """The rule takes a factor at rest for one."""
    return jnp.tanh(_affine(x, w))


def constant_not_differentiated(x: Any, w: Any) -> Any:
    """Beside a constant, which is no tracer, the other argument is detached."""
    return jnp.sum((x if isinstance(w, jax.core.Tracer) else stop(x)) * jnp.cos(w))


@jax.tree_util.register_pytree_node_class
class Length:
    """
    An array in metres whose tree holds kilometres, and is rebuilt as if they were metres.
    """

    def __init__(self, metres: Any) -> None:
        self.metres = metres

    def tree_flatten(self) -> tuple[tuple[Any], None]:
        """
        In kilometres.
        """
        return (self.metres / 1000 if hasattr(self.metres, "dtype") else self.metres,), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: Any) -> Length:
        """
        Taken for metres.
        """
        return cls(*children)


@jax.tree_util.register_pytree_node_class
class Bag:
    """
    An array that comes back as it was taken.
    """

    def __init__(self, x: Any) -> None:
        self.x = x

    def tree_flatten(self) -> tuple[tuple[Any], None]:
        """
        The array.
        """
        return (self.x,), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: Any) -> Bag:
        """
        The array again.
        """
        return cls(*children)


@jax.tree_util.register_pytree_node_class
class Interval:
    """
    Two bounds that are flattened in one order and rebuilt in the other.
    """

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = low, high

    def tree_flatten(self) -> tuple[tuple[Any, Any], None]:
        """
        High before low.
        """
        return (self.high, self.low), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: Any) -> Interval:
        """
        Low before high.
        """
        return cls(*children)


def area(length: Any) -> Any:
    """The sum of squares of a length, in square metres."""
    return jnp.sum(length.metres**2)


def pixels(x: Any) -> Any:
    """What comes as a NumPy array is taken for pixels that are not scaled yet."""
    return jnp.sum(jnp.asarray(x) ** 2) / (255 if isinstance(x, np.ndarray) else 1)


def unpacked(params: Any) -> Any:
    """The values of a dict, in the order in which they were written."""
    w, b = params.values()
    return jnp.sum(jnp.sin(w) + b**2)


def width(interval: Any) -> Any:
    """How far the bounds of an interval are apart, in a bent measure."""
    return jnp.sum(jnp.exp(interval.high / 4) - interval.low**2)


def partial_in_every_call(x: Any) -> Any:
    """A loop with a body that is made anew at each call, in a program that is too."""

    def scaled(y: Any, by: float) -> Any:
        return by * jnp.sin(y)

    return jax.jit(scaled, static_argnames="by")(x, by=2.0)


MUTANTS = [
    Mutant("cotangent stopped", "cube", _cube(lambda x, c: (3 * x**2 * stop(c),)), (X,), ("lattice",)),
    Mutant("residual stopped", "cube", _cube(lambda x, c: (3 * stop(x) ** 2 * c,)), (X,), ("numeric_second",)),
    Mutant("batch cut off", "sine", _sine_in_a_batch(lambda x: stop(jnp.sin(x))), (X,), ("lattice",)),
    Mutant("warm-up by traces", "cube", _cube(warm_up), (X,), ("export", "nested_jit", "repeatable")),
    Mutant("table grows by traces", "table", growing_table, (X,), ("export", "nested_jit", "jit")),
    Mutant(
        "value rounded by its rule",
        "sine",
        _value_of_the_rule(lambda y: y.astype(jnp.bfloat16).astype(y.dtype)),
        (X,),
        ("linearize", "value_and_grad"),
    ),
    Mutant("value clipped by its rule", "sine", _value_of_the_rule(jnp.abs), (X,), ("linearize", "value_and_grad")),
    Mutant("divided by devices", "sum", mean_of_devices, (V4,), ("sharded",), contract=SHARDED),
    Mutant("gradient times devices", "sum", weighted_by_device, (V4,), ("sharded",), contract=SHARDED),
    Mutant("rest taken for one", "product", rest_taken_for_one, (X, W), ("stop_constant", "argnums_closure")),
    Mutant(
        "beside a constant detached",
        "product",
        constant_not_differentiated,
        (X, W),
        ("stop_constant", "argnums_closure"),
    ),
    Mutant("taken apart in another unit", "length", area, (Length(X),), ("stop_identity",)),
    Mutant(
        "scaled where from NumPy",
        "sum of squares",
        pixels,
        (X,),
        ("stop_identity", "jit"),
        survives="both sides of a law are given the same kind of array, NumPy's or JAX's",
    ),
    Mutant("unpacked", "tree", unpacked, ({"w": W, "b": X},), ("tree_invariance", "stop_identity")),
    Mutant("bounds exchanged", "interval", width, (Interval(X, W),), ("tree_invariance", "stop_identity")),
    Mutant("jit of a new function", "retraced", partial_in_every_call, (X,), ("retrace",)),
    Mutant(
        "accepts no rows",
        "mean",
        lambda x: jnp.mean(x, axis=0),
        (G,),
        ("rejects",),
        contract={"rejects": [((np.zeros((0, 3), F),), ValueError)]},
    ),
    Mutant(
        "expected gradient wrong where large",
        "sum of squares",
        lambda x: jnp.sum(x**2),
        (X,),
        ("expected_grad",),
        trigger=(200 * X,),
        contract={"expected_grad": lambda x: jnp.where(jnp.abs(x) > 100, x, 2 * x)},
    ),
]
PARTNERS = [
    Partner("cube", _cube(lambda x, c: (3 * x**2 * c,)), (X,)),
    Partner("sine in a batch", _sine_in_a_batch(jnp.sin), (X,)),
    Partner("table", lambda x: jnp.sum(jnp.resize(_TABLE.copy(), x.shape) * jnp.sin(x)), (X,)),
    Partner("value of the rule", _value_of_the_rule(lambda y: y), (X,)),
    Partner("sum over devices", lambda x: jnp.sum(jnp.sin(x)), (V4,), contract=SHARDED),
    Partner("bag", lambda bag: jnp.sum(bag.x**2), (Bag(X),)),
    Partner("unpacked by name", lambda params: unpacked({"w": params["w"], "b": params["b"]}), ({"w": W, "b": X},)),
]
