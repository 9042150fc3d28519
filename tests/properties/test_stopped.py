"""Remarks of `finite` on what a stop hides."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Point, Target, Undecided, properties
from autoprop._subject import Subject

F = np.float32
Z = np.zeros(2, F)
stop = jax.lax.stop_gradient


def late_mask(x: Any) -> Any:
    """The mask comes after the square root, and the stop after the mask."""
    return jnp.sum(jnp.where(x > 0, x, stop(jnp.sqrt(x) * 0)))


def safe_mask(x: Any) -> Any:
    """The same value with a safe operand: there is nothing to hide."""
    return jnp.sum(jnp.where(x > 0, x, stop(jnp.sqrt(jnp.where(x > 0, x, 1)) * 0)))


def norm_weight(x: Any) -> Any:
    """A loss weighted by a stopped norm, whose derivative at 0 is 0/0."""
    return jnp.sum(x**2) * stop(jnp.sqrt(jnp.sum(x**2)))


def in_a_scan(x: Any) -> Any:
    """The same in a loop."""
    return jax.lax.scan(lambda c, a: (c + a * stop(jnp.sqrt(a**2)), None), jnp.zeros((), x.dtype), x)[0]


def overflow(x: Any) -> Any:
    """An overflow in the branch that is not taken."""
    e = jnp.exp(100 * x)
    return jnp.sum(x) + jnp.sum(stop(jnp.where(x > 0.5, x, jnp.log1p(e))))


HIDING = {"late mask": (late_mask, Z), "norm": (norm_weight, Z), "scan": (in_a_scan, Z), "overflow": (overflow, Z + 1)}


@pytest.mark.parametrize("name", HIDING)
@pytest.mark.parametrize("intended", [(), ("stop_gradient",)])
def test_hidden_nan(name: str, intended: Any, judge: Callable[..., Any]) -> None:
    """The law holds, with a remark that names the leaf, both routes, the line and the point; intended or not."""
    fn, x = HIDING[name]
    found = judge("finite", fn, x, intended=intended)
    assert isinstance(found, Holds)
    line = inspect.getsourcelines(fn)[1] + len(inspect.getsourcelines(fn)[0]) - 1
    assert found.remark.startswith(f"stop_gradient ({__file__}:{line}) hides a derivative that is not finite")
    assert "the reverse derivative of x[0] is nan (numeric " in found.remark
    assert "at x = np.array([" in found.remark
    assert found.remark.endswith("jnp.where(ok, f(jnp.where(ok, x, 1)), 0), instead of hiding it")


@pytest.mark.parametrize("name", HIDING)
def test_without_the_stop_it_is_violated(name: str, monkeypatch: Any, judge: Callable[..., Any]) -> None:
    """The remark tells the truth: where the stop is taken away, the law is violated."""
    monkeypatch.setitem(globals(), "stop", lambda x: x)
    fn, x = HIDING[name]
    assert judge("finite", fn, x).worst.leaf == "x"


def td_loss(params: Any, target: Any, s: Any, r: Any) -> Any:
    """A target network."""
    q = jnp.tanh(s @ params)
    return jnp.mean((q - stop(r + 0.9 * jnp.max(jnp.tanh(s @ target)))) ** 2)


def vq_vae(x: Any, book: Any) -> Any:
    """A quantised code with a straight-through estimator."""
    q = book[jnp.argmin(jnp.sum((x[:, None] - book[None]) ** 2, -1), -1)]
    return jnp.sum(jnp.sin(x + stop(q - x))) + jnp.sum((stop(x) - q) ** 2) + jnp.sum((x - stop(q)) ** 2)


SOUND = {
    "safe operand": (safe_mask, Z),
    "target network": (td_loss, Z, Z + 1, np.zeros((3, 2), F), np.ones(3, F)),
    "vq vae": (vq_vae, np.ones((2, 2), F), np.zeros((3, 2), F)),
    "straight through": (lambda x: jnp.sum(x + stop(jnp.round(x) - x)), Z),
    "log-sum-exp": (lambda x: jax.nn.logsumexp(x), Z),
    "no stop": (lambda x: jnp.sum(jnp.sin(x)), Z),
    "a derivative that is infinite": (lambda x: jnp.sum(x) + jnp.sum(stop(jnp.sqrt(x))), Z),
    "a derivative beyond the dtype": (lambda x: jnp.sum(x) + stop(jnp.sum(1e38 * jnp.sin(10 * x))), Z),
    "no derivative behind the stop": (
        lambda x: jnp.sum(x * jax.pure_callback(lambda v: np.asarray(v), jax.eval_shape(lambda: x), stop(x))),
        Z,
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_nothing_to_remark(name: str, judge: Callable[..., Any]) -> None:
    """Stops that hide nothing get no remark; nor do those on derivatives that are infinite, and rightly so."""
    fn, *arguments = SOUND[name]
    assert judge("finite", fn, *arguments) == Holds()


def test_value_not_finite(judge: Callable[..., Any]) -> None:
    """Where the value is not finite nothing is said of what is stopped."""
    assert judge("finite", lambda x: jnp.sum(stop(jnp.log(x))), Z) == Undecided("the value is not finite")


def test_elsewhere(judge: Callable[..., Any]) -> None:
    """Away from the bad point the same function has no remark."""
    assert judge("finite", late_mask, Z + 1) == Holds()


@pytest.mark.parametrize(
    ("family", "expected"),
    [("", " at these arguments; "), ("zero element", " at values from the family 'zero element', seed 3; ")],
)
def test_large_arguments(family: str, expected: str) -> None:
    """A point whose source is long is told by its family and seed, where they are known."""
    primals = (np.abs(np.sin(np.arange(40))).astype(F),)
    subject = Subject(Target(late_mask, primals), primals)
    found = properties.finite.judge(subject, Point(primals, 3, family))
    assert isinstance(found, Holds)
    assert expected in found.remark
    assert "np.array" not in found.remark


def test_a_call_of_the_law() -> None:
    """A direct call returns the verdict with its remark."""
    found = properties.finite(norm_weight, Z)
    assert isinstance(found, Holds)
    assert found.remark
