"""The spread under random rounding: it sees cancellation that inputs and outputs do not show."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop.oracles.rounding import narrowed, perturbed, same_but_for_rounding, spread

EPS = 2.0**-23


def spreads(f: Any, *values: float) -> list[float]:
    """Return the spread of each scalar of a function of float32 numbers."""
    with jax.enable_x64(True):  # the random numbers are drawn in 64 bits
        leaves = [jnp.float32(value) for value in values]
        return spread(perturbed(lambda x: f(*x), leaves), leaves, EPS)


def of(f: Any, *values: float) -> float:
    """Return the spread of a scalar function."""
    return spreads(lambda *x: [f(*x)], *values)[0]


def test_no_arithmetic_no_spread() -> None:
    """What is not computed does not round."""
    assert of(lambda x: x, 3.0) == 0


def test_one_rounding() -> None:
    """One operation rounds once."""
    assert 0 < of(lambda x, y: x * y, 3.0, 5.0) <= 16 * EPS


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: jnp.where(x == jnp.max(jnp.stack([x, y])), x, 0),
        lambda x, y: jnp.sort(jnp.stack([-x, y]))[0],
        lambda x, y: jnp.clip(jnp.pad(jnp.abs(x)[None], 1)[::-1].reshape(3, 1).T[0, 1], 0, 9),
        lambda x, y: jnp.where(2 * x == jnp.round(x * 2), x, y),
    ],
    ids=["tie", "sort", "movement", "doubling"],
)
def test_exact_operations_do_not_round(f: Any) -> None:
    """Selecting, ordering and moving elements is exact, and so are comparisons of what they give."""
    assert of(f, 5.0, 3.0) == 0


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: (x + y) - y,
        lambda x, y: jax.jit(lambda a, b: (a + b) - b)(x, y),
        lambda x, y: jax.checkpoint(lambda a, b: (a + b) - b)(x, y),
    ],
    ids=["plain", "jit", "checkpoint"],
)
def test_cancellation(f: Any) -> None:
    """Terms of 1e6 that cancel leave their rounding behind, in inner programs too."""
    assert 1e5 * EPS < of(f, 1.0, 1e6) < 4e6 * EPS


def test_cancellation_of_all_digits() -> None:
    """Terms of 1e30 leave nothing of a 1, and the spread says so; a plain sum of the same numbers rounds once."""
    assert of(lambda x, y: (x + y) - y, 1.0, 1e30) > 1e20
    assert of(lambda x, y: x + y, 1.0, 2.0) <= 4 * EPS


def test_several_scalars() -> None:
    """Each scalar has its own spread."""
    quiet, loud = spreads(lambda x: [x, (x + 1e6) - 1e6], 1.0)
    assert quiet == 0
    assert loud > 1e5 * EPS


def test_it_repeats() -> None:
    """The same program has the same spread each time."""
    assert of(jnp.sin, 0.5) == of(jnp.sin, 0.5)


def narrow(f: Any, *values: float, dtype: Any = jnp.bfloat16) -> Any:
    """Return what the first result of a function may be in a narrow dtype, to nearest first."""
    with jax.enable_x64(True):
        leaves = [jnp.float64(value) for value in values]
        runs = narrowed(perturbed(lambda x: [f(*x)], leaves, dtype), leaves, float(jnp.finfo(dtype).eps))
    return np.array([run[0] for run in runs])


def test_narrow_results_are_numbers_of_the_dtype() -> None:
    """Every result of an operation is a number that the narrow dtype holds, the first rounded to nearest."""
    found = narrow(lambda x, y: x / y, 1.0, 3.0)
    assert found[0] == float(jnp.bfloat16(1 / 3))
    assert (found == found.astype(jnp.bfloat16).astype(np.float64)).all()
    assert 0 < np.ptp(found) < 0.02


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
def test_narrow_constants(dtype: Any) -> None:
    """Constants are rounded too: a thousandth beside 1 is lost where the dtype cannot hold it."""
    assert narrow(lambda x: x * 0 + 1.00001, 3.0, dtype=dtype)[0] == 1


def test_the_range_of_the_dtype() -> None:
    """What leaves the range on the way does not come back."""
    back = [narrow(lambda x: (x * x) / x, 1e3, dtype=dtype)[0] for dtype in (jnp.float16, jnp.bfloat16)]
    assert back[0] == np.inf
    assert np.isfinite(back[1])
    assert narrow(lambda x: (x * x) * 1e6, 1e-4, dtype=jnp.float16)[0] == 0


def test_below_the_smallest_normal_number() -> None:
    """A float16 has steps of 6e-8 there, which rounding may take or not; zero stays zero."""
    step = float(jnp.finfo(jnp.float16).smallest_subnormal)
    found = narrow(lambda x: x * x, 2e-4, dtype=jnp.float16)
    assert found[0] == step
    assert set(found) == {0, step, 2 * step}
    assert not narrow(lambda x: 0 * x, 2e-4, dtype=jnp.float16).any()


def test_cancellation_in_a_narrow_dtype() -> None:
    """1 - cos x near 0 may be anything of the size of a rounding of 1."""
    assert np.ptp(narrow(lambda x: 1 - jnp.cos(x), 0.01)) > 0.005


def test_a_scatter_is_one_operation() -> None:
    """The program that a scatter holds is that of one sum."""
    assert np.ptp(narrow(lambda x, y: jnp.zeros(3).at[1].add(x * y)[1], 3.0, 5.0)) > 0


def test_loops_are_not_rounded_one_by_one() -> None:
    """What happens inside of a loop is not seen, and said not to be."""
    with pytest.raises(NotImplementedError, match="inside of scan"):
        narrow(lambda x: jax.lax.scan(lambda c, _: (c * x, None), x, None, length=3)[0], 3.0)


@pytest.mark.parametrize(
    ("f", "same"),
    [
        (lambda x: jnp.mean(jnp.tanh(0.1 * x)) + 3, True),
        (lambda x: jax.nn.gelu(x)[jnp.argmax(x)], True),
        (lambda x: jnp.maximum(x, jnp.finfo(x.dtype).eps), False),
        (lambda x: x + np.arange(3, dtype=x.dtype) * (1 if x.dtype == jnp.bfloat16 else 2), False),
        (lambda x: jnp.sin(x) if x.dtype == jnp.bfloat16 else jnp.cos(x), False),
    ],
    ids=["rounded constants", "integers", "limit of the dtype", "other constant", "other operation"],
)
def test_the_same_function_in_two_dtypes(f: Any, same: bool) -> None:
    """Constants may be rounded; another constant or operation makes another function."""
    with jax.enable_x64(True):
        narrow, wide = (jax.make_jaxpr(f)(jnp.ones(3, dtype)) for dtype in (jnp.bfloat16, jnp.float64))
        assert same_but_for_rounding(narrow, wide, 2.0**-7) is same
