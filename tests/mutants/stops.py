"""Faults of stops: gradients that leak through one, or are cut where they should live."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .entry import NUMBERS, Mutant, Partner
from .operators import crooked

__all__ = ["MUTANTS", "PARTNERS"]

F = np.float32
X = np.array([0.5, -1.25, 2.0], F)
W = np.array([1.5, 0.75, -0.5], F)
stop = jax.lax.stop_gradient
STOPS = {"intended": ("stop_gradient",)}
TD = {"frozen": ("target",), "live": ("params",), **STOPS}
LIVE = {"live": ("params",)}


def td_loss(params: Any, target: Any, reward: Any) -> Any:
    """The squared error against a held target."""
    return jnp.sum((params - stop(reward + 0.9 * target)) ** 2)


@jax.custom_vjp
def _held(x: Any) -> Any:
    return x


_held.defvjp(lambda x: (x, None), lambda _, c: (0 * c,))


@jax.custom_jvp
def _almost_held(x: Any) -> Any:
    return x


_almost_held.defjvp(lambda p, t: (p[0], 1e-6 * t[0]))


@jax.custom_jvp
def _held_once(x: Any) -> Any:
    return x


_held_once.defjvp(lambda p, t: (p[0], 0 * crooked(p[0]) * t[0]))


def held_by_a_rule(params: Any, target: Any, reward: Any) -> Any:
    """A stop made of a rule with a cotangent of 0."""
    return jnp.sum((params - _held(reward + 0.9 * target)) ** 2)


def stop_is_missing(params: Any, target: Any, reward: Any) -> Any:
    """The target is not held."""
    return jnp.sum((params - (reward + 0.9 * target)) ** 2)


def stop_on_the_reward(params: Any, target: Any, reward: Any) -> Any:
    """The stop stands one bracket too far to the left."""
    return jnp.sum((params - (stop(reward) + 0.9 * target)) ** 2)


def stop_leaks_a_little(params: Any, target: Any, reward: Any) -> Any:
    """A stop that lets a millionth through."""
    return jnp.sum((params - _almost_held(reward + 0.9 * target)) ** 2)


def stop_in_one_branch(params: Any, target: Any, reward: Any) -> Any:
    """Where the reward is large, the other branch is taken, which has no stop."""
    held = stop(reward + 0.9 * target)
    return jnp.sum((params - jnp.where(reward > 50, reward + 0.9 * target, held)) ** 2)


def regulariser_outside(params: Any, target: Any, reward: Any) -> Any:
    """A decay of all weights, the target's too."""
    return td_loss(params, target, reward) + 1e-4 * jnp.sum(target**2)


def target_stopped_twice(params: Any, target: Any, reward: Any) -> Any:
    """The prediction is stopped instead of the target."""
    return jnp.sum((stop(params) - stop(reward + 0.9 * target)) ** 2)


def whole_loss_stopped(params: Any, target: Any, reward: Any) -> Any:
    """Nothing is trained."""
    return stop(td_loss(params, target, reward))


def one_leaf_stopped(params: Any, x: Any) -> Any:
    """The bias is only used behind a stop."""
    return jnp.sum((x * params["weight"] + stop(params["bias"])) ** 2)


def rounded_through_integers(params: Any, x: Any) -> Any:
    """A cast to integers cuts the gradient."""
    return jnp.sum((params * 8).astype(jnp.int32) * x)


def argmax_for_max(params: Any, x: Any) -> Any:
    """An index carries no gradient."""
    return jnp.sum(x * jnp.argmax(params))


def _td(kind: str, fn: Any, *laws: str, **options: Any) -> Mutant:
    return Mutant(kind, "temporal difference", fn, (W, X, X / 4), laws, contract=TD, **options)


MUTANTS = [
    _td("stop is missing", stop_is_missing, "frozen"),
    _td("stop on another term", stop_on_the_reward, "frozen"),
    _td("stop leaks a little", stop_leaks_a_little, "frozen"),
    _td("stop in one branch", stop_in_one_branch, "frozen", trigger=(W, X, X + 100)),
    _td("regulariser outside the stop", regulariser_outside, "frozen"),
    _td("both stopped", target_stopped_twice, "live"),
    _td("whole loss stopped", whole_loss_stopped, "live"),
    Mutant(
        "one leaf stopped", "linear layer", one_leaf_stopped, ({"weight": W, "bias": X}, X), ("live",), contract=LIVE
    ),
    Mutant("cut by a cast", "linear layer", rounded_through_integers, (W, X), ("live",), contract=LIVE),
    Mutant("cut by an index", "linear layer", argmax_for_max, (W, X), ("live",), contract=LIVE),
    Mutant("stop not declared", "straight through", lambda x: jnp.sum(x * stop(x)), (X,), NUMBERS),
]
PARTNERS = [
    Partner("temporal difference", td_loss, (W, X, X / 4), contract=TD),
    Partner(
        "stop by a rule", held_by_a_rule, (W, X, X / 4), contract={"frozen": ("target",), "intended": ("custom_rules",)}
    ),
    Partner("linear layer", lambda params, x: jnp.sum((x * params) ** 2), (W, X), contract=LIVE),
    Partner("straight through", lambda x: jnp.sum(x + stop(jnp.round(x) - x)), (X,), contract=STOPS),
]
