"""The law `precision` in dtypes so narrow that a wrong sign is no more than some roundings of 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Point, Target, Undecided, Violated
from autoprop._dtypes import wide
from autoprop._subject import Subject
from autoprop.properties import LAWS

X = np.array([0.5, -1.25, 2.0], np.float32)
NARROW = pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16])


def with_slope(value: Any, slope: Any) -> Any:
    """Return a function with a derivative by hand."""
    f = jax.custom_jvp(value)
    f.defjvp(lambda p, t: (value(*p), slope(p[0]) * t[0]))
    return lambda x: f(x)


def in_narrow(wrong: Any, right: Any) -> Any:
    """Return a slope that is another one in narrow dtypes."""
    return lambda x: (wrong if jnp.finfo(x.dtype).bits == 16 else right)(x)


@NARROW
@pytest.mark.parametrize("factor", [-1.0, 0.0, 3.0])
def test_wrong_in_a_narrow_dtype_only(factor: float, dtype: Any, judge: Callable[..., Any]) -> None:
    """A sign, a lost term or a factor is seen though it is less than 256 roundings of 1."""
    f = with_slope(jnp.sin, in_narrow(lambda x: factor * jnp.cos(x), jnp.cos))
    verdict = judge("precision", f, jnp.asarray(X / 4, dtype))
    assert isinstance(verdict, Violated)


def test_message(judge: Callable[..., Any]) -> None:
    """The message names the dtype and says what does not explain the number."""
    f = with_slope(jnp.sin, in_narrow(lambda x: -jnp.cos(x), jnp.cos))
    (mismatch,) = judge("precision", f, jnp.asarray(X, jnp.bfloat16)).mismatches
    assert [name for name, _ in mismatch.routes] == ["forward in bfloat16", "in 64 bits"]
    assert mismatch.origin == "what rounding each operation to bfloat16 explains, as it explains the value"


@NARROW
def test_right_in_a_narrow_dtype(dtype: Any, judge: Callable[..., Any]) -> None:
    """The same rule without the fault holds."""
    assert judge("precision", with_slope(jnp.sin, jnp.cos), jnp.asarray(X, dtype)) == Holds()


@NARROW
@pytest.mark.parametrize(
    "f",
    [
        lambda x: jnp.sum(jnp.sqrt(jnp.abs((x + 16) ** 2 - x * x - 32 * x - 255))),
        lambda x: jnp.log1p(-(jnp.tanh(4 * x) ** 2)),
        lambda x: jnp.sin(64 * x * x),
        lambda x: jnp.round(3.3 * x) * x,
        lambda x: jnp.max(x / 3 - x / 3 + x * 1e-3) * x,
        lambda x: jax.nn.relu(x / 7 * 7 - x) * x,
        lambda x: jnp.log(jnp.clip(jax.nn.sigmoid(4 * x), jnp.finfo(x.dtype).eps)),
        lambda x: jnp.sum(jnp.cumsum(x - jnp.mean(x)) ** 2),
    ],
    ids=["cancels", "saturated", "periodic", "stairs", "tied", "kink", "by the dtype", "sums"],
)
def test_what_rounding_explains(f: Any, dtype: Any) -> None:
    """What the rounding of the dtype does to a derivative is no fault of its rule, however large."""
    points = [(jnp.asarray(scale * X, dtype),) for scale in (1e-2, 0.1, 0.7, 1.0, 3.0, 10.0)]
    subject = Subject(Target(f, points[0]), points[0])
    verdicts = [LAWS["precision"].judge(subject, Point(x)) for x in points]
    origins = [mismatch.origin for verdict in verdicts for mismatch in getattr(verdict, "mismatches", ())]
    assert not any("rounding each operation" in origin for origin in origins)


def test_subnormal_numbers(judge: Callable[..., Any]) -> None:
    """A float16 below its smallest normal number is off by its step, many times the number, and that is no fault."""
    x, y = np.float16([6.1095e-05, 6.1095e-05]), np.float16([1.24, 1.4746])
    assert not isinstance(judge("precision", jax.scipy.special.boxcox1p, x, y), Violated)


def test_another_value_has_another_derivative(judge: Callable[..., Any]) -> None:
    """A function that computes something else in a narrow dtype is not accused of its derivative."""

    def floored(x: Any) -> Any:
        return jnp.log(jnp.maximum(x, jnp.finfo(x.dtype).eps))

    assert isinstance(judge("precision", floored, jnp.asarray([0.001, 0.002, 0.003], jnp.bfloat16)), Undecided)


def test_loops_are_left_to_wider_dtypes(judge: Callable[..., Any]) -> None:
    """Rounding inside of a loop is not seen, so nothing is accused there."""

    def looped(x: Any) -> Any:
        return jax.lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=3)[0]

    f = with_slope(looped, in_narrow(lambda x: -looped(x), looped))
    assert isinstance(judge("precision", lambda x: f(looped(x)), jnp.asarray(X, jnp.bfloat16)), Undecided)


@pytest.mark.parametrize(
    "f",
    [jnp.divide, jnp.arctan2, lambda x, y: jnp.linalg.norm(jnp.stack([x, y])), lambda x, y: x / jnp.std(y)],
    ids=["quotient", "angle", "norm", "deviation"],
)
def test_small_numbers_of_float16(f: Any, judge: Callable[..., Any]) -> None:
    """Numbers whose squares are no normal numbers of the dtype are no ordinary arguments."""
    x, y = np.float16([3.9e-05, 3.5e-05]), np.float16([3.5e-05, -2.9e-05])
    assert judge("precision", f, x, y) == Undecided("the arguments are not of ordinary magnitude")
    assert judge("precision", f, x.astype(np.float32), y.astype(np.float32)) == Holds()


def test_the_smallest_ordinary_numbers_of_float16(judge: Callable[..., Any]) -> None:
    """A quotient is right from 2⁻⁷ on, and a cube in its place is seen to vanish."""
    x, y = np.float16([0.0079, 0.0081]), np.float16([-0.0084, 0.0079])
    assert judge("precision", jnp.divide, x, y) == Holds()
    assert isinstance(judge("precision", lambda x, y: x**3 / y**3, x, y), Violated)


def on_the_simplex(x: Any, a: Any) -> Any:
    """A density of numbers that sum to 1, and 0 elsewhere."""
    return jnp.where(jnp.abs(jnp.sum(x) - 1) < 1e-6, 100 * jnp.exp(jnp.sum((a - 1) * jnp.log(x))), 0)


SIMPLEX = {jnp.bfloat16: [0.154296875, 0.84765625], jnp.float16: [0.87890625, 0.12091064]}


@NARROW
def test_rounding_decides_a_comparison(dtype: Any, judge: Callable[..., Any]) -> None:
    """Numbers that sum to 1 in a narrow dtype only are in a set that their promoted values are not in."""
    x, a = jnp.asarray(SIMPLEX[dtype], dtype), jnp.asarray([0.25, 0.25], dtype)
    assert jnp.sum(x) == 1
    reason = "a comparison comes out otherwise where operations are rounded to the dtype"
    assert judge("precision", on_the_simplex, x, a) == Undecided(reason)


@pytest.mark.parametrize(("dtype", "large"), [(jnp.bfloat16, 1000), (jnp.float16, 8000)])
def test_a_comparison_that_rounding_leaves_alone(dtype: Any, large: int, judge: Callable[..., Any]) -> None:
    """A comparison excuses nothing where it comes out alike: a sum that loses its small term is seen."""

    def lost(x: Any) -> Any:
        return jnp.where(x > 1, jnp.exp((5 + large * x) - large * x), 0)

    x = jnp.asarray([2.0, 2.0], dtype)
    assert isinstance(judge("precision", lost, x), Violated)
    assert judge("precision", lambda x: jnp.where(x > 1, jnp.exp(2.5 * x), 0), x) == Holds()


def test_complex_zeros_keep_their_signs(judge: Callable[..., Any]) -> None:
    """The angle of −0 − 0i is −π, in 64 bits as in 32; a subnormal part alone becomes 0."""
    x = np.array([complex(-0.0, -0.0), complex(-0.0, 0.0), complex(0.0, -0.0)], np.complex64)
    assert not isinstance(judge("precision", jnp.angle, x), Violated)
    assert np.signbit(wide([x])[0].real).tolist() == [True, True, False]
    assert wide([np.array(1 + 1e-40j, np.complex64)])[0].imag == 0
