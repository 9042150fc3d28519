"""The laws of transforms: jit and vmap change how a function runs, never what it computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._compile import FAST_COMPILE
from .._pairing import cotangents
from .._point import Point, direction
from .._subject import Subject
from .._trees import is_inexact, is_key, on_device
from .._verdict import Holds, Undecided, Verdict
from ._compare import Routes, agree, attempt
from ._law import law, undecided_if_raises
from ._transformed import plain_paths

__all__ = ["jit", "plain_value", "split_arrays", "value_and_gradient", "vmap"]

NEIGHBOURS = (1.0, -1.0, 0.5, -0.5)  # where the other points of a batch are, as multiples of one direction
BATCH = 1 + len(NEIGHBOURS)


def plain_value(subject: Subject) -> Any:
    """
    Return ``(moved, held) -> every array of the value``.
    """

    def value(moved: Any, held: Any) -> Any:
        leaves = jax.tree.leaves(subject.target.fn(*subject.join(moved, held)))
        return [leaf if hasattr(leaf, "dtype") else jnp.asarray(leaf) for leaf in leaves]

    return value


def value_and_gradient(subject: Subject) -> Any:
    """
    Return ``(moved, held, u) -> every array of the value, inexact outputs of the forward pass, and Jᵀu``.
    """
    alone = plain_value(subject)

    def both(moved: Any, held: Any, u: Any) -> Any:
        value, pull = jax.vjp(lambda m: subject.f(m, held), moved)
        return alone(moved, held), value, pull([jnp.asarray(c, y.dtype) for c, y in zip(u, value, strict=True)])[0]

    return both


def _needs_arrays(subject: Subject) -> str | None:
    return None if any(kind != "static" for kind in subject.kinds) else "no argument is an array"


@law("transforms", applies=_needs_arrays)
def jit(subject: Subject, point: Point) -> Verdict:
    """
    jit(f)(x) = f(x) and jit(grad f)(x) = grad f(x), up to rounding

    Compilation may fuse and reassociate, which rounds differently; a difference that does not shrink with the precision
    is no rounding. Value and gradient are both compared.

    **Catches** code that asks whether it is being traced, Python side effects, values baked in at trace time.

    **Does not catch** what tracing and eager evaluation share.
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises

    def routes(primals: tuple[Any, ...], name: str, build: Any, paths: Any, extra: tuple[Any, ...]) -> Routes:
        arguments = (*split_arrays(subject, primals), *extra)
        eager = subject.compiled(name, lambda: build(subject))
        compiled = subject.compiled(f"jit:{name}", lambda: jax.jit(eager))
        return Routes(
            ("eager", "jit"), paths, attempt(lambda: eager(*arguments)), attempt(lambda: compiled(*arguments))
        )

    return _with_gradient(subject, point, cotangents(subject, point.seed), routes)


def _with_gradient(subject: Subject, point: Point, u: Any, routes: Callable[..., Routes]) -> Verdict:
    """
    Ask two routes to agree on value and gradient, in one program each; on the value alone where there is no gradient.
    """

    def value() -> Verdict:
        return agree(subject, point, lambda p: routes(p, "value", plain_value, subject.array_output_paths, ()))

    if not subject.moved_paths or not subject.inexact_outputs:
        return value()
    paths = [*subject.array_output_paths, *plain_paths(subject, ("reverse",))]
    verdict = agree(subject, point, lambda p: routes(p, "derivative", value_and_gradient, paths, (u,)))
    if not isinstance(verdict, Undecided):
        return verdict
    alone = value()  # reverse mode may raise, or be what cannot be decided
    return verdict if isinstance(alone, Holds) and not verdict.reason.startswith("not possible in JAX") else alone


@law("transforms", applies=_needs_arrays)
def vmap(subject: Subject, point: Point) -> Verdict:
    """
    vmap(f)([x₀, x₁, …, x₄])[i] = f(xᵢ), and the same for the gradient, up to rounding

    A batch is a loop written otherwise. The batch is the point itself and four neighbours of it, each with
    cotangents of its own; value and gradient of each are compared with those of each point alone.

    **Catches** batching rules that drop, clamp or reorder, reductions over the wrong axis, custom_vmap rules.

    **Does not catch** faults that need a batch of another size or another in_axes.
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises
    shared = subject.is_scalar_loss  # whose cotangent is 1 at every point, as in vmap(grad(f))
    u = [np.stack(column) for column in zip(*(cotangents(subject, point.seed + i) for i in range(BATCH)), strict=True)]
    u = [c[0] for c in u] if shared else u

    def routes(primals: tuple[Any, ...], name: str, build: Any, paths: Any, extra: tuple[Any, ...]) -> Routes:
        batch, axes = _batch(subject, *subject.split(primals), point.seed)
        # both compiled as one program: evaluated eagerly, a batched function compiles each of its operations anew
        single = subject.compiled(f"single:{name}", lambda: jax.jit(build(subject), compiler_options=FAST_COMPILE))
        mapped = subject.compiled(
            f"vmap:{name}",
            lambda: jax.jit(
                jax.vmap(build(subject), in_axes=(*axes, *([None if shared else 0] * len(extra))), axis_size=BATCH),
                compiler_options=FAST_COMPILE,
            ),
        )

        def loop() -> Any:
            rows = [
                jax.tree.map(lambda x, a, i=i: x if a is None else x[i], batch, axes, is_leaf=_leaf)
                for i in range(BATCH)
            ]
            own = [jax.tree.map(lambda c, i=i: c if shared else c[i], extra) for i in range(BATCH)]
            values = [jax.tree.leaves(single(*row, *more)) for row, more in zip(rows, own, strict=True)]
            return [_stack(column) for column in zip(*values, strict=True)]

        return Routes(("one by one", "vmap"), paths, attempt(loop), attempt(lambda: mapped(*batch, *extra)))

    return _with_gradient(subject, point, u, routes)


def _leaf(x: Any) -> bool:
    return x is None


def split_arrays(subject: Subject, primals: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """
    Return the moved and the held leaves as JAX arrays.
    """
    moved, held = subject.split(primals)
    return [on_device(x) for x in moved], [on_device(x) for x in held]


def _batch(subject: Subject, moved: list[Any], held: list[Any], seed: int) -> tuple[Any, Any]:
    """
    The point and its neighbours, stacked, and their axes; keys whose generator draws otherwise in a batch are shared.
    """

    def neighbours(x: Any, name: str) -> Any:
        if not is_inexact(x):
            return _stack([x] * BATCH)
        x = np.asarray(x, jnp.result_type(x))
        r = direction(seed, f"neighbour:{name}", np.shape(x)) / 8
        return _stack([x, *((x * (1 + away * r)).astype(x.dtype) for away in NEIGHBOURS)])

    axes_held = [None if is_key(x) and "fry" not in str(jax.random.key_impl(x)) else 0 for x in held]
    stacked = [
        x if axis is None else neighbours(x, f"held{i}")
        for i, (x, axis) in enumerate(zip(held, axes_held, strict=True))
    ]
    batch = [neighbours(x, p) for x, p in zip(moved, subject.moved_paths, strict=True)], stacked
    return batch, ([0] * len(moved), axes_held)


def _stack(rows: Sequence[Any]) -> Any:
    """
    Rows as one array, on the host: there nothing is compiled.
    """
    return jnp.stack(rows) if is_key(rows[0]) else np.stack([np.asarray(row, jnp.result_type(row)) for row in rows])
