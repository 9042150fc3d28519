"""A point in 64 bits: arguments, epsilon of what is computed inside, slopes and derivatives."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Point, Target
from autoprop._dtypes import finfo
from autoprop._subject import Subject
from autoprop.oracles.promoted import Promoted

X = np.array([0.5, -1.25], np.float32)


def promoted(fn: Any, *args: Any, **contract: Any) -> Promoted:
    """Return the point of fn at args in 64 bits."""
    return Promoted(Subject(Target(fn, args, **contract), args), Point(args))


def test_arguments_are_wide() -> None:
    """Inexact leaves become float64, held ones too; integers stay."""
    here = promoted(lambda x, y, i: x * y + i, X, X.astype(np.float16), np.int32(1), argnums=0)
    assert [leaf.dtype for leaf in (*here.moved, *here.held)] == [np.float64, np.float64, np.int32]


def test_complex_arguments_are_wide() -> None:
    """Complex leaves become complex128."""
    assert promoted(lambda z: z, X.astype(np.complex64)).moved[0].dtype == np.complex128


def _sum_in_half(c: Any, a: Any) -> Any:
    return c + a.astype(jnp.float16), c.astype(a.dtype)


@pytest.mark.parametrize(
    ("fn", "narrowest"),
    [
        (jnp.sin, np.float64),
        (lambda x: jnp.sin(x.astype(jnp.float32)), np.float32),
        (lambda x: x + jnp.sin(x.astype(jnp.bfloat16)).astype(x.dtype), jnp.bfloat16),
        (
            lambda x: jax.lax.scan(lambda c, a: (c + a.astype(jnp.float16), c.astype(a.dtype)), jnp.float16(0), x)[1],
            np.float16,
        ),
    ],
)
def test_narrow_arithmetic_is_seen(fn: Any, narrowest: Any) -> None:
    """The epsilon is that of the narrowest dtype inside, in inner programs too."""
    assert promoted(fn, X).eps == finfo(narrowest).eps


def test_slope_of_the_projection() -> None:
    """The slope is that of ⟨u, f⟩ along v, to some seven digits and within its own error."""
    here = promoted(jnp.sin, X)
    found = here.slope([np.array([1.0, 0.0])], [np.array([2.0, 3.0])])
    assert found.kind == "smooth"
    assert found.low == pytest.approx(2 * np.cos(0.5), rel=1e-6)
    assert abs(found.low - 2 * np.cos(0.5)) <= 8 * found.error


def test_slope_with_stops_held() -> None:
    """With stops intended the slope is that of the function with its stopped parts held."""

    def fn(x: Any) -> Any:
        return x * jax.lax.stop_gradient(x)

    v, u = [np.array([1.0, 0.0])], [np.array([1.0, 1.0])]
    assert promoted(fn, X).slope(v, u).low == pytest.approx(1.0, rel=1e-6)
    assert promoted(fn, X, intended=("stop_gradient",)).slope(v, u).low == pytest.approx(0.5, rel=1e-6)


ONES = [np.ones(2)]


def test_rounding() -> None:
    """Plain arithmetic rounds to a few units of the last place, in the value and in its derivatives."""
    here = promoted(jnp.sin, X)
    assert 0 < here.rounding(ONES) < 1e-14
    assert 0 < here.rounding_of_derivatives(ONES, ONES) < 1e-14


def test_rounding_of_cancelling_terms() -> None:
    """Terms of 1e30 that cancel in the value are seen there, and not in the derivatives, where they are not."""
    here = promoted(lambda x: (x + 1e30) - 1e30, X)
    assert here.rounding(ONES) > 1e10
    assert here.rounding_of_derivatives(ONES, ONES) < 1e-14


def test_rounding_of_narrow_arithmetic() -> None:
    """Where the function computes in float32, it rounds as float32 does."""
    here = promoted(lambda x: jnp.sin(x.astype(jnp.float32)).astype(x.dtype), X)
    assert 1e-9 < here.rounding(ONES) < 1e-5


def test_derivatives() -> None:
    """Both modes, in 64 bits."""
    forward, reverse = promoted(jnp.sin, X).derivatives([np.array([1.0, 2.0])], [np.array([3.0, 4.0])])
    assert forward is not None
    assert reverse is not None
    np.testing.assert_allclose(forward[0], np.cos(np.float64(X)) * [1, 2], rtol=1e-12)
    np.testing.assert_allclose(reverse[0], np.cos(np.float64(X)) * [3, 4], rtol=1e-12)


def test_no_forward_mode() -> None:
    """A mode that is not there is None."""

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return x

    f.defvjp(lambda x: (x, None), lambda _, c: (c,))
    forward, reverse = promoted(f, X).derivatives([np.ones(2)], [np.ones(2)])
    assert forward is None
    assert reverse is not None


def test_refusal_of_wide_arguments() -> None:
    """A function that takes its own dtype only is remembered with what it raised."""

    def fn(x: Any) -> Any:
        if x.dtype != np.float32:
            raise TypeError("float32 only")
        return x

    assert str(promoted(fn, X).error) == "float32 only"


def test_the_flag_is_left_alone() -> None:
    """Judging in 64 bits does not switch 64 bits on for anybody else."""
    promoted(jnp.sin, X).slope([np.ones(2)], [np.ones(2)])
    assert jnp.ones(1).dtype == np.float32


def test_zeros_keep_their_sign() -> None:
    """Neither promotion nor a relative perturbation turns a negative zero round."""
    here = promoted(jnp.sin, np.array([-0.0, 0.0], np.float32))
    for leaf in (here.moved[0], here.perturbed(1e-3, 0).moved[0]):
        assert np.signbit(leaf).tolist() == [True, False]
