"""The laws of a function under one transform: `remat`, `linearize`, `nested_jit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

from autoprop import Holds, Point, Target, Undecided, properties
from autoprop._subject import Subject
from autoprop.properties import LAWS
from zoo.transformed import EVERYTHING, takes_everything

X = np.array([0.5, -1.25, 2.0], np.float32)
ALL = ["remat", "linearize", "nested_jit"]


@jax.custom_vjp
def cube(x: Any) -> Any:
    """A function with reverse mode only."""
    return x**3


cube.defvjp(lambda x: (x**3, x), lambda x, c: (3 * c * x**2,))


def looped(x: Any) -> Any:
    """A function with forward mode only."""
    return jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x), (0, x))[1]


@pytest.mark.parametrize("law", ALL)
@pytest.mark.parametrize("dtype", [np.float16, jnp.bfloat16, np.complex64])
def test_dtypes(law: str, dtype: Any, judge: Callable[..., Any]) -> None:
    """A sound function holds in narrow dtypes and in complex ones."""
    assert judge(law, lambda x: jnp.cumsum(jnp.sin(x) / 3), jnp.asarray(X, dtype)) == Holds()


@pytest.mark.parametrize("law", ALL)
def test_trees(law: str, judge: Callable[..., Any]) -> None:
    """Trees, keys, labels, static values, Python scalars, sizes 0 and outputs that are integers are taken."""
    assert judge(law, takes_everything, *EVERYTHING) == Holds()


@pytest.mark.parametrize("law", ALL)
def test_forward_mode_only(law: str, judge: Callable[..., Any]) -> None:
    """Where there is no reverse mode, Jv is compared."""
    assert judge(law, looped, X) == Holds()


@pytest.mark.parametrize("law", ALL)
def test_cancellation_is_no_fault(law: str, judge: Callable[..., Any]) -> None:
    """A difference that is rounding of terms of 1e9 is sound."""
    assert judge(law, lambda x: jnp.sum(x * 1e9) - jnp.sum(x[::-1] * 1e9) + x, X / 3) == Holds()


@pytest.mark.parametrize("law", ["remat", "nested_jit"])
def test_control_flow_on_values(law: str, judge: Callable[..., Any]) -> None:
    """What JAX cannot trace is undecided."""
    verdict = judge(law, lambda x: x if x[0] > 0 else -x, X)
    assert isinstance(verdict, Undecided)
    assert "cannot be traced" in verdict.reason


@pytest.mark.parametrize("law", ["remat", "nested_jit"])
def test_reverse_mode_only(law: str, judge: Callable[..., Any]) -> None:
    """A function with a custom VJP has reverse mode only; that is compared."""
    assert judge(law, cube, X) == Holds()


def test_linearize_needs_forward_mode() -> None:
    """A function without forward mode cannot be linearised."""
    subject = Subject(Target(cube, (X,)), (X,))
    assert LAWS["linearize"].why_not(subject) == "the function has no forward mode of differentiation"


def test_message() -> None:
    """The message names the leaf, the transformed function and both numbers."""

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return x**2

    f.defvjp(lambda x: (x**2 + 1, x), lambda x, c: (2 * c * x,))
    with pytest.raises(properties.remat.error) as caught:
        properties.remat(f, X)
    found = caught.value.finding.mismatch
    assert (found.leaf, found.index, found.routes) == ("value", (0,), (("f", "0.25"), ("remat(f)", "1.25")))


def test_gradient_of_a_compiled_function_that_raises(judge: Callable[..., Any]) -> None:
    """A residual that does not survive the border of a program is caught, and the error is told."""
    kept = []

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return x**2

    f.defvjp(lambda x: (kept.append(x), (x**2, None))[1], lambda _, c: (2 * kept[-1] * c,))
    found = judge("nested_jit", f, X).worst
    assert found.routes[0] == ("f", "a value")
    assert found.routes[1][0] == "grad(jit(f))"
    assert found.routes[1][1].startswith("raises ")


def test_what_jax_has_not_implemented(judge: Callable[..., Any]) -> None:
    """A transform that JAX says it has not implemented for a function is undecided, with JAX's reason."""

    def f(x: Any) -> Any:
        io_callback(lambda: None, None, ordered=True)
        return x * 2

    verdict = judge("remat", f, X)
    assert isinstance(verdict, Undecided)
    assert verdict.reason.startswith("not possible in JAX: Effects not supported")


def test_programs(judge: Callable[..., Any]) -> None:
    """Each law compiles one program of its own: the plain side is the one of the law `finite`, for every point."""
    subject = Subject(Target(jnp.sin, (X,)), (X,))
    LAWS["finite"].judge(subject, Point((X,)))
    kept = {}
    for law in ALL:
        before = {*subject.memo, "missing modes", "numbering", "open-ended"}
        verdicts = [LAWS[law].judge(subject, Point((x,))) for x in (X, 2 * X)]
        kept[law] = sorted(name for name in subject.memo if isinstance(name, str) and name not in before)
        assert verdicts == [Holds(), Holds()]
    nested = ["transformed:grad(jit(f))", "transformed:jit(grad(jit(f)))"]
    own = {"remat": ["transformed:remat(f)"], "linearize": ["transformed:linearize(f)"], "nested_jit": nested}
    assert kept == own


@pytest.mark.parametrize("law", ALL)
def test_one_program(law: str, programs: list[str], judge: Callable[..., Any]) -> None:
    """Where the transformed function is the plain one, expression by expression, no derivative is compiled."""
    x = np.arange(1, 8, dtype=np.float32)

    def fn(x: Any) -> Any:
        return jnp.sum(jnp.sin(x) * jnp.flip(x))

    fn(x)
    programs.clear()
    assert judge(law, fn, x) == Holds()
    assert programs == []
