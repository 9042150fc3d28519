"""The line integral: it sees small errors in every precision, and accuses nothing sound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop._tolerance import SCREEN
from autoprop.oracles.integral import GAUSS, KRONROD, NODES, Line, line_integral

X = np.array([0.75, -1.25, 2.0])
V = np.array([0.5, 1.0, -0.75])


def lines(f: Callable[[Any], Any], points: list[Any], dtype: Any, error: float = 0.0) -> list[Line]:
    """Return what the line through each point says of f, whose derivative is off by a relative error."""

    def run(at: Any, v: Any) -> Any:
        def along(t: Any) -> Any:
            return jnp.sum(f(at + t * v))

        def slope_along(t: Any) -> Any:
            return jax.jvp(along, (t,), (jnp.ones((), dtype),))[1] * (1 + error)

        sensitivity = jnp.sum(jnp.abs(jax.grad(lambda p: jnp.sum(f(p)))(at) * at))
        found = line_integral(
            along, slope_along, jnp.sum(jnp.abs(f(at))), sensitivity, float(np.finfo(dtype).eps), dtype
        )
        return found.slope, found.ratio, found.isolated

    with jax.enable_x64(dtype == np.float64):
        program = jax.jit(run, compiler_options={"xla_backend_optimization_level": 0})
        answers = [program(jnp.asarray(x, dtype), jnp.asarray(V, dtype)) for x in points]
        return [Line(*(float(part) for part in answer)) for answer in answers]


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


def test_slope() -> None:
    """The slope at the point is the automatic one, as it is given."""
    assert line(jnp.sin, X, np.float64).slope == pytest.approx(float(np.sum(np.cos(X) * V)), rel=1e-12)


@pytest.mark.parametrize("degree", range(0, 22, 3))
def test_nodes_integrate_polynomials(degree: int) -> None:
    """Kronrod's rule is exact on [0, 1] up to degree 22, Gauss's up to 13."""
    assert KRONROD @ NODES**degree == pytest.approx(1 / (degree + 1), rel=1e-14)
    if degree <= 13:
        assert pytest.approx(1 / (degree + 1), rel=1e-14) == GAUSS @ NODES**degree


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
