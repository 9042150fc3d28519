"""What every law shares: it is one function to call, and a wrong call is told from a wrong derivative."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import autoprop
from autoprop import Falsified, Finding, Holds, UsageError, properties
from autoprop.properties import LAWS, get, judge
from autoprop.properties._law import law

X = np.array([0.5, -1.25, 2.0], np.float32)


def total(x: Any) -> Any:
    """A scalar loss."""
    return jnp.sum(x**2)


def twice(x: Any) -> Any:
    """A vector."""
    return 2 * x


@pytest.mark.parametrize("name", LAWS)
def test_one_name(name: str) -> None:
    """A law has the same name in the table, in the module and in itself."""
    assert getattr(properties, name) is LAWS[name]
    assert LAWS[name].name == name


@pytest.mark.parametrize("name", LAWS)
def test_docstrings(name: str) -> None:
    """A law says its formula first, what it catches, and what it does not."""
    doc = LAWS[name].doc
    assert LAWS[name].formula == doc.strip().splitlines()[0]
    assert [heading in doc for heading in ("**Catches**", "**Does not catch**")] == [True, True]


def test_errors_are_distinct() -> None:
    """Each law raises a class of its own, so that Hypothesis keeps their failures apart."""
    errors = {found.error for found in LAWS.values()}
    assert len(errors) == len(LAWS)
    assert all(issubclass(error, Falsified) and issubclass(error, AssertionError) for error in errors)


def test_a_call_returns_the_verdict() -> None:
    """A law that is not violated returns its verdict."""
    assert autoprop.properties.stop_identity(total, X) == Holds()


def test_a_violation_carries_its_finding() -> None:
    """What is raised holds the finding as data: law, target, point."""
    with pytest.raises(LAWS["rejects"].error) as caught:
        autoprop.properties.rejects(total, X, rejects=(((X,), ValueError),), seed=7)
    finding = caught.value.finding
    assert (finding.property, finding.target, finding.point.seed) == ("rejects", "total", 7)
    assert finding.point.primals[0] is X
    assert finding.argnames == ("x",)


WRONG = [
    ("argnums_order", twice, {}, r"'argnums_order' does not apply: the value must be one real scalar, but is float32"),
    ("expected_grad", twice, {"expected_grad": twice}, r"the value must be one real scalar"),
    ("expected_grad", total, {}, r"the target gives no expected_grad"),
    ("reference", total, {}, r"the target gives no reference"),
    ("rejects", total, {}, r"declares no input that it rejects"),
    ("frozen", total, {}, r"declares no frozen leaf"),
    ("live", total, {}, r"declares no live leaf"),
    ("frozen", total, {"frozen": "w"}, r"frozen='w' names no leaf of the arguments; the leaves are x"),
    ("live", total, {"live": "x['w']"}, r"names no leaf of the arguments; the leaves are x"),
    ("adjoint", total, {"argnums": 1}, r"argnums=1 is out of range: the function is given 1 argument"),
    ("adjoint", total, {"argnums": (0, -2)}, r"argnums=\(0, -2\) is out of range.*must lie in -1 \.\. 0"),
    ("numeric", total, {"intended": ("custom_rules",)}, r"custom rules declare another derivative on purpose"),
    ("numeric", total, {"intended": ("stops",)}, r"intended='stops' is not known; it must be one of stop_gradient"),
    ("numeric", total, {"tolerance": -1.0}, r"tolerance=-1.0 must be positive"),
    ("rejects", total, {"rejects": (X,)}, r"must be a pair \(tuple of arguments, exception type\)"),
    ("reference", total, {"reference": 3}, r"reference=3 must be a function"),
]


@pytest.mark.parametrize(("name", "fn", "contract", "message"), WRONG)
def test_wrong_calls(name: str, fn: Any, contract: dict[str, Any], message: str) -> None:
    """A call that cannot mean anything is a UsageError that names the value and what it should be."""
    with pytest.raises(UsageError, match=message):
        LAWS[name](fn, X, **contract)


@pytest.mark.parametrize(("fn", "dtype"), [(total, np.int32), (lambda x: jnp.argmax(x), np.float32)])
def test_nothing_to_differentiate(fn: Any, dtype: Any) -> None:
    """Integers in or integers out: the law says that it does not apply."""
    with pytest.raises(UsageError, match="no floating or complex ar"):
        properties.numeric(fn, X.astype(dtype))


def test_unknown_law() -> None:
    """A law that does not exist is named, with those that are spelled alike."""
    with pytest.raises(UsageError, match=r"'adjiont' is not a law; did you mean adjoint or jit\?"):
        get("adjiont")


def test_unlike_any_law() -> None:
    """A name that resembles no law is answered with the list of them."""
    with pytest.raises(UsageError, match="the laws are structure, finite"):
        get("zzz")


def test_judge_returns_a_finding() -> None:
    """By name and point: a finding where the law is violated, else the verdict."""
    bad = autoprop.Target(total, (X,), rejects=(((X,), ValueError),))
    assert isinstance(judge(bad, "rejects", autoprop.Point((X,))), Finding)
    assert judge(bad, "stop_identity", autoprop.Point((X,))) == Holds()


def test_judge_refuses_what_does_not_apply() -> None:
    """By name and point: a law that does not apply is a wrong call."""
    with pytest.raises(UsageError, match="'frozen' does not apply"):
        judge(autoprop.Target(total, (X,)), "frozen", autoprop.Point((X,)))


def test_a_law_needs_its_formula() -> None:
    """A law without a docstring has no formula to show."""

    def nameless(subject: Any, point: Any) -> Any:
        return Holds()

    with pytest.raises(UsageError, match="'nameless' needs a docstring whose first line is its formula"):
        law("contract")(nameless)


def test_a_law_of_ones_own() -> None:
    """One decorated function makes a law: its name, its formula, its exception."""

    @law("contract")
    def my_law(subject: Any, point: Any) -> Any:
        """
        f(0) = 0
        """
        return Holds()

    assert (my_law.name, my_law.formula, my_law.error.__name__) == ("my_law", "f(0) = 0", "MyLawFalsified")
    assert my_law(total, X) == Holds()


def test_check_refuses_laws_that_do_not_apply() -> None:
    """A law that was asked for by name and does not apply is a wrong call, not an empty answer."""
    with pytest.raises(UsageError, match="'frozen'"):
        autoprop.check(total, X, properties=("frozen",))


def test_constants_are_told() -> None:
    """A finding says which arguments were differentiated and which were constants."""
    with pytest.raises(autoprop.Falsified) as caught:
        properties.expected_grad(lambda w, x: jnp.sum(w * x), X, X, argnums=0, expected_grad=lambda w, x: 2 * x)

    assert "differentiated with respect to w; constant: x" in str(caught.value)


def test_a_finding_tells_of_indices_out_of_range() -> None:
    """A function that indexes by an integer argument is told how to say that the indices are in range."""
    x, i = np.array([1.0, 2.0], np.float32), np.array([5], np.int32)

    with pytest.raises(Falsified) as raised:
        properties.adjoint(lambda x, i: jnp.sum(x[i]), x, i)

    assert "i holds integers that index an array" in str(raised.value)
    assert "labels('n', below='c')" in str(raised.value).replace("\n", " ")
