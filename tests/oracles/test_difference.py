"""The slope from differences: its kind, its value, and that its error is honest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autoprop.oracles.difference import OFFSETS, STEPS, Slope, few_bits, slope

Array = np.ndarray[Any, Any]
WIDE, NARROW = 2.0**-52, 2.0**-23


def measure(f: Callable[[Array], Array], x: float, eps: float = WIDE) -> Slope:
    """Return the slope of a NumPy function at x."""
    with np.errstate(all="ignore"):
        values = np.asarray(f(x + OFFSETS), np.float64)
    return slope(values, abs(float(values[0])), eps)


def narrow(f: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return f computed in float32."""
    return lambda x: np.asarray(f(x.astype(np.float32)), np.float64)


SMOOTH: dict[str, tuple[Callable[[Array], Array], float, float]] = {
    "sine": (np.sin, 0.5, np.cos(0.5)),
    "exponential": (np.exp, 1.0, np.e),
    "parabola at its foot": (np.square, 0.0, 0.0),
    "cube at 0": (lambda x: x**3, 0.0, 0.0),
    "logarithm near 0": (np.log, 1e-3, 1e3),
    "steep": (lambda x: np.sin(1e3 * x), 0.3, 1e3 * np.cos(300.0)),
    "tiny": (lambda x: 1e-200 * np.sin(x), 0.5, 1e-200 * np.cos(0.5)),
    "large": (lambda x: 1e100 * np.sin(x), 0.5, 1e100 * np.cos(0.5)),
    "offset": (lambda x: 1e8 + np.sin(x), 0.5, np.cos(0.5)),
    "linear": (lambda x: 3 * x, 1e6, 3.0),
    "absolute value away from 0": (np.abs, -1.0, -1.0),
    "a kink among the steps": (lambda x: np.abs(x - 1e-7), 0.0, -1.0),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth(name: str) -> None:
    """A smooth function has one slope, known to well within a thousandth, and the truth is within its error."""
    f, x, expected = SMOOTH[name]
    found = measure(f, x)
    assert found.kind == "smooth"
    assert found.low - 8 * found.error <= expected <= found.high + 8 * found.error
    assert found.error <= 1e-3 * abs(expected) or abs(expected) == 0


KINKS: dict[str, tuple[Callable[[Array], Array], float, tuple[float, float]]] = {
    "absolute value": (np.abs, 0.0, (-1.0, 1.0)),
    "rectifier": (lambda x: np.maximum(x, 0), 0.0, (0.0, 1.0)),
    "clip at its end": (lambda x: np.clip(x, -1, 1), 1.0, (0.0, 1.0)),
    "kink on a slope": (lambda x: 3 * x + np.abs(x - 0.5), 0.5, (2.0, 4.0)),
}


@pytest.mark.parametrize("name", KINKS)
def test_kinks(name: str) -> None:
    """At a kink everything between the slopes of both sides is a derivative."""
    f, x, expected = KINKS[name]
    found = measure(f, x)
    assert found.kind == "kink"
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)


