"""The laws of stop_gradient: `stop_identity`, `frozen`, `live`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoprop import Holds, Undecided, properties

X = np.array([0.5, -1.25, 2.0], np.float32)
stop = jax.lax.stop_gradient


def test_frozen_message() -> None:
    """The message names the leaf that leaks, the mode, and the zero that was declared."""
    with pytest.raises(properties.frozen.error) as caught:
        properties.frozen(lambda p, t: jnp.sum(p["w"] * t), {"w": X}, np.float32(2), frozen="p['w']")
    found = caught.value.finding.mismatch
    assert (found.leaf, found.index) == ("p['w']", (0,))
    assert found.routes == (("reverse", "2"), ("declared", "0"))
    assert (found.difference, found.bound, found.count, found.total) == (2.0, 0.0, 3, 3)


def test_frozen_is_exact(judge: Callable[..., Any]) -> None:
    """The smallest normal number is no zero."""
    tiny = float(np.finfo(np.float32).tiny)
    assert hasattr(judge("frozen", lambda p: jnp.sum(stop(p)) + tiny * p[0], X, frozen="p"), "mismatches")


def test_frozen_in_forward_mode_only(judge: Callable[..., Any]) -> None:
    """A tangent that passes a stop which holds in reverse is a leak."""
    from jax.custom_derivatives import linear_call

    def f(x: Any) -> Any:
        return linear_call(lambda s, v: s * v, lambda s, c: jnp.zeros_like(c), jnp.float32(2), x)

    assert judge("frozen", f, X, frozen="x").worst.routes[0][0] == "forward"


def test_frozen_nan(judge: Callable[..., Any]) -> None:
    """NaN behind a stop is a leak too."""

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return jnp.sum(x)

    f.defvjp(lambda x: (jnp.sum(x), x), lambda x, c: (x * jnp.nan,))
    assert judge("frozen", f, X, frozen="x").worst.routes[0] == ("reverse", "nan")


def test_frozen_outside_argnums(judge: Callable[..., Any]) -> None:
    """A frozen argument is looked at even where argnums leaves it out."""
    verdict = judge("frozen", lambda p, t: jnp.sum(p * t), X, X, argnums=0, frozen="t")
    assert verdict.worst.leaf == "t"


def test_live_message() -> None:
    """The message names the leaf that gets nothing, not its living neighbour."""
    with pytest.raises(properties.live.error) as caught:
        properties.live(lambda p: jnp.sum(p["a"] * stop(p["b"])), {"a": X, "b": X}, live=("p",))
    finding = caught.value.finding
    assert [m.leaf for m in finding.mismatches] == ["p['b']"]
    assert finding.mismatch.routes == (("reverse", "0 in every entry"), ("declared", "not 0"))


def test_live_is_no_matter_of_size(judge: Callable[..., Any]) -> None:
    """A gradient of 1e-30 beside one of order one is alive."""
    assert judge("live", lambda a, b: jnp.sum(a) + 1e-30 * jnp.sum(b), X, X, live=("a", "b")) == Holds()


def test_live_is_not_alive_by_nan(judge: Callable[..., Any]) -> None:
    """A gradient that is NaN in every entry does not count as alive."""
    assert hasattr(judge("live", lambda x: jnp.sum(stop(x)) + jnp.sum(x * jnp.nan), X, live="x"), "mismatches")


def test_live_of_size_zero(judge: Callable[..., Any]) -> None:
    """A leaf without entries cannot be dead."""
    assert judge("live", jnp.sum, np.zeros((0, 2), np.float32), live="a") == Holds()


def test_stop_identity_message() -> None:
    """The message shows both values, bit for bit apart."""
    seen: list[Any] = []

    def first_is_special(x: Any) -> Any:
        if isinstance(x, jax.core.Tracer):
            return jnp.sum(x)
        seen.append(x)
        return jnp.sum(jnp.asarray(x)) + (1.0 if x is seen[0] else 0.0)

    with pytest.raises(properties.stop_identity.error) as caught:
        properties.stop_identity(first_is_special, X)
    found = caught.value.finding.mismatch
    assert found.routes == (("f(x)", "2.25"), ("f(stop_gradient(x))", "1.25"))
    assert "stopping changes derivatives only" in str(caught.value)


def test_stop_identity_of_random_functions(judge: Callable[..., Any]) -> None:
    """A function that does not repeat cannot be compared with itself."""
    counter = itertools.count()
    verdict = judge("stop_identity", lambda x: jnp.sum(x) + next(counter), X)
    assert verdict == Undecided("the function does not repeat bit for bit")


@pytest.mark.parametrize("values", [[np.nan, -0.0, np.inf], [1e-45, -1e-40, 3e38]])
def test_stop_identity_of_odd_values(values: list[float], judge: Callable[..., Any]) -> None:
    """NaN, negative zero, infinity and subnormals pass a stop as they are."""
    assert judge("stop_identity", lambda x: x, np.array(values, np.float32)) == Holds()


@pytest.mark.parametrize("argument", [0.3, 2, True, jax.random.key(1), X.astype(np.int8), X.astype(jnp.bfloat16)])
def test_stop_identity_of_kinds(argument: Any, judge: Callable[..., Any]) -> None:
    """Python numbers, keys, integers and narrow floats are kinds of arguments like any other."""
    assert judge("stop_identity", lambda a, x: (jax.tree.map(jnp.copy, a), x * 2), argument, X) == Holds()


@pytest.mark.parametrize("law", ["stop_identity", "jit", "vmap"])
def test_python_numbers_in_the_value(law: str, judge: Callable[..., Any]) -> None:
    """A function may return Python numbers beside arrays, as auxiliary output does."""
    assert judge(law, lambda x: (jnp.sum(x), 3), X) == Holds()
