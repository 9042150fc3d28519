"""Which signatures a search looks at, and what it says where there are none."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import strategies as st

from autoprop import AutopropWarning, Settings, Target, UsageError
from autoprop._search.screen import draw
from autoprop._search.signatures import is_drawn, slots
from hypothesis_jax import array, key, labels, like

SETTINGS = Settings(signatures=4)


def shapes(target: Target, settings: Settings = SETTINGS) -> list[list[tuple[int, ...]]]:
    """Return the shapes of the leaves at each signature."""
    return [[leaf.shape for leaf in slot.subject.leaves] for slot in slots(target, settings)]


def test_pool() -> None:
    """A pool is no larger than asked for, has no signature twice, and one where all named dims differ."""
    found = shapes(Target(lambda x, y: jnp.sum(x) + jnp.sum(y), (array("n d"), array("d"))))
    assert len(found) == 4
    assert len({str(each) for each in found}) == 4
    assert any(x[0] != x[1] for x, _ in found)


def test_only_what_the_function_takes() -> None:
    """Signatures at which the function raises are left out."""

    def square(x: Any) -> Any:
        if x.shape[0] != x.shape[1]:
            raise ValueError("not square")
        return jnp.sum(x)

    found = shapes(Target(square, (array("n m"),)))
    assert found
    assert all(x[0] == x[1] for (x,) in found)


def test_epochs() -> None:
    """The same epoch has the same pool, another one has others."""
    target = Target(lambda x: jnp.sum(x), (array("n d k"),))
    first, again = (shapes(target, Settings(signatures=8)) for _ in range(2))
    later = shapes(target, Settings(signatures=8, epoch=3))
    assert first == again
    assert later != first


@pytest.mark.parametrize("args", [(np.ones(3, np.float32), np.ones(3, np.float32)), (2.0, 3)])
def test_a_spec_without_strategies(args: Any) -> None:
    """Arguments that are no strategies give one point only, which is no search: the remedy is told."""
    with pytest.raises(UsageError, match=r"args holds no strategy, so every point would be the same; say like\("):
        slots(Target(lambda x, w: x * w, args, name="fixed"), Settings())


def test_raises_on_every_input() -> None:
    """A function that cannot be called with its spec is a wrong call: what it raises is told."""

    def broken(x: Any) -> Any:
        raise KeyError("weights")

    with pytest.raises(
        UsageError, match=r"broken: the function raises on every input of its spec, .* KeyError: 'weights'"
    ):
        slots(Target(broken, (array("n"),)), SETTINGS)


def test_nothing_to_call_with() -> None:
    """A target without a spec cannot be searched."""
    with pytest.raises(UsageError, match=r"args=\(\) gives no spec; say which arguments the function takes"):
        slots(Target(lambda: 1.0, name="f"), SETTINGS)


def test_wrong_contract_is_not_hidden() -> None:
    """A contract that names no leaf is told as such, not as a function that raises."""
    with pytest.raises(UsageError, match="frozen='w' names no leaf"):
        slots(Target(lambda x: jnp.sum(x), (array("n"),), frozen="w"), SETTINGS)


def one_vector(x: Any) -> Any:
    """A function of one vector."""
    if x.ndim != 1:
        raise ValueError("one vector")
    return jnp.sum(x)


def test_batched_example() -> None:
    """An example that holds a batch is taken one element at a time, with a warning that says so."""
    with pytest.warns(AutopropWarning, match="is taken as a batch, one of its elements at a time"):
        found = slots(Target(one_vector, like(np.ones((4, 3), np.float32))), SETTINGS)
    assert all(len(slot.subject.leaves[0].shape) == 1 for slot in found)


def test_example_that_fits() -> None:
    """An example that the function takes is taken as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = shapes(Target(one_vector, like(np.ones(3, np.float32))))
    assert (3,) in [x for (x,) in found]


@pytest.mark.parametrize(("args", "expected"), [((array("n"),), False), (st.tuples(st.floats()), True)])
def test_is_drawn(args: Any, expected: bool) -> None:
    """A Hypothesis strategy of the argument tuple is drawn from; a spec is sampled."""
    assert is_drawn(Target(jnp.sum, args)) is expected


def test_drawing_compiles_nothing(programs: list[str]) -> None:
    """Signatures are chosen, rows drawn and points cut out of them without a single compiled program."""
    arrays = (array("n d"), array("", dtype=jnp.bfloat16), labels("n", below="d"))

    def fn(x: Any, scale: Any, classes: Any) -> Any:
        return jnp.sum(x * scale.astype(x.dtype) * classes[:, None])

    for target in (Target(fn, arrays), Target(lambda k: jax.random.normal(k, (2,)), (key(),))):
        for slot in slots(target, SETTINGS):
            batch = draw(slot, 40, 1)
            points = [batch.point(i) for i in range(40)]
            assert all(isinstance(leaf, jax.Array) for point in points for leaf in point.primals)
    assert programs == []
    jax.jit(lambda x: x + 1)(1)
    assert programs != []  # a program that is compiled would have been seen
