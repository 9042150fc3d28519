"""Every law on every sort of function: none accuses or breaks down, and each decides wherever it means anything."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import attrs
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Point, Settings, Target, Undecided, UsageError, Violated, check, search
from autoprop._subject import Subject
from autoprop.properties import LAWS
from hypothesis_jax import array, labels, static

F = np.float32
X = np.array([0.5, -1.25, 2.0], F)
W = np.array([1.5, 0.75, -0.5], F)
Z = (X + 1j * W).astype(np.complex64)

VALUES = "control flow depends on values"
EAGER = {
    **dict.fromkeys(("retrace", "jit", "vmap", "remat", "linearize", "nested_jit", "lattice"), VALUES),
    **dict.fromkeys(("modes", "numeric_second", "precision"), VALUES),
    **dict.fromkeys(("numeric", "symmetric"), "refuses 64-bit arguments"),
    "export": "Attempted boolean conversion",
}
UNSPLIT = {"sharded": "no axis of an argument is divided by the number of devices"}


@attrs.frozen(eq=False)
class Sort:
    """
    A sound function of one sort.

    Attributes:
        fn: the function.
        args: its arguments.
        contract: options of its `Target`.
        undecided: the laws that cannot decide, and a part of the reason.
    """

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    contract: dict[str, Any] = attrs.field(factory=dict)
    undecided: dict[str, str] = attrs.field(factory=dict)


def power_error(w: Any, x: Any, *, power: int = 2, weight: Any = None) -> Any:
    """A loss with keywords."""
    error = (w * x - 1) ** power
    return jnp.sum(error if weight is None else error * weight)


def with_metrics(w: Any, x: Any) -> Any:
    """A loss and metrics of every kind, some without a derivative."""
    error = w * x - 1
    return jnp.sum(error**2), {"n": x.shape[0], "hits": jnp.mean(error > 0), "error": error, "at": jnp.argmax(error)}


def of_trees(params: Any, x: Any) -> Any:
    """A tree of arrays, an integer one among them, and None."""
    return {"y": (params["w"] * x, jnp.sum(params["b"])), "n": jnp.arange(3), "none": None}


SORTS = {
    "vector": Sort(lambda a, b: jnp.sin(a) * b, (X, W)),
    "tree": Sort(of_trees, ({"w": W, "b": X}, X)),
    "complex to complex": Sort(lambda z: jnp.exp(z) * z, (Z,)),
    "complex to real": Sort(lambda z, s: jnp.sum(jnp.abs(z * s) ** 2), (Z, F(2))),
    "real to complex": Sort(lambda x: jnp.exp(1j * x), (X,)),
    "integer index": Sort(lambda w, i: jnp.sum(w[i] ** 2), (X, np.array([0, 2, 2]))),
    "mask": Sort(lambda w, m: jnp.sum(jnp.where(m, w, 0) ** 2), (X, np.array([True, False, True]))),
    "keyword": Sort(functools.partial(power_error, power=3), (W, X)),
    "keyword array": Sort(functools.partial(power_error, weight=X**2), (W, X)),
    "static integer": Sort(lambda x, n: jnp.sum(x**n), (X, 3)),
    "static word": Sort(lambda x, how: getattr(jnp, how)(x * x), (X, "mean")),
    "Python float": Sort(lambda x, s: jnp.sum(x * s), (X, 0.5)),
    "Python float beside float16": Sort(lambda x, s: jnp.sum(x * s), (X.astype(np.float16), 0.5)),
    "Python complex": Sort(lambda x, s: jnp.sum(jnp.abs(x * s) ** 2), (X, 0.5 + 1j)),
    "None": Sort(lambda x, m: jnp.sum(x**2 if m is None else x * m), (X, None)),
    "key": Sort(
        lambda key, x: jnp.sum(jax.random.normal(key, (3,)) * x),
        (jax.random.key(0), X),
        undecided={"precision": "random numbers differ between dtypes"},
    ),
    "aux": Sort(with_metrics, (W, X), {"has_aux": True}),
    "size 0 beside others": Sort(lambda x, y: jnp.sum(x**2) + jnp.sum(y**2), (X[:0], W)),
    "size 0": Sort(lambda x: x * 2, (X[:0],), undecided=UNSPLIT),
    "size 1": Sort(lambda x: jnp.sum(x**2, -1), (X[:1, None],), undecided=UNSPLIT),
    "weak type": Sort(lambda x, s: x * s + s**2, (X.astype(np.float16), jnp.asarray(0.5))),
    "weak type alone": Sort(lambda s: s * jnp.sin(s), (0.5,), undecided=UNSPLIT),
    "bfloat16": Sort(lambda x, w: jnp.sum(jnp.sin(x) * w), (X.astype(jnp.bfloat16), W.astype(jnp.bfloat16))),
    "float16": Sort(lambda x, w: jnp.tanh(x) * w, (X.astype(np.float16), W.astype(np.float16))),
    "mixed dtypes": Sort(lambda x, w: jnp.sum(x.astype(jnp.float32) * w), (X.astype(jnp.bfloat16), W)),
    "float64 of NumPy": Sort(lambda x, w: jnp.sum(jnp.sin(x) * w), (X.astype(np.float64), W.astype(np.float64))),
    "integers to integers": Sort(lambda i: i * 2, (np.arange(3),)),
    "no derivative": Sort(jnp.argmax, (X,)),
    "Python number returned": Sort(
        lambda x: 2.0 * float(x.shape[0]), (X,), undecided={"descent": "the gradient is 0: there is no step to take"}
    ),
    "asks for a value": Sort(lambda x, t: jnp.sum(x**2) if t > 0 else jnp.sum(x), (X, F(1)), undecided=EAGER),
}
WIDE = ("vector", "complex to real", "Python float", "float64 of NumPy", "mixed dtypes", "aux")


def judged(sort: Sort) -> dict[str, Any]:
    """Return the verdict of every law that applies; what a law raises is raised."""
    subject = Subject(Target(sort.fn, sort.args, **sort.contract), sort.args)
    return {name: law.judge(subject, Point(sort.args)) for name, law in LAWS.items() if law.why_not(subject) is None}


def assert_decided(sort: Sort) -> None:
    """Nothing is accused, and only what is listed is undecided, for the reason that is listed."""
    verdicts = judged(sort)
    assert [(name, found.worst) for name, found in verdicts.items() if isinstance(found, Violated)] == []
    undecided = {name: found.reason for name, found in verdicts.items() if isinstance(found, Undecided)}
    assert {name: reason for name, reason in undecided.items() if sort.undecided.get(name, "-") not in reason} == {}
    assert set(verdicts) >= {"repeatable", "retrace"}


@pytest.mark.slow
@pytest.mark.parametrize("name", SORTS)
def test_sound(name: str) -> None:
    """No law accuses a sound function of any sort, and each decides, but for the exceptions that are listed."""
    assert_decided(SORTS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", WIDE)
def test_sound_with_x64(name: str) -> None:
    """The same where JAX computes in 64 bits."""
    with jax.enable_x64(True):
        assert_decided(SORTS[name])


@jax.custom_jvp
def conjugated(z: Any) -> Any:
    """The exponential, with a rule that conjugates its factor."""
    return jnp.exp(z)


conjugated.defjvp(lambda p, t: (jnp.exp(p[0]), jnp.conj(jnp.exp(p[0])) * t[0]))


@jax.custom_jvp
def half_too_much(x: Any) -> Any:
    """The sine, with a rule that is too large by a half."""
    return jnp.sin(x)


half_too_much.defjvp(lambda p, t: (jnp.sin(p[0]), (1.5 * jnp.cos(p[0])).astype(p[0].dtype) * t[0]))


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def squared_at_heart(x: Any, n: int) -> Any:
    """A power, with a rule that was written for the square."""
    return x**n


squared_at_heart.defjvp(lambda n, p, t: (p[0] ** n, 2 * p[0] * t[0]))


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def reduced(x: Any, how: str) -> Any:
    """A mean or a sum, with a rule that was written for the sum."""
    return getattr(jnp, how)(x**2)


reduced.defvjp(lambda x, how: (getattr(jnp, how)(x**2), x), lambda how, x, c: (2 * c * x,))


@jax.custom_vjp
def taken(w: Any, i: Any) -> Any:
    """Rows by their numbers, with a rule that keeps only the last of equal numbers."""
    return w[i]


taken.defvjp(lambda w, i: (w[i], (w, i)), lambda r, c: (jnp.zeros_like(r[0]).at[r[1]].set(c), None))


@jax.custom_vjp
def squeezed(x: Any) -> Any:
    """The square of each row, with a rule that loses an axis of size 1."""
    return x**2


squeezed.defvjp(lambda x: (x**2, x), lambda x, c: (jnp.squeeze(2 * c * x),))


@jax.custom_jvp
def scaled(x: Any, s: Any) -> Any:
    """A product with a Python number, with a rule that takes the number for a constant."""
    return x * s


scaled.defjvp(lambda p, t: (p[0] * p[1], t[0] * p[1]))


def stale_aux(fn: Any, argnums: Any, has_aux: bool = False) -> Any:
    """A gradient transform that returns the aux of its first step for ever."""
    first: list[Any] = []

    def gradient(*args: Any) -> Any:
        found, aux = jax.grad(fn, argnums, has_aux=has_aux)(*args)
        first.append(jax.tree.map(jnp.zeros_like, aux))
        return found, first[0]

    return gradient


FAULTS: dict[str, tuple[str, Target]] = {
    "complex": ("numeric", Target(conjugated, array("n", np.complex64))),
    "bfloat16": ("numeric", Target(half_too_much, array("n", jnp.bfloat16))),
    "float16": ("numeric", Target(half_too_much, array("n", np.float16))),
    "one output of a tree": (
        "numeric",
        Target(lambda p: {"y": p["a"], "z": (half_too_much(p["b"]), p["a"])}, {"a": array("n"), "b": array("n")}),
    ),
    "keyword": ("numeric", Target(functools.partial(reduced, how="mean"), array("n"))),
    "static word": ("numeric", Target(reduced, (array("n"), static("sum", "mean")))),
    "static integer": ("numeric", Target(squared_at_heart, (array("n"), static(2, 3)))),
    "Python float": ("numeric", Target(scaled, (array("n"), 0.5), argnums=(0, 1))),
    "equal integers": ("numeric", Target(taken, (array("n"), labels("m", below="n")))),
    "size 1": ("structure", Target(squeezed, array("n 1"))),
    "value beside aux": (
        "numeric",
        Target(lambda x: (jnp.sum(half_too_much(x)), {"x": x}), array("n"), has_aux=True),
    ),
    "aux beside the gradient": (
        "value_and_grad",
        Target(with_metrics, (array("n"), array("n")), has_aux=True, gradient=stale_aux),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str) -> None:
    """A fault in a function of each sort is found by a search."""
    law, target = FAULTS[name]
    found = search(target.replace(properties=(law,)), settings=Settings(examples=96, rows=32, signatures=4)).findings
    assert [finding.property for finding in found] == [law]


def test_value_without_aux() -> None:
    """A function that returns no pair cannot have aux."""
    with pytest.raises(UsageError, match=r"has_aux=True needs a function that returns a pair .*returns no tuple"):
        check(jnp.sum, X, has_aux=True)
    with pytest.raises(UsageError, match="returns 3 values"):
        check(lambda x: (jnp.sum(x), x, x), X, has_aux=True)


def test_aux_is_no_value() -> None:
    """Only the value of a pair is differentiated: aux may be wrong to differentiate."""

    def f(x: Any) -> Any:
        return jnp.sum(x**2), half_too_much(x)

    laws = ("numeric", "finite", "argnums_order", "value_and_grad")
    assert check(f, X, has_aux=True, properties=laws) == dict.fromkeys(laws, Holds())
    subject = Subject(Target(f, (X,), has_aux=True), (X,))
    assert (subject.is_scalar_loss, subject.output_paths, subject.array_output_paths) == (
        True,
        ["value"],
        ["value", "aux"],
    )


def test_partial_has_the_name_of_its_function() -> None:
    """A function with bound keywords is called like the function itself."""
    assert Target(functools.partial(power_error, power=3)).name == "power_error"
