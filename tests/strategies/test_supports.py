"""The domain of each support: members only, from the strategy as from the sampler."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from hypothesis_jax import (
    FAMILIES,
    Signature,
    Support,
    array,
    mask,
    one_hot,
    orthogonal,
    positive,
    real,
    sample,
    simplex,
    sorted_,
    spd,
    trees,
    unit_interval,
)


def _close(x, y, dtype):
    return np.abs(x - y).max() <= 8 * float(jnp.finfo(dtype).eps)


def _one_hot(x, _):
    return (np.sort(x, -1) == [0, 0, 1]).all()


MEMBER = {
    positive: lambda x, d: (x >= float(jnp.finfo(d).smallest_normal)).all(),
    unit_interval: lambda x, d: ((x >= 0) & (x <= 1)).all(),
    real(-1.5, 3): lambda x, d: ((x >= -1.5) & (x <= 3)).all(),
    real(None, -2): lambda x, d: (x <= -2).all(),
    real(100, 1000): lambda x, d: ((x >= 100) & (x <= 1000)).all(),
    simplex: lambda x, d: (x >= 0).all() and _close(x.sum(-1), 1, d),
    one_hot: _one_hot,
    sorted_: lambda x, d: (np.diff(x) >= 0).all() and np.isfinite(x).all(),
    mask: lambda x, d: np.isin(x, (0, 1)).all(),
    spd: lambda x, d: (x == x.swapaxes(-1, -2)).all() and (np.linalg.eigvalsh(x) > 0).all(),
    orthogonal: lambda x, d: _close(x.swapaxes(-1, -2) @ x, np.eye(3), d),
}
NARROW = (jnp.float32, jnp.float16, jnp.bfloat16)


@pytest.mark.parametrize("dtype", NARROW, ids=lambda d: d.__name__)
@pytest.mark.parametrize("support", MEMBER, ids=repr)
def test_rows_are_members(support: Support, dtype: object) -> None:
    """Every family respects the support, after rounding to the dtype."""
    signature = Signature((), (jnp.dtype(dtype).name,))

    found = sample(array("3 3", dtype, support=support), 160, seed=3, signature=signature)

    bad = [
        (family, row)
        for family, row in zip(found.families, np.asarray(found.tree, np.float64), strict=True)
        if not MEMBER[support](row, dtype)
    ]
    assert bad == []


@pytest.mark.parametrize("support", MEMBER, ids=repr)
def test_drawn_are_members(support: Support, assert_all_examples) -> None:
    """The strategy constructs members."""
    strategy = trees(array("3 3", support=support))

    assert_all_examples(strategy, lambda x: MEMBER[support](np.asarray(x, np.float64), jnp.float32), 30)


SIMPLEST = {
    real: [[0, 0], [0, 0]],
    real(2, 5): [[2, 2], [2, 2]],
    unit_interval: [[0, 0], [0, 0]],
    simplex: [[1, 0], [1, 0]],
    one_hot: [[1, 0], [1, 0]],
    sorted_: [[0, 0], [0, 0]],
    mask: [[0, 0], [0, 0]],
    spd: [[1, 0], [0, 1]],
    orthogonal: [[1, 0], [0, 1]],
}


@pytest.mark.parametrize("support", SIMPLEST, ids=repr)
def test_shrinks_to(support: Support, minimal) -> None:
    """Each support shrinks to its simplest member."""
    assert minimal(trees(array("2 2", support=support))).tolist() == SIMPLEST[support]


def test_ends_are_rounded_inward(minimal) -> None:
    """An end that the dtype does not hold is moved into the interval."""
    least = minimal(trees(array("", jnp.bfloat16, support=real(0.1, 0.2))))

    assert float(least) >= 0.1


def test_integers_between(assert_all_examples) -> None:
    """The ends of real hold for integers, rounded inward."""
    strategy = trees(array("3", jnp.int8, support=real(-1.5, 3.5)))

    assert_all_examples(strategy, lambda x: set(x.tolist()) <= {-1, 0, 1, 2, 3})


def test_both_ends_appear() -> None:
    """The sampler gives the two ends exactly."""
    found = sample(array("3", support=real(0.25, 0.75)), 64, seed=0, signature=Signature((), ("float32",)))

    assert (found.tree.min(), found.tree.max()) == (0.25, 0.75)


def test_zero_and_one_of_the_unit_interval() -> None:
    """The closed unit interval has exact zeros and ones."""
    found = sample(array("3", support=unit_interval), 64, seed=0, signature=Signature((), ("float32",)))

    assert {0.0, 1.0} <= set(found.tree.ravel().tolist())


def test_corners_of_the_simplex() -> None:
    """The simplex has its corners exactly."""
    found = sample(array("3", support=simplex), 64, seed=0, signature=Signature((), ("float32",)))

    assert {(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)} <= set(map(tuple, found.tree.tolist()))


def test_tall_orthogonal() -> None:
    """A tall matrix has orthonormal columns."""
    found = sample(array("5 2", support=orthogonal), 32, seed=0, signature=Signature((), ("float32",))).tree

    gram = np.einsum("nji,njk->nik", np.asarray(found, float), np.asarray(found, float))
    assert _close(gram, np.eye(2), jnp.float32)


class Even(Support):
    """Even numbers: a support of a user's own."""

    def contains(self, values, dtype):
        """Say which are even."""
        return values % 2 == 0

    def project(self, values, dtype):
        """Round down to an even number."""
        return 2 * np.floor(np.nan_to_num(values) / 2)


def test_a_support_of_ones_own(assert_all_examples) -> None:
    """Two methods make a support, for the strategy and the sampler."""
    spec = array("3", support=Even())
    found = sample(spec, 64, seed=0, signature=Signature((), ("float32",)))

    assert_all_examples(trees(spec), lambda x: (np.asarray(x, np.float64) % 2 == 0).all())
    assert (np.asarray(found.tree, np.float64) % 2 == 0).all()
    assert set(found.families) <= set(FAMILIES)
