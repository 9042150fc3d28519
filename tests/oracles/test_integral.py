"""The line integral: it sees small errors in every precision, and accuses nothing sound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop._tolerance import SCREEN
from autoprop.oracles.integral import BOOLE, NODES, SIMPSON, Line, line_integral

X = np.array([0.75, -1.25, 2.0])
V = np.array([0.5, 1.0, -0.75])


def lines(f: Callable[[Any], Any], points: list[Any], dtype: Any, error: float = 0.0) -> list[Line]:
    """Return what the line through each point says of f, whose derivative is off by a relative error."""

    def run(at: Any, t: Any) -> Any:
        def along(t: Any) -> Any:
            return jnp.sum(f(at + t * jnp.asarray(V, dtype)))

        value, slope = jax.jvp(along, (t,), (jnp.ones((), dtype),))
        return value, slope * (1 + error)

    with jax.enable_x64(dtype == np.float64):
        program = jax.jit(jax.vmap(run), compiler_options={"xla_backend_optimization_level": 0})
        at = np.array(points, dtype)

        def evaluate(rows: Any, steps: Any) -> Any:
            flat = program(np.repeat(at[rows], steps.shape[1], 0), steps.astype(dtype).reshape(-1))
            return [np.asarray(part, np.float64).reshape(steps.shape) for part in flat]

        value, slope = (part[:, 0] for part in evaluate(np.arange(len(points)), np.zeros((len(points), 1))))
        magnitude = np.array([np.sum(np.abs(f(x))) for x in at])
        sensitivity = np.array([np.sum(np.abs(jax.grad(lambda p: jnp.sum(f(p)))(x) * x)) for x in at])
        found = line_integral(evaluate, value, slope, magnitude, sensitivity, float(np.finfo(dtype).eps))
    return [Line(ratio, isolated) for ratio, isolated in zip(found.ratio, found.isolated, strict=True)]


def line(f: Callable[[Any], Any], x: Any, dtype: Any, error: float = 0.0) -> Line:
    """Return what the line through one point says."""
    return lines(f, [x], dtype, error)[0]


SOUND: dict[str, Callable[[Any], Any]] = {
    "relu": jax.nn.relu,
    "abs": jnp.abs,
    "max": jnp.max,
    "sort": lambda x: jnp.sort(x) * jnp.arange(1, 4, dtype=x.dtype),
    "sine": jnp.sin,
    "softmax": lambda x: jax.nn.softmax(x)[0],
    "norm": lambda x: jnp.sqrt(jnp.sum(x**2)),
    "logsumexp": jax.nn.logsumexp,
    "clip": lambda x: jnp.clip(x, -1, 1),
    "huber": lambda x: jnp.where(jnp.abs(x) < 1, x**2 / 2, jnp.abs(x) - 0.5),
    "exp": jnp.exp,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", SOUND)
def test_sound_functions(name: str, dtype: Any) -> None:
    """A right derivative stays below the accusing threshold, kinks inside the interval and on the point included."""
    points = [X, np.zeros(3), np.array([1.0, 1.0, -1.0])]
    if name == "norm":
        del points[1]  # the derivative is NaN at 0, so the point is accused and judged alone, which clears it
    found = lines(SOUND[name], points, dtype)
    assert [each.ratio < SCREEN for each in found] == [True] * len(points)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_at_the_point(dtype: Any) -> None:
    """A point whose derivative is NaN cannot be compared: it is accused, never cleared, by the line."""
    assert line(SOUND["norm"], np.zeros(3), dtype).ratio > SCREEN


@pytest.mark.parametrize(("dtype", "error"), [(np.float32, 1e-2), (np.float32, -1e-2), (np.float64, 1e-8)])
def test_small_errors(dtype: Any, error: float) -> None:
    """One per cent is seen in float32, a hundred-millionth in float64."""
    assert line(jnp.sin, X, dtype, error).ratio > SCREEN


@pytest.mark.parametrize("degree", range(7))
def test_rules_integrate_polynomials(degree: int) -> None:
    """Boole's rule is exact on [0, 1] up to degree 5, Simpson's up to 3."""
    nodes = np.concatenate([[0.0], NODES]) ** degree
    assert bool(BOOLE @ nodes == pytest.approx(1 / (degree + 1), rel=1e-14)) is (degree <= 5)
    assert bool(SIMPSON @ nodes == pytest.approx(1 / (degree + 1), rel=1e-14)) is (degree <= 3)


def test_isolated_point() -> None:
    """A derivative that is wrong at the point alone has no weight in the integral; its neighbours tell."""

    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.sin(x)

    f.defjvp(lambda p, t: (f(*p), jnp.where(p[0] == 0, 5, jnp.cos(p[0])).astype(p[0].dtype) * t[0]))
    wrong, right = line(f, np.zeros(3), np.float32), line(jnp.sin, np.zeros(3), np.float32)
    assert wrong.ratio < SCREEN
    assert wrong.isolated > 1 > right.isolated


def test_nothing_to_compare() -> None:
    """A derivative that is a number at the point and NaN all around it must not pass for one that agrees."""

    @jax.custom_jvp
    def f(x: Any) -> Any:
        return jnp.sin(x)

    f.defjvp(lambda p, t: (f(*p), jnp.where(p[0] == 0, 1, jnp.nan).astype(p[0].dtype) * t[0]))
    assert line(f, np.zeros(3), np.float32).ratio > SCREEN
