"""The programs of examples/: what they promise on paper, and what a search says of them."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autoprop

ROOT = Path(__file__).parents[1]
SOUND = ("info_nce", "linear_mse", "ppo_clip", "quadratic_stop", "simsiam", "straight_through", "td_loss", "vq_vae")
NAMES = ("faulty_losses", "linear_mse", "losses", "quadratic_stop")

# What each accident breaks; it may break more laws than these.
BROKEN = {
    "quadratic_stop_missing": {"expected_grad"},
    "quadratic_stop_misplaced": {"live", "expected_grad"},
    "linear_mse_swapped": {"argnums_order"},
    "linear_mse_mean_for_sum": {"numeric", "expected_grad"},
    "td_loss_leaky": {"frozen"},
    "vq_vae_starved": {"live"},
    "ppo_clip_leaky": {"frozen"},
    "ppo_clip_unguarded": {"finite"},
    "info_nce_guarded_late": {"finite"},
    "simsiam_wrong_side": {"frozen", "live"},
    "straight_through_rounded_twice": {"expected_grad"},
}


def load(folder: str, name: str) -> ModuleType:
    """
    Import a program of a folder of the repository as if started there.
    """
    sys.path.insert(0, str(ROOT / folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / folder))


def targets(kind: str) -> dict[str, autoprop.Target]:
    """
    Return the sound or the faulty targets of all examples, by name.
    """
    return {target.name: target for name in NAMES for target in getattr(load("examples", name), kind, ())}


def search(target: autoprop.Target) -> dict[str, autoprop.Finding]:
    """
    Return what a short search finds, by law.
    """
    outcome = autoprop.search(target, settings=autoprop.Settings(examples=384, signatures=2))
    return {finding.property: finding for finding in outcome.findings}


def test_quadratic_stop_value() -> None:
    """The stopped branch is part of the value: 13 - 10 = 3 at (2, -3)."""
    assert load("examples", "quadratic_stop").quadratic_stop(jnp.array([2.0, -3.0])) == 3.0


def test_quadratic_stop_gradient() -> None:
    """The stopped branch is no part of the gradient: 2x = (4, -6) at (2, -3)."""
    gradient = jax.grad(load("examples", "quadratic_stop").quadratic_stop)(jnp.array([2.0, -3.0]))
    assert gradient.tolist() == [4.0, -6.0]


def mse_gradients() -> tuple[jax.Array, jax.Array]:
    """
    Return the gradients of the linear model's error at zero parameters, for the batch of the example.
    """
    x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    y = jnp.array([1.0, -1.0, 0.0])
    gradients: tuple[jax.Array, jax.Array] = jax.grad(load("examples", "linear_mse").mse, argnums=(0, 1))(
        jnp.zeros(2), jnp.zeros(()), x, y
    )
    return gradients


def test_linear_mse_weights() -> None:
    """The weights' gradient comes first: (-2/3, 2/3)."""
    np.testing.assert_allclose(mse_gradients()[0], [-2 / 3, 2 / 3], rtol=1e-6)


def test_linear_mse_bias() -> None:
    """The bias' gradient comes second, and the labels balance: 0."""
    assert mse_gradients()[1] == 0.0


def test_linear_mse_structure() -> None:
    """Each gradient has the shape and dtype of its argument."""
    assert [(g.shape, g.dtype) for g in mse_gradients()] == [((2,), jnp.float32), ((), jnp.float32)]


def test_every_example_is_searched() -> None:
    """The lists above name every target of the examples."""
    assert (sorted(targets("SOUND")), sorted(targets("FAULTY"))) == (sorted(SOUND), sorted(BROKEN))


@pytest.mark.slow
@pytest.mark.parametrize("name", SOUND)
def test_sound_example_is_accepted(name: str) -> None:
    """A short search has nothing to say against a sound example."""
    assert [str(finding) for finding in search(targets("SOUND")[name]).values()] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_faulty_example_is_found(name: str) -> None:
    """A short search finds what the accident breaks."""
    target = targets("FAULTY")[name].replace(properties=tuple(BROKEN[name]))
    assert set(search(target)) == BROKEN[name]


def test_survey_is_wide() -> None:
    """The survey of public functions covers at least 60 of them, each under a name of its own."""
    pytest.importorskip("optax")
    names = {target.name for target in load("benchmarks", "jax_library").TARGETS}
    assert (len(names) >= 60, "jax.scipy.special.digamma" in names) == (True, True)
