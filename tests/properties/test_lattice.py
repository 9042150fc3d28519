"""The law `lattice`: stacks of transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.custom_batching import custom_vmap
from jax.custom_derivatives import linear_call

from autoprop import Holds, Point, Target, Undecided, properties
from autoprop._subject import Subject
from autoprop.properties import LAWS
from zoo.transformed import EVERYTHING, takes_everything

X = np.array([0.5, -1.25, 2.0], np.float32)


@pytest.mark.parametrize("dtype", [np.float16, jnp.bfloat16, np.complex64])
def test_dtypes(dtype: Any, judge: Callable[..., Any]) -> None:
    """A sound function holds in narrow dtypes and in complex ones."""
    assert judge("lattice", lambda x: jnp.cumsum(jnp.sin(x) / 3), jnp.asarray(X, dtype)) == Holds()


@pytest.mark.parametrize("seed", range(4))
def test_trees(seed: int, judge: Callable[..., Any]) -> None:
    """Trees, keys, labels, static values, Python scalars, sizes 0 and integers among the outputs are taken."""
    assert judge("lattice", takes_everything, *EVERYTHING, seed=seed) == Holds()


def test_weak_types(judge: Callable[..., Any]) -> None:
    """A Python scalar among narrow arrays does not widen them under a transform."""
    x = jnp.asarray(X, jnp.bfloat16)
    assert judge("lattice", lambda x, scale: (x * scale, scale * scale), x, 1.5) == Holds()
    assert judge("lattice", lambda scale: jnp.sin(scale) * x, 1.5) == Holds()


def test_every_transform_takes_part(judge: Callable[..., Any]) -> None:
    """Whatever the seed, each of the transforms is in one of the stacks, none of which is longer than four."""
    subjects = [Subject(Target(jnp.sin, (X,)), (X,)) for _ in range(3)]
    stacks = []
    for seed, subject in enumerate(subjects):
        assert LAWS["lattice"].judge(subject, Point((X,), seed)) == Holds()
        names = [name.removeprefix("transformed:") for name in subject.memo if str(name).startswith("transformed:")]
        stacks.append(names)
        assert sorted(t for name in names for t in name.split("(")[:-1]) == [
            "custom_jvp",
            "custom_vjp",
            "jit",
            "jvp_of_vjp",
            "linearize",
            "remat",
            "scan",
            "vmap",
        ]
        assert [name.count("(") for name in names] == [4, 4]
    assert len({tuple(names) for names in stacks}) == 3


def test_the_shortest_stack_is_reported() -> None:
    """Of a stack that fails, the message shows the shortest part that fails, as code."""

    @custom_vmap
    def cut(x: Any) -> Any:
        return jnp.sin(x)

    cut.def_vmap(lambda size, batched, x: (jax.lax.stop_gradient(jnp.sin(x)), True))
    for seed in range(3):
        with pytest.raises(properties.lattice.error) as caught:
            properties.lattice(cut, X, seed=seed)
        found = caught.value.finding.mismatch
        assert (found.leaf, found.routes[0][0], found.routes[1]) == ("tangent of value", "f", ("vmap(f)", "0"))


def test_two_transforms_are_needed(judge: Callable[..., Any]) -> None:
    """A fault that only a stack of two shows is reported as that stack."""

    @jax.custom_vjp
    def inner(x: Any) -> Any:
        return jnp.sin(x)

    @custom_vmap
    def slope(x: Any, c: Any) -> Any:
        return jnp.cos(x) * c

    @slope.def_vmap
    def _(size: int, batched: Any, x: Any, c: Any) -> Any:
        return jax.lax.stop_gradient(jnp.cos(x) * c), True

    inner.defvjp(lambda x: (jnp.sin(x), x), lambda x, c: (slope(x, c),))
    names = set()
    for seed in range(6):
        verdict = judge("lattice", inner, X, seed=seed)
        if verdict != Holds():
            names.add(verdict.worst.routes[1][0])
    assert names == {"jvp_of_vjp(vmap(f))"}


def test_forward_mode_only(judge: Callable[..., Any]) -> None:
    """Where there is no reverse mode, the transforms that need it are left out and Jv is compared."""

    def looped(x: Any) -> Any:
        return jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x), (0, x))[1]

    assert judge("lattice", looped, X) == Holds()


def test_reverse_mode_only(judge: Callable[..., Any]) -> None:
    """Where there is no forward mode, transforms that need it come after one that makes it."""

    @jax.custom_vjp
    def cube(x: Any) -> Any:
        return x**3

    cube.defvjp(lambda x: (x**3, x), lambda x, c: (3 * c * x**2,))
    assert [judge("lattice", cube, X, seed=seed) for seed in range(3)] == [Holds()] * 3


def test_custom_rules_on_purpose(judge: Callable[..., Any]) -> None:
    """A gradient that is clipped on purpose has no derivative of its own: that transform is left out."""

    @jax.custom_vjp
    def clipped(x: Any) -> Any:
        return 2 * x

    clipped.defvjp(lambda x: (2 * x, None), lambda _, c: (jnp.clip(2 * c, -1, 1),))
    assert judge("lattice", clipped, X, intended=("custom_rules",)) == Holds()
    assert judge("lattice", clipped, X).worst.routes[1][0] == "jvp_of_vjp(f)"


def test_what_jax_cannot_stack(judge: Callable[..., Any]) -> None:
    """Where JAX has no batching rule, the transforms that need none are judged alone."""

    def f(x: Any) -> Any:
        return linear_call(lambda s, v: s * v, lambda s, c: s * c, jnp.float32(3), x)

    assert judge("lattice", f, X) == Holds()
    assert isinstance(judge("lattice", lambda x: x if x[0] > 0 else -x, X), Undecided)
