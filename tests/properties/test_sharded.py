"""The law `sharded`: several devices of the host."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Target, Undecided
from autoprop.properties import LAWS, _devices, chosen
from zoo.sharded import X4, divided_by_devices, noisy


def test_only_where_it_is_named() -> None:
    """The law starts a process, so it is left out unless it is asked for."""
    target = Target(jnp.sin, (X4,))
    assert "sharded" not in [law.name for law in chosen(target)]
    assert chosen(target.replace(properties=("sharded",))) == [LAWS["sharded"]]


def test_message(judge: Callable[..., Any]) -> None:
    """The message names the leaf and how many devices there were."""
    found = judge("sharded", divided_by_devices, X4).worst
    assert (found.leaf, [name for name, _ in found.routes]) == ("value", ["one device", "4 devices"])


def test_arguments_that_are_sent(judge: Callable[..., Any]) -> None:
    """Keys, labels, Python scalars and bfloat16 reach the other process; with three devices."""
    x = jnp.arange(9, dtype=jnp.bfloat16).reshape(3, 3) / 8
    assert judge("sharded", noisy, x, jax.random.key(3), np.int32(1), 1.5) == Holds()


def test_closures(judge: Callable[..., Any]) -> None:
    """A function that no other process can import is undecided, with the remedy."""
    verdict = judge("sharded", lambda x: 2 * x, X4)
    assert isinstance(verdict, Undecided)
    assert "another process cannot import it; move it to the top of a module, or start with XLA_FLAGS" in verdict.reason


def test_partial_functions_can_be_sent() -> None:
    """A partial application of an importable function is sent as what it is."""
    sent = _devices._reference(functools.partial(divided_by_devices))
    assert isinstance(sent, bytes)


def test_where_nothing_divides(judge: Callable[..., Any]) -> None:
    """Scalars and sizes that no number of devices divides are not split: undecided."""
    verdict = judge("sharded", jnp.sin, np.ones((1, 5), np.float32))
    assert verdict == Undecided("no axis of an argument is divided by the number of devices")


def test_what_takes_too_long(judge: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that does not answer in time is undecided."""
    monkeypatch.setattr(_devices, "SECONDS", 0.01)
    verdict = judge("sharded", jnp.sin, X4)
    assert isinstance(verdict, Undecided)
    assert "it takes longer than 0.01 s there" in verdict.reason
