"""Values whose large intermediate terms cancel: their rounding is no slope."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autoprop
from autoprop import Undecided

F = np.float32


def relative_entropy(p: Any, q: Any) -> Any:
    """P log p − p log q, terms of 1e-36 that cancel to 1e-45 where p and q are neighbours."""
    return jnp.sum(p * jnp.log(p) - p * jnp.log(q))


def divergence(x: Any, t: Any) -> Any:
    """exp(x) − t − t·(x − log t), terms of 1 that cancel to 1e-19 near x = 0, t = 1."""
    return jnp.sum(jnp.exp(x) - t - t * (x - jnp.log(t)))


CANCELLING = {
    "relative entropy": (relative_entropy, F(1.1754945e-38), F(1.1754944e-38)),
    "divergence": (divergence, F(4.5213183e-10), F(1.0)),
}


@pytest.mark.parametrize("seed", [0, 1, 14, 10034])
@pytest.mark.parametrize("case", CANCELLING)
def test_rounding_is_no_slope(case: str, seed: int) -> None:
    """A right derivative is not accused where the value is mostly rounding."""
    fn, *arguments = CANCELLING[case]
    autoprop.properties.numeric(fn, *arguments, seed=seed)


def cross_entropy(w: Any, x: Any) -> Any:
    """A loss whose gradient is 1e-24: forward mode takes it as a difference of numbers of order 1, and gets 0."""
    return -jnp.mean(jax.nn.log_softmax(x @ w)[:, 0])


def test_modes_that_cancel_differently() -> None:
    """An entry that one mode computes as 0 and the other as a number far below rounding is no fault."""
    w, x = np.array([[60.0, 1.0, 2.0], [1.0, 2.0, 0.5]], F), np.array([[1.0, 0.5], [0.9, 1.5]], F)
    verdict = autoprop.properties.modes(cross_entropy, w, x)
    assert verdict == Undecided("large intermediate values cancel: within rounding of them")


def masked(mask: Any, scores: Any) -> Any:
    """Scores less their maximum, where a mask takes 1e30 from all of them: its derivative is a difference of 1e30s."""
    s = scores - 1e30 * (1 - mask)
    return s - jnp.max(s)


@pytest.mark.parametrize("law", ["modes", "linear", "adjoint", "numeric"])
@pytest.mark.parametrize("scores", [(0.0, 1.0, 1.0, 1.0), (0.7, 0.5)])
def test_large_terms_that_cancel(law: str, scores: tuple[float, ...]) -> None:
    """What is left of equal parts of a large number is rounding, in one precision as in another."""
    for seed in range(4):
        getattr(autoprop.properties, law)(masked, F(1), np.array(scores, F), seed=seed)


def clipped_rule(x: Any) -> Any:
    """A rule that clips its cotangent."""

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return x

    f.defvjp(lambda x: (x, None), lambda _, ct: (jnp.clip(ct, -1, 1),))
    return f(x) * 3


def test_a_rule_that_is_not_linear_is_no_rounding() -> None:
    """Nothing cancels here, so the law accuses as before."""
    with pytest.raises(autoprop.Falsified):
        autoprop.properties.linear(clipped_rule, np.array([1.0, 2.0], F))


def rectified(b: Any, x: Any) -> Any:
    """A layer of relu, which at tiny data has kinks that no step of a bias of 0 can see."""
    return 1 + jnp.sum(jax.nn.relu(x + b) * jnp.array([1.0, 3.0, -2.0]))


@pytest.mark.parametrize("data", [(-1e-20, 1e-20, -1e-20), (-1e-30, 1e-30, -1e-30), (0.0, 1e-20, 0.0)])
def test_kinks_below_the_smallest_step(data: tuple[float, ...]) -> None:
    """The derivative at tiny data is that of their own neighbourhood: 3, where the slopes are 0 and 2."""
    verdict = autoprop.properties.numeric(rectified, np.zeros((), F), np.array(data, F))
    assert verdict == Undecided("the derivative varies faster than the smallest step")


def test_a_fault_beside_tiny_data() -> None:
    """A derivative that is wrong at 0 alone is still found where other entries are tiny."""

    @jax.custom_jvp
    def f(b: Any) -> Any:
        return jnp.sin(b)

    f.defjvp(lambda p, t: (f(*p), jnp.where(p[0] == 0, 2, jnp.cos(p[0])).astype(p[0].dtype) * t[0]))
    with pytest.raises(autoprop.Falsified):
        autoprop.properties.numeric(lambda b, x: f(b) + jnp.sum(x), np.zeros((), F), np.full(3, 1e-20, F))
