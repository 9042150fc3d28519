"""The law `repeatable`: calling a function leaves no trace."""

from __future__ import annotations

import gc
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._dtypes import eps
from .._jaxprs import refusal
from .._point import Point
from .._subject import Subject
from .._tolerance import ROUTES
from .._trees import as_arrays, is_array, is_inexact, is_key, same_tree
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ._compare import Raised, Routes, attempt, same
from ._law import law, undecided_if_raises

__all__ = ["repeatable"]

NEIGHBOUR, SHIFT = 1.125, 0.125  # of the call in between: x becomes 1.125 x + 0.125


@law("contract", smooth_only=False, once=True)
def repeatable(subject: Subject, point: Point) -> Verdict:
    """
    f(x) = f(x) bit for bit, x stays what it was, and no tracer outlives the call

    JAX's transforms assume pure functions: they call a function any number of times, or once for all. So a second call
    gives the same bits, even after a call with other numbers, neither the arrays nor the dicts and lists of the
    arguments are changed, and nothing keeps a tracer when tracing has ended. A tracer is held against the function only
    if it is alive after garbage collection, after a second trace too, and `jax.checking_leaks` agrees.

    **Catches** hidden generators and counters, caches that change the answer, what is remembered of other inputs,
    in-place changes of NumPy arguments, ``params.pop``, lists and attributes that collect traced values.

    **Does not catch** state that only a later process sees, or opaque Python objects that change.
    """
    raises = undecided_if_raises(subject, point.replace(primals=_fresh(subject, point)))
    if raises is not None:
        return raises
    fn = subject.target.fn
    given, kept = _fresh(subject, point), _fresh(subject, point)
    first = attempt(lambda: as_arrays(fn(*given)))
    changed = _changes(subject, kept, given)
    if changed is not None:
        return changed
    attempt(lambda: fn(*_neighbour(subject, point)))  # what it raises there is no matter: it may leave something behind
    second = attempt(lambda: as_arrays(fn(*_fresh(subject, point))))
    routes = Routes(("first call", "second call"), subject.array_output_paths, first, second)
    verdict = same(routes, "the arguments were the same")
    if isinstance(verdict, Violated):
        return _unless_rounding(verdict, routes)
    if isinstance(verdict, Undecided):
        return verdict
    return _leaks(subject, point)


def _fresh(subject: Subject, point: Point) -> tuple[Any, ...]:
    """
    The arguments in containers of their own, NumPy arrays copied.
    """
    leaves = [x.copy() if isinstance(x, np.ndarray) else x for x in jax.tree.leaves(point.primals)]
    arguments: tuple[Any, ...] = jax.tree.unflatten(subject.treedef, leaves)
    return arguments


def _neighbour(subject: Subject, point: Point) -> tuple[Any, ...]:
    """
    Arguments of the same shapes and dtypes, with other inexact numbers.
    """
    leaves = [_moved(x) if is_inexact(x) else x for x in jax.tree.leaves(_fresh(subject, point))]
    arguments: tuple[Any, ...] = jax.tree.unflatten(subject.treedef, leaves)
    return arguments


def _moved(x: Any) -> Any:
    there = np.asarray(x)  # computed on the host: nothing is compiled
    there = (there * NEIGHBOUR + SHIFT).astype(there.dtype)
    return jax.device_put(there) if isinstance(x, jax.Array) else there if isinstance(x, np.ndarray) else type(x)(there)


def _changes(subject: Subject, before: tuple[Any, ...], after: tuple[Any, ...]) -> Violated | None:
    """
    How the call changed its arguments, or None.
    """
    trees = jax.tree.structure(before), jax.tree.structure(after)
    if not same_tree(*trees):
        routes = (("before the call", str(trees[0])), ("after the call", str(trees[1])))
        return Violated((Mismatch("arguments", (), routes, None, None, "a call must not change its arguments"),))
    arrays = [
        (path, x if is_key(x) else np.asarray(x), y if is_key(y) else np.asarray(y))
        for path, x, y in zip(subject.paths, jax.tree.leaves(before), jax.tree.leaves(after), strict=True)
        if is_array(x) and is_array(y)
    ]
    verdict = same(
        Routes(
            ("before the call", "after the call"),
            [path for path, _, _ in arrays],
            *([row[i] for row in arrays] for i in (1, 2)),
        ),
        "a call must not change its arguments",
    )
    return verdict if isinstance(verdict, Violated) else None


def _unless_rounding(verdict: Violated, routes: Routes) -> Verdict:
    """
    Devices other than the CPU may add in any order; there, differences within rounding say nothing.
    """
    if jax.default_backend() == "cpu" or isinstance(routes.left, Raised) or isinstance(routes.right, Raised):
        return verdict
    close = all(
        jnp.issubdtype(jnp.result_type(a), jnp.inexact) and np.allclose(a, b, ROUTES * eps(a), 0)
        for a, b in zip(routes.left, routes.right, strict=True)
        if not np.array_equal(a, b)
    )
    return Undecided("the calls differ by rounding, as they may on this device") if close else verdict


def _leaks(subject: Subject, point: Point) -> Verdict:
    """
    Whether tracing leaves a tracer behind.
    """
    moved, held = subject.split(point.primals)

    def trace() -> None:
        jax.make_jaxpr(lambda m, h: as_arrays(subject.target.fn(*subject.join(m, h))))(moved, held)

    try:
        trace()
    except Exception as error:  # noqa: BLE001  it can be called, so it is only not made to be traced
        return Holds() if refusal(error) else Undecided(f"tracing it {Raised(error)}")
    alive = _tracers() and _tracers(collect=True)  # a full collection takes long, and is seldom needed
    if not alive:
        return Holds()
    known = {id(tracer) for tracer in alive}
    trace()
    new = [tracer for tracer in _tracers(collect=True) if id(tracer) not in known]
    if not new:
        return Holds()
    try:
        with jax.checking_leaks():
            trace()
    except Exception:  # noqa: BLE001  JAX raises a bare Exception for a leak
        origin = "a tracer is alive after its trace has ended; used later it raises jax.errors.UnexpectedTracerError"
        holder = _holder(new[0], [alive, new])
        routes = (("alive after tracing", str(new[0])), ("kept by", holder))
        return Violated((Mismatch("tracer", (), routes, None, None, origin, len(new), len(new)),))
    return Undecided("a tracer is alive after tracing, but jax.checking_leaks does not mind")


def _tracers(*, collect: bool = False) -> list[Any]:
    if collect:
        gc.collect()
    return [found for found in gc.get_objects() if issubclass(type(found), jax.core.Tracer)]


def _holder(tracer: Any, ours: list[Any]) -> str:
    """
    The type of what refers to a tracer, the function's own containers first.
    """
    found = [
        type(holder).__name__
        for holder in gc.get_referrers(tracer)
        if not any(holder is x for x in ours) and not hasattr(holder, "f_code")
    ]
    return min(found, key=lambda name: name not in ("list", "dict", "set", "deque", "tuple"), default="something")
