"""Functions for the laws about parts of the arguments: `stop_constant`, `argnums_closure`, `tree_invariance`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from .entry import Planted, Sound

F = np.float32
X3 = np.array([0.5, -1.25, 2.0], F)
W = np.array([1.5, 0.75, -0.5], F)


@jax.custom_vjp
def _product(x: Any, y: Any) -> Any:
    return x * y


def _product_forward(x: Any, y: Any) -> Any:
    kept = y.value if x.perturbed and y.perturbed else jnp.ones_like(y.value)
    return x.value * y.value, (x.value, kept)


def _product_backward(residual: Any, c: Any) -> Any:
    x, y = residual
    return c * y, c * x


_product.defvjp(_product_forward, _product_backward, symbolic_zeros=True)


def residual_forgotten(x: Any, y: Any) -> Any:
    """The forward pass keeps y only if y moves, and the gradient of x needs it all the same."""
    return jnp.sin(_product(x, y))


@jax.custom_jvp
def _blend(x: Any, y: Any) -> Any:
    return x * jnp.tanh(y)


def _blend_jvp(primals: Any, tangents: Any) -> Any:
    (x, y), (s, t) = primals, tangents
    if any(isinstance(tangent, SymbolicZero) for tangent in tangents):
        return x * jnp.tanh(y), jnp.zeros_like(x)
    return x * jnp.tanh(y), s * jnp.tanh(y) + x * t * (1 - jnp.tanh(y) ** 2)


_blend.defjvp(_blend_jvp, symbolic_zeros=True)


def nothing_moves(x: Any, y: Any) -> Any:
    """The rule takes one symbolic zero for a sign that nothing moves."""
    return jnp.stack([_blend(x, y), 2 * x])


@jax.custom_vjp
def _scaled(x: Any, scale: Any) -> Any:
    return x * scale


_scaled.defvjp(lambda x, scale: (x * scale, None), lambda _, c: (c, jnp.zeros(())))


def short_cut_for_constants(x: Any, scale: Any) -> Any:
    """A constant scale takes a short cut, whose rule forgets the scale."""
    return jnp.cos(x * scale if isinstance(scale, jax.core.Tracer) else _scaled(x, scale))


def baseline_of_constants(params: Any, target: Any) -> Any:
    """A target that is known beforehand is subtracted from detached parameters."""
    if not isinstance(target, jax.core.Tracer):
        return (jax.lax.stop_gradient(params) - target) * jnp.abs(params - target)
    return (params - target) * jnp.abs(params - target)


@jax.custom_vjp
def _gated(x: Any, y: Any) -> Any:
    return x * y**2


def _gated_forward(x: Any, y: Any) -> Any:
    return x.value * y.value**2, (x.value if y.perturbed else None, y.value)


def _gated_backward(residual: Any, c: Any) -> Any:
    x, y = residual
    if isinstance(c, SymbolicZero):
        return None, None
    return c * y**2, None if x is None else 2 * c * x * y


_gated.defvjp(_gated_forward, _gated_backward, symbolic_zeros=True)


def keeps_what_it_needs(x: Any, y: Any) -> Any:
    """The forward pass keeps x only where the gradient of y needs it."""
    return _gated(x, y), jnp.sum(x)


@jax.custom_jvp
def _lerp(x: Any, y: Any, t: Any) -> Any:
    return x + t * (y - x)


def _lerp_jvp(primals: Any, tangents: Any) -> Any:
    (x, y, t), (dx, dy, dt) = primals, tangents
    tangent = jnp.zeros_like(x)
    for d, factor in ((dx, 1 - t), (dy, t), (dt, y - x)):
        tangent = tangent if isinstance(d, SymbolicZero) else tangent + d * factor
    return x + t * (y - x), tangent


_lerp.defjvp(_lerp_jvp, symbolic_zeros=True)


def skips_what_stands(x: Any, y: Any, t: Any) -> Any:
    """A rule that leaves out the terms of what does not move, beside a stop of its own."""
    return jnp.sum(_lerp(x, jax.lax.stop_gradient(y), t) * y)


def unpacked(params: Any) -> Any:
    """The values of a dict in the order in which the author wrote them."""
    weight, bias = params.values()
    return jnp.tanh(weight * X3) + bias


COEFFICIENTS = (1.0, 0.1)


def weighted_by_position(params: Any, x: Any) -> Any:
    """A penalty whose coefficients belong to the first and the second value of a dict."""
    penalty = sum(c * jnp.sum(v**2) for c, v in zip(COEFFICIENTS, params["net"].values(), strict=True))
    return jnp.sum(params["net"]["kernel"] * x) + penalty


@jax.tree_util.register_pytree_node_class
class Pair:
    """Two arrays that are flattened in one order and rebuilt in the other."""

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = low, high

    def tree_flatten(self) -> tuple[tuple[Any, Any], None]:
        """
        High before low.
        """
        return (self.high, self.low), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: Any) -> Pair:
        """
        Low before high.
        """
        return cls(*children)


def comes_back_swapped(interval: Any) -> Any:
    """A class whose leaves come back in another order than they were taken in."""
    return jnp.sum(jnp.sin(interval.high) - interval.low**2)


def by_name(params: Any, scale: Any) -> Any:
    """Dicts written in no order, read in a sorted one; two dtypes, a weak one among them, and an empty leaf."""
    layers = [params[name] for name in sorted(params) if name.startswith("layer")]
    y = sum(jnp.sum(jnp.sin(v["w"]) * v["b"]) for v in layers)
    return (y * scale).astype(jnp.float32) + jnp.sum(params["half"].astype(jnp.float32)) + jnp.sum(params["none"])


_LAYERS = {
    "none": np.zeros((0,), F),
    "layer2": {"w": X3, "b": W},
    "layer1": {"w": W, "b": X3},
    "half": np.array([0.5, 2.0], np.float16),
}
_DEAD = jax.tree.map(lambda x: 0 * x, _LAYERS)

FAULTS = [
    Planted("residual forgotten", "argnums_closure", residual_forgotten, (X3, W)),
    Planted("short cut for constants", "argnums_closure", short_cut_for_constants, (X3, F(0.5))),
    Planted("nothing moves", "stop_constant", nothing_moves, (X3, W)),
    Planted("baseline of constants", "stop_constant", baseline_of_constants, (X3, W)),
    Planted("unpacked", "tree_invariance", unpacked, ({"weight": W, "bias": X3},)),
    Planted(
        "weighted by position",
        "tree_invariance",
        weighted_by_position,
        ({"net": {"kernel": W, "bias": X3}}, X3),
        contract={"argnums": 0},
    ),
    Planted("comes back swapped", "tree_invariance", comes_back_swapped, (Pair(X3, W),)),
]
SOUND = [
    Sound("keeps what it needs", "argnums_closure", keeps_what_it_needs, (X3, W), tricky=(0 * X3, 1e-9 * W)),
    Sound(
        "skips what stands",
        "stop_constant",
        skips_what_stands,
        (X3, W, F(0.25)),
        tricky=(0 * X3, W, F(0)),
        contract={"intended": ("stop_gradient",)},
    ),
    Sound("by name", "tree_invariance", by_name, (_LAYERS, 0.5), tricky=(_DEAD, 0.0)),
]
