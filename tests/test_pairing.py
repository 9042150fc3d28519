"""The pairing of cotangents with values, and the directions."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from autoprop import Target
from autoprop._pairing import absolute_terms, cotangents, pair, tangents
from autoprop._subject import Subject


def subject(fn: Any, *args: Any, **contract: Any) -> Subject:
    """Return fn at args."""
    return Subject(Target(fn, args, **contract), args)


def test_pair() -> None:
    """Products are summed over all leaves."""
    assert float(pair([np.array([1.0, 2.0]), np.array(3.0)], [np.array([4.0, 5.0]), np.array(-6.0)])) == -4.0
    assert float(absolute_terms([np.array([1.0, 2.0])], [np.array([4.0, -5.0])])) == 14.0


def test_complex_numbers_are_not_conjugated() -> None:
    """JAX's cotangents pair by Re(u·y): i·i is −1."""
    assert float(pair([np.array(1j)], [np.array(1j)])) == -1.0


def test_narrow_sums_do_not_overflow() -> None:
    """float16 is summed in float32."""
    big = np.full(4, 6e4, np.float16)
    assert float(pair([np.ones(4, np.float16)], [big])) > 2e5


def test_tangents_are_relative() -> None:
    """A step is of the size of its entry, or of order one at 0."""
    x = np.array([1e-8, 1e6, 0.0, -4.0], np.float32)
    (v,) = tangents(subject(lambda x: x, x), [x], 0)
    ratio = np.abs(v / np.where(x == 0, 1, np.abs(x)))
    assert v.dtype == np.float32
    assert np.all((ratio > 0.49) & (ratio < 1.44))


def test_tangents_avoid_what_is_not_finite() -> None:
    """There is no direction at NaN or infinity."""
    x = np.array([np.nan, np.inf, 1], np.float32)
    (v,) = tangents(subject(lambda x: x, x), [x], 0)
    assert (v[:2].tolist(), v[2] != 0) == ([0, 0], True)


def test_tangents_avoid_frozen_leaves() -> None:
    """Nothing moves along a frozen leaf."""
    x = np.ones(2, np.float32)
    left, right = tangents(subject(lambda a, b: a + b, x, x, frozen="b"), [x, x], 0)
    assert np.all(left != 0)
    assert right.tolist() == [0, 0]


def test_a_new_leaf_changes_no_other() -> None:
    """Directions belong to paths, so adding a leaf leaves the others as they were."""
    x = np.ones(3, np.float32)
    (alone,) = tangents(subject(lambda p: p["w"], {"w": x}), [x], 5)
    beside = tangents(subject(lambda p: p["w"] + p["a"], {"a": x, "w": x}), [x, x], 5)
    assert beside[1].tolist() == alone.tolist()


def test_cotangents() -> None:
    """A scalar loss has the cotangent 1; other values have fixed numbers of their dtype, complex ones both parts."""
    x = np.ones(2, np.float32)
    assert [np.asarray(u).tolist() for u in cotangents(subject(jnp.sum, x), 9)] == [1.0]
    (u,) = cotangents(subject(lambda x: x.astype(jnp.complex64), x), 0)
    assert (u.dtype, bool(np.all(u.imag != 0))) == (np.complex64, True)
