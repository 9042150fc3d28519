"""What is verified: how a contract is read, and which ones are refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from autoprop import Target, UsageError
from autoprop._target import argument_names


def loss(params: Any, x: Any, y: Any) -> Any:
    """A function of three arguments."""
    return params + x + y


WRONG: list[Any] = [
    ({"argnums": 3}, r"argnums=3 is out of range: the function is given 3 arguments, so each must lie in -3 \.\. 2"),
    ({"argnums": -4}, r"argnums=-4 is out of range"),
    ({"argnums": (0, 5)}, r"argnums=\(0, 5\) is out of range"),
    ({"argnums": "x"}, r"out of range"),
    ({"intended": "custom_rule"}, "intended='custom_rule' is not known; it must be one of stop_gradient, custom_rules"),
    ({"tolerance": 0}, "tolerance=0 must be positive"),
    ({"tolerance": float("nan")}, "tolerance=nan must be positive"),
    ({"rejects": [(1, ValueError)]}, "must be a pair"),
    ({"rejects": [((1,),)]}, "must be a pair"),
    ({"reference": 1}, "reference=1 must be a function"),
    ({"expected_grad": 1}, "expected_grad=1 must be a function"),
    ({"gradient": 1}, "gradient=1 must be a function"),
    ({"argnums": (0, 0)}, "twice"),
    ({"argnums": (0, -3)}, "twice"),
    ({"argnums": True}, "argnums=True"),
    ({"tolerance": "a"}, "tolerance='a'"),
]


@pytest.mark.parametrize(("contract", "message"), WRONG)
def test_wrong_contracts(contract: dict[str, Any], message: str) -> None:
    """A wrong option is named with its value, what it should be, and the target."""
    with pytest.raises(UsageError, match=f"loss.*{message}"):
        Target(loss, (1.0, 2.0, 3.0), **contract)


def test_what_is_no_function() -> None:
    """What is tested must be callable."""
    with pytest.raises(UsageError, match="fn=3 must be callable"):
        Target(3, (1.0,))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("argnums", "expected"), [(None, None), (1, (1,)), (-1, (2,)), ((2, 0), (2, 0)), ([0, -1], (0, 2))]
)
def test_positions(argnums: Any, expected: Any) -> None:
    """Positions count from 0, in the order that was given."""
    assert Target(loss, (1.0, 2.0, 3.0), argnums=argnums).positions(3) == expected


def test_names_are_tuples() -> None:
    """One name may be given as a string."""
    target = Target(loss, (1.0, 2.0, 3.0), frozen="x", live=["params"], properties="jit")
    assert (target.frozen, target.live, target.properties) == (("x",), ("params",), ("jit",))


def test_arguments() -> None:
    """A spec of a single argument is the tuple of one; a strategy stays itself."""
    strategy = st.tuples(st.floats())
    assert Target(loss, 1.0).args == (1.0,)
    assert Target(loss, [1.0, 2.0]).args == (1.0, 2.0)
    assert Target(loss, strategy).args is strategy


def test_names_of_targets() -> None:
    """A target is called like its function, or as one says."""
    assert (Target(loss, 1.0).name, Target(loss, 1.0, name="mine").name) == ("loss", "mine")


def test_replace() -> None:
    """A changed copy leaves the target as it was."""
    target = Target(loss, 1.0)
    assert (target.replace(name="other").name, target.name) == ("other", "loss")


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (loss, ("params", "x")),
        (lambda *xs: xs, ("args[0]", "args[1]")),
        (lambda a, *xs: a, ("a", "args[1]")),
        (lambda a, *, b=1: a, ("a", "args[1]")),
        (max, ("args[0]", "args[1]")),
    ],
)
def test_argument_names(fn: Any, expected: tuple[str, ...]) -> None:
    """Arguments are called as the signature says, or by their place."""
    assert argument_names(fn, 2) == expected
