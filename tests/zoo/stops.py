"""Functions for the laws of stop_gradient: `stop_identity`, `frozen`, `live`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .entry import Planted, Sound

F = np.float32
X3 = np.array([0.5, -1.25, 2.0], F)
W = np.array([1.5, 0.75, -0.5], F)
stop = jax.lax.stop_gradient


@jax.tree_util.register_pytree_node_class
class Scaled:
    """
    An array with a scale that its tree does not tell of.
    """

    def __init__(self, x: Any) -> None:
        self.x, self.scale = x, 1.0

    def tree_flatten(self) -> tuple[tuple[Any], None]:
        """
        The array alone.
        """
        return (self.x,), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: Any) -> Scaled:
        """
        The scale is what it was at first.
        """
        return cls(*children)


def scaled(x: Any, scale: float) -> Scaled:
    """Return x with a scale of its own."""
    made = Scaled(x)
    made.scale = scale
    return made


def state_outside_the_tree(node: Any) -> Any:
    """A node whose state is lost when its tree is rebuilt, as stopping its leaves does."""
    return jnp.sum(node.x * node.scale)


_LAST: dict[str, Any] = {}


def remembers_by_identity(x: Any) -> Any:
    """A cache by identity that forgets a term for every array but the first one it was given."""
    known = x if isinstance(x, jax.core.Tracer) else _LAST.setdefault("first", x)
    return jnp.sum(jnp.asarray(x) ** 2) + (1.0 if known is x else 0.0)


def straight_through(x: Any) -> Any:
    """Rounding with the gradient of the identity."""
    return jnp.sum(x + stop(jnp.round(x) - x))


def leaking_target(params: Any, target: Any) -> Any:
    """The stop covers the prediction of the target network, but not its penalty."""
    return jnp.sum((params * X3 - stop(target * X3)) ** 2) + 1e-3 * jnp.sum(target**2)


@jax.custom_vjp
def _stopped(x: Any) -> Any:
    return x * 1.0


_stopped.defvjp(lambda x: (x * 1.0, None), lambda _, c: (c,))


def stop_in_name_only(params: Any, target: Any) -> Any:
    """A custom rule that is called a stop, and passes the cotangent on."""
    return jnp.sum((params - _stopped(target)) ** 2)


def tiny_leak(params: Any, target: Any) -> Any:
    """A leak of 1e-30 beside a gradient of order one: zero has to be exact."""
    return jnp.sum((params - stop(target)) ** 2) + 1e-30 * jnp.sum(target)


def whole_loss_stopped(params: Any, x: Any) -> Any:
    """The classic accident: nothing is trained."""
    return stop(jnp.sum((params * x) ** 2))


def starving_codebook(params: Any, x: Any) -> Any:
    """Of two leaves, one is only ever used behind a stop."""
    nearest = stop(params["codebook"])
    return jnp.sum((x * params["encoder"] - nearest) ** 2)


def semi_gradient(params: Any, target: Any, reward: Any) -> Any:
    """A temporal difference whose bootstrapped target is held."""
    return jnp.sum((params * X3 - stop(reward + 0.9 * target * X3)) ** 2)


def trained_by_half(params: Any, x: Any) -> Any:
    """A rectifier that is dead at some points, and alive at others."""
    return jnp.sum(jax.nn.relu(params * x))


_TD = {"frozen": ("target",), "live": ("params",), "intended": ("stop_gradient",)}
_LEAVES = {"encoder": W, "codebook": X3}

FAULTS = [
    Planted("state outside the tree", "stop_identity", state_outside_the_tree, (scaled(X3, 3.0),)),
    Planted("remembers by identity", "stop_identity", remembers_by_identity, (X3,)),
    Planted("leaking target", "frozen", leaking_target, (W, X3), contract=_TD),
    Planted("stop in name only", "frozen", stop_in_name_only, (W, X3), contract=_TD),
    Planted("tiny leak", "frozen", tiny_leak, (W, X3), contract=_TD),
    Planted("whole loss stopped", "live", whole_loss_stopped, (W, X3), contract={"live": ("params",)}),
    Planted(
        "starving codebook",
        "live",
        starving_codebook,
        (_LEAVES, X3 / 2),
        contract={"live": ("params",), "intended": ("stop_gradient",)},
    ),
]
SOUND = [
    Sound(
        "straight through",
        "stop_identity",
        straight_through,
        (X3,),
        tricky=(np.array([0.5, -1.5, 0], F),),
        contract={"intended": ("stop_gradient",)},
    ),
    Sound("semi-gradient", "frozen", semi_gradient, (W, X3, X3), tricky=(0 * W, 0 * X3, X3), contract=_TD),
    Sound("dead at some points", "live", trained_by_half, (W, X3), tricky=(W, 1e-9 * X3), contract={"live": "params"}),
]