EDGES: dict[str, tuple[Callable[[Array], Array], float, float]] = {
    "left missing": (lambda x: np.where(x < 0, np.nan, 2 * x + 1), 0.0, 2.0),
    "right missing": (lambda x: np.where(x > 1, np.inf, x**2), 1.0, 2.0),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges(name: str) -> None:
    """At the edge of the domain the side inside it decides."""
    f, x, expected = EDGES[name]
    found = measure(f, x)
    assert found.kind == "edge"
    assert found.low == found.high == pytest.approx(expected, rel=1e-6)
    assert abs(found.low - expected) <= 8 * found.error


KINDS: dict[str, tuple[Callable[[Array], Array], float, str, str]] = {
    "square root at 0": (np.sqrt, 0.0, "infinite", ""),
    "cube root at 0": (np.cbrt, 0.0, "infinite", ""),
    "falling cube root": (lambda x: -np.cbrt(x), 0.0, "infinite", ""),
    "arc sine at 1": (np.arcsin, 1.0, "infinite", ""),
    "floor between integers": (np.floor, 0.3, "constant", ""),
    "constant": (lambda x: 0 * x + 3, 1.0, "constant", ""),
    "staircase": (lambda x: np.round(2 * x * 2**20) / 2**20, 0.0, "stairs", ""),
    "floor at an integer": (np.floor, 1.0, "unknown", "the function jumps here"),
    "step on a slope": (lambda x: np.where(x >= 0, 1.0, 0.0) + 3 * x, 0.0, "unknown", "the function jumps here"),
    "NaN": (lambda x: x * np.nan, 0.0, "unknown", "the value is not finite"),
    "infinite": (np.log, 0.0, "unknown", "the value is not finite"),
    "an isolated point": (
        lambda x: np.where(x == 0, 0, np.inf),
        0.0,
        "unknown",
        "no side of the point is in the domain",
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_kinds(name: str) -> None:
    """What is no slope is called by its kind, and where nothing is known the reason is given."""
    f, x, kind, reason = KINDS[name]
    found = measure(f, x)
    assert (found.kind, found.reason) == (kind, reason)


def test_noise_is_measured() -> None:
    """Noise far above rounding widens the error, so that the truth stays within it."""
    random = np.random.default_rng(0)
    found = measure(lambda x: np.sin(x) + 1e-6 * random.standard_normal(x.shape), 0.5)
    assert abs(found.low - np.cos(0.5)) <= found.error
    assert 1e-6 <= found.error <= 1e-1


def test_pure_noise_is_not_a_slope() -> None:
    """Of noise alone nothing is known: the error exceeds the estimate."""
    random = np.random.default_rng(0)
    found = measure(lambda x: np.asarray(random.standard_normal(x.shape)), 0.5)
    assert found.kind == "unknown" or found.error > found.scale


def test_narrow_arithmetic_inside() -> None:
    """With the epsilon of what is computed inside, float32 staircases are known for what they are."""
    found = measure(narrow(np.sin), 0.5, NARROW)
    assert abs(found.low - np.cos(0.5)) <= found.error <= 1e-2


def test_relative_scale() -> None:
    """A slope scales with its function, and so does its error."""
    one, many = measure(np.sin, 0.5), measure(lambda x: 2.0**40 * np.sin(x), 0.5)
    assert (many.low, many.error) == (2.0**40 * one.low, 2.0**40 * one.error)


def test_offsets() -> None:
    """The function is asked at 0, at both signs of each step, and a few units in the last place away."""
    assert OFFSETS[0] == 0
    assert sorted(OFFSETS) == sorted(-OFFSETS)
    assert (STEPS[0], STEPS[-1]) == (2.0**-3, 2.0**-38)


def test_logarithmic_divergence() -> None:
    """The slope of x·log x at 0 is infinite: it must not be taken for a number known to a third."""
    found = measure(lambda x: np.where(x == 0, 0, x * np.log(x)), 0.0)
    assert found.kind in ("infinite", "unknown") or found.error > 0.3 * found.scale


def test_huge() -> None:
    """The largest numbers have slopes too."""
    found = measure(lambda x: 1e200 * np.sin(x), 0.5)
    assert found.low == pytest.approx(1e200 * np.cos(0.5), rel=1e-6)


def test_fast_oscillation() -> None:
    """Where the steps do not resolve the function, a wrong number must not be given as if it were known."""
    found = measure(lambda x: np.sin(1e9 * x), 0.0)
    assert found.kind == "unknown" or abs(found.low - 1e9) <= 20 * found.error


@pytest.mark.parametrize("x", [np.float32(1.0000001), np.float32(3.3333333), np.float32(1e-20)])
def test_directions_of_few_bits(x: Any) -> None:
    """Every step along them is exact for data of 32 bits, they are near what was asked for, and 0 stays 0."""
    asked = np.array([float(x), -0.7 * float(x), 0.0])
    v = few_bits(asked)
    for step in STEPS:
        assert np.all((np.float64(x) + step * v) - np.float64(x) == step * v)
    assert np.allclose(v, asked, rtol=2**-8, atol=0)
    assert few_bits(np.array([1.1 + 0.3j])).dtype == np.complex128
