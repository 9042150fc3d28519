"""The laws of stop_gradient: identity of the value, exact zeros behind it, life in front of it."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from .._dtypes import double
from .._pairing import cotangents, pair, tangents
from .._point import Point
from .._subject import Subject
from .._trees import as_arrays, is_array, is_key, on_device
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ..oracles.same_program import agrees, expressions
from ._compare import Routes, attempt, number, same
from ._law import law, undecided_if_raises
from ._rows import Rows

__all__ = ["frozen", "live", "stop_identity"]


@law("stop_gradient", smooth_only=False)
def stop_identity(subject: Subject, point: Point) -> Verdict:
    """
    stop_gradient(x) = x and f(stop_gradient(x)) = f(x), bit for bit

    Stopping a gradient changes derivatives only. Value, dtype, shape and tree stay what they were: eagerly, under jit
    and under vmap, for the arguments and for the function's value at them.

    **Catches** wrappers around stop_gradient that cast, rebuild or round, functions that behave differently when their
    arguments carry no gradient.

    **Does not catch** stops in the wrong place (`frozen`, `live`, `numeric`).
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises
    arrays = [leaf for leaf in subject.split(point.primals)[0] + subject.split(point.primals)[1] if not is_key(leaf)]
    paths = [f"leaf {i}" for i in range(len(arrays))]
    eager = [on_device(x) for x in arrays]
    stop = jax.lax.stop_gradient

    batch = [np.stack([np.asarray(x)] * 2) for x in arrays]
    ways: dict[str, tuple[Any, list[Any]]] = {
        "stop_gradient": (stop, eager),
        "jit(stop_gradient)": (jax.jit(stop), eager),
        "vmap(stop_gradient)": (jax.vmap(stop) if batch else stop, batch),
    }
    for name, (way, leaves) in ways.items():
        if way is not stop and agrees(expressions(subject, name, lambda x, way=way: (x, way(x)), leaves)):
            continue
        found = attempt(lambda way=way, leaves=leaves: way(leaves))  # type: ignore[misc]
        verdict = same(Routes(("x", name), paths, leaves, found), "stopping is the identity")
        if not isinstance(verdict, Holds):
            return verdict
    fn = subject.target.fn
    # an array made of a Python number keeps the number's weak type, which stop_gradient(0.5) does not
    stopped = jax.tree.map(
        lambda x: stop(x if hasattr(x, "dtype") else on_device(x)) if is_array(x) else x, point.primals
    )
    value = attempt(lambda: as_arrays(fn(*point.primals)))
    repeat = attempt(lambda: as_arrays(fn(*point.primals)))
    value_paths = subject.array_output_paths
    if not isinstance(same(Routes(("f(x)", "f(x) again"), value_paths, value, repeat), ""), Holds):
        return Undecided("the function does not repeat bit for bit")
    routes = Routes(("f(x)", "f(stop_gradient(x))"), value_paths, value, attempt(lambda: as_arrays(fn(*stopped))))
    return same(routes, "stopping changes derivatives only")


def _declares_frozen(subject: Subject) -> str | None:
    if not subject.target.frozen:
        return "the target declares no frozen leaf"
    if not subject.moved_among(subject.target.frozen, "frozen"):
        return "no frozen leaf is floating or complex"
    return None if subject.inexact_outputs else "the value holds no floating or complex array"


def _frozen_screen(rows: Rows) -> Any:
    if rows.reverse is None:
        return np.nan
    leaks = np.zeros(len(rows), bool)
    for i in rows.subject.moved_among(rows.subject.target.frozen, "frozen"):
        leaks |= (rows.reverse[i] != 0).reshape(len(rows), -1).any(1)
    return np.where(rows.is_finite & leaks, 1.0, 0.0)


