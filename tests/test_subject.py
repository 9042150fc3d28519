"""A target at one signature."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Target, UsageError
from autoprop._subject import Subject

X = np.array([1.0, 2.0], np.float32)
ARGS = ({"w": X, "n": 3}, np.array([0, 1]), "mean", jax.random.key(0))


def fn(params: Any, index: Any, mode: str, key: Any) -> Any:
    """Return a tree with a floating leaf, an integer one and None."""
    return {"y": params["w"][index] * params["n"], "i": index, "none": None}


def subject(*args: Any, **contract: Any) -> Subject:
    """Return fn at its arguments."""
    return Subject(Target(fn, args or ARGS, **contract), args or ARGS)


def test_kinds() -> None:
    """Inexact leaves of differentiated arguments move, other arrays are held, the rest is static."""
    found = subject()
    assert dict(zip(found.paths, found.kinds, strict=True)) == {
        "params['n']": "static",
        "params['w']": "moved",
        "index": "held",
        "mode": "static",
        "key": "held",
    }


def test_argnums() -> None:
    """By default everything that holds inexact arrays is differentiated; otherwise what argnums says."""
    assert subject().argnums == (0,)
    two = Subject(Target(lambda a, b: a + b, (X, X), argnums=-1), (X, X))
    assert (two.argnums, two.moved_paths) == ((1,), ["b"])


def test_split_and_join() -> None:
    """Taking the leaves apart and putting them together gives the arguments."""
    found = subject()
    moved, held = found.split(ARGS)
    assert [np.asarray(leaf).tolist() for leaf in moved] == [[1.0, 2.0]]
    joined = found.join(moved, held)
    assert joined[0]["w"] is X
    assert (joined[0]["n"], joined[2]) == (3, "mean")


def test_outputs() -> None:
    """The inexact leaves of the value are what is differentiated; all leaves have paths."""
    found = subject()
    moved, held = found.split(ARGS)
    assert found.output_paths == ["value['y']"]
    assert found.array_output_paths == ["value['i']", "value['y']"]
    assert [np.asarray(y).tolist() for y in found.f(moved, held)] == [[3.0, 6.0]]
    assert found.is_scalar_loss is False


@pytest.mark.parametrize(
    ("value", "expected"),
    [(jnp.sum, True), (lambda x: x, False), (lambda x: (jnp.sum(x), 1.0), False), (lambda x: 1j * jnp.sum(x), False)],
)
def test_scalar_loss(value: Any, expected: bool) -> None:
    """A scalar loss is one real floating scalar and nothing else."""
    assert Subject(Target(value, (X,)), (X,)).is_scalar_loss is expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({0: {"w": X + 1, "n": 3}}, True),
        ({0: {"w": X, "n": 4}}, False),
        ({0: {"w": X, "n": True}}, False),
        ({0: {"w": X[:1], "n": 3}}, False),
        ({0: {"w": X.astype(np.float16), "n": 3}}, False),
        ({0: {"w": X}}, False),
        ({2: "sum"}, False),
    ],
)
def test_fits(change: dict[int, Any], expected: bool) -> None:
    """Compiled functions serve the same tree, shapes, dtypes and static values, whatever the numbers."""
    assert subject().fits(tuple(change.get(i, x) for i, x in enumerate(ARGS))) is expected


def test_names() -> None:
    """A name selects its leaf or all below it; one that selects nothing is refused with the names there are."""
    assert subject().select("params", "frozen") == [0, 1]
    with pytest.raises(UsageError, match=r"frozen='w' names no leaf.*params\['w'\].*the arguments params, index"):
        subject(frozen="w")


def test_declared_leaves_move() -> None:
    """A frozen or live leaf is differentiated though argnums leaves it out."""
    two = Subject(Target(lambda a, b: a + b, (X, X), argnums=0, frozen="b"), (X, X))
    assert (two.moved_paths, two.moved_among(("b",), "frozen")) == (["a", "b"], [1])


def test_compiled_once() -> None:
    """What is compiled under a name is built once."""
    built: list[int] = []
    found = subject()
    for _ in range(2):
        found.compiled("one", lambda: built.append(1) or len)  # type: ignore[func-returns-value]
    assert built == [1]