@law("stop_gradient", applies=_declares_frozen, screen=_frozen_screen, smooth_only=False)
def frozen(subject: Subject, point: Point) -> Verdict:
    """
    ∂f/∂(frozen leaf) = 0 exactly, in forward, reverse and nested derivatives

    A stopped branch adds a symbolic zero, not a small number, to every derivative: the gradient, the tangent along the
    frozen leaves, and the gradient of a directional derivative.

    **Catches** stops that cover only part of an expression, target networks that leak, stops undone by a custom rule.

    **Does not catch** stops that should not be there (`live`).
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises
    chosen = subject.moved_among(subject.target.frozen, "frozen")
    moved, held = subject.split(point.primals)
    moved = [on_device(x) for x in moved]
    u = cotangents(subject, point.seed)
    free = [np.where(np.asarray(t) == 0, 1, np.asarray(t)).astype(t.dtype) for t in moved]
    along = [on_device(t if i in chosen else np.zeros_like(t)) for i, t in enumerate(free)]

    def f(m: Any) -> Any:
        return subject.f(m, held)

    def directional(m: Any) -> Any:
        steady = [jax.lax.stop_gradient(on_device(t)) for t in tangents(subject, moved, point.seed)]
        return pair(u, jax.jvp(f, (m,), (steady,))[1])

    ways = {
        "reverse": lambda: [jax.vjp(f, moved)[1](u)[0][i] for i in chosen],
        "forward": lambda: jax.jvp(f, (moved,), (along,))[1],
        "nested": lambda: [jax.grad(directional)(moved)[i] for i in chosen],
    }
    paths = {"forward": [f"{p} along the frozen leaves" for p in subject.output_paths]}
    decided = False
    for mode, way in ways.items():
        found = attempt(way)
        if not isinstance(found, list):
            continue  # a mode that is not there; `structure` says so if it is a fault
        decided = True
        where = paths.get(mode, [subject.moved_paths[i] for i in chosen])
        mismatches = [m for path, g in zip(where, found, strict=True) if (m := _not_zero(path, mode, g)) is not None]
        if mismatches:
            return Violated(tuple(mismatches))
    return Holds() if decided else Undecided("there is no derivative here")


def _not_zero(path: str, mode: str, gradient: Any) -> Mismatch | None:
    g = np.asarray(gradient).astype(np.complex128)
    bad = g != 0
    if not np.any(bad):
        return None
    worst = np.unravel_index(int(np.argmax(np.where(bad, np.nan_to_num(np.abs(g), nan=np.inf), -1))), g.shape)
    index = tuple(int(i) for i in worst)
    gap = float(abs(g[index]))
    return Mismatch(
        leaf=path,
        index=index,
        routes=((mode, number(np.asarray(gradient)[index])), ("declared", "0")),
        difference=gap if np.isfinite(gap) else None,
        bound=0.0,
        origin="a frozen leaf has a derivative of exactly 0",
        count=int(bad.sum()),
        total=int(bad.size),
    )


def _declares_live(subject: Subject) -> str | None:
    if not subject.target.live:
        return "the target declares no live leaf"
    if not subject.moved_among(subject.target.live, "live"):
        return "no live leaf is floating or complex"
    return None if subject.inexact_outputs else "the value holds no floating or complex array"


def _live_screen(rows: Rows) -> Any:
    chosen = rows.subject.moved_among(rows.subject.target.live, "live")
    if rows.reverse is None:
        return np.full((len(rows), len(chosen)), np.nan)
    gradients = [double(rows.reverse[i]).reshape(len(rows), -1) for i in chosen]
    alive = [((g != 0) & np.isfinite(g)).any(1) | (g.shape[1] == 0) for g in gradients]
    return np.where(np.stack(alive, 1), 0.0, 1.0)


@law("stop_gradient", applies=_declares_live, screen=_live_screen, somewhere=True)
def live(subject: Subject, point: Point) -> Verdict:
    """
    ∂f/∂(live leaf) ≠ 0 at some point, for each live leaf alone

    A trainable leaf must be reached by a gradient somewhere. Each leaf is looked at by itself, so that a dead leaf
    beside large ones is seen; a search accuses only if no point at all gives the leaf a gradient.

    **Catches** the classic accident: the whole loss or all parameters wrapped in stop_gradient, a codebook that
    starves.

    **Does not catch** gradients that are alive but wrong (`numeric`).
    """
    chosen = subject.moved_among(subject.target.live, "live")
    moved, held = subject.split(point.primals)
    moved = [on_device(x) for x in moved]
    dead = dict.fromkeys(chosen, True)
    for seed in range(point.seed, point.seed + 3):
        u = cotangents(subject, seed)
        found = attempt(lambda u=u: jax.vjp(lambda m: subject.f(m, held), moved)[1](u)[0])  # type: ignore[misc]
        if not isinstance(found, list):
            return Undecided("there is no derivative here")
        for i in chosen:
            g = np.asarray(found[i])
            if g.size == 0 or np.any((g != 0) & np.isfinite(g.astype(np.complex128))):
                dead[i] = False
    origin = "a live leaf must get a gradient somewhere; this one gets none at any point that was tried"
    mismatches = [
        Mismatch(
            subject.moved_paths[i], (), (("reverse", "0 in every entry"), ("declared", "not 0")), None, None, origin
        )
        for i, is_dead in dead.items()
        if is_dead
    ]
    return Violated(tuple(mismatches)) if mismatches else Holds()
