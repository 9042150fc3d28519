"""The ways of `benchmarks/speed.py` to verify a function: Hypothesis with `check_grads` or chex, and autoprop."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as settings_of
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from jax.test_util import check_grads

FEW = 128  # elements of one leaf that Hypothesis draws one by one; larger leaves are drawn from a seed
SIDES = (1, 6)
MODES = ("fwd", "rev")

Args = tuple[Any, ...]


class Over(KeyboardInterrupt):
    """The time is up; of a kind that Hypothesis lets pass."""


def _array(leaf: Any, shape: tuple[int, ...], dtype: Any, top: int | None) -> st.SearchStrategy[Any]:
    size = int(np.prod(shape))
    if top is not None:
        return npst.arrays(np.dtype(dtype), shape, elements=st.integers(0, top - 1))
    if size > FEW:
        seeds = st.integers(0, 2**32 - 1)
        scale = 1 / np.sqrt(shape[0])
        return seeds.map(lambda seed: (scale * np.random.default_rng(seed).normal(size=shape)).astype(dtype))
    width = min(np.dtype(dtype).itemsize * 8, 64)
    return npst.arrays(np.dtype(dtype), shape, elements=st.floats(-2, 2, width=width))  # type: ignore[arg-type]


@st.composite
def by_dims(draw: Any, spec: tuple[Any, ...]) -> Args:
    """
    Draw arguments of a spec of arrays and labels, each named size anew, as a test written by hand would.
    """
    sizes: dict[str, int] = {}

    def size(dim: int | str) -> int:
        if isinstance(dim, str) and dim not in sizes:
            sizes[dim] = draw(st.integers(*SIDES))
        return sizes[dim] if isinstance(dim, str) else dim

    def leaf(one: Any) -> Any:
        shape = tuple(size(getattr(dim, "name", dim)) for dim in one.dims)
        below = getattr(one, "below", None)
        return draw(_array(one, shape, one.dtypes[0], None if below is None else size(below)))

    return tuple(jax.tree.map(leaf, spec))


@st.composite
def by_example(draw: Any, example: Args) -> Args:
    """
    Draw arguments with the shapes and dtypes of an example: floats in -2 to 2, all else as in the example.
    """

    def leaf(one: Any) -> Any:
        dtype = getattr(one, "dtype", None)
        if dtype is None or not np.issubdtype(dtype, np.floating) or not np.dtype(dtype).isbuiltin:
            return one if not isinstance(one, float) else draw(st.floats(-2, 2))
        return draw(_array(one, np.shape(one), dtype, None))

    return tuple(jax.tree.map(leaf, example))


def _moving(fn: Callable[..., Any], args: Args) -> tuple[Callable[..., Any], list[Any]]:
    """
    Return the function of those leaves that can be differentiated, and them.
    """
    leaves, treedef = jax.tree.flatten(args)
    moved = [i for i, x in enumerate(leaves) if jax.numpy.issubdtype(getattr(x, "dtype", type(x)), np.inexact)]

    def of_leaves(*own: Any) -> Any:
        full = list(leaves)
        for i, x in zip(moved, own, strict=True):
            full[i] = x
        return fn(*jax.tree.unflatten(treedef, full))

    return of_leaves, [jax.numpy.asarray(leaves[i]) for i in moved]


def by_check_grads(fn: Callable[..., Any], args: Args) -> None:
    """
    Let `jax.test_util.check_grads` judge one point.
    """
    of_leaves, own = _moving(fn, args)
    check_grads(of_leaves, tuple(own), order=1, modes=MODES)


def by_chex(fn: Callable[..., Any], args: Args) -> None:
    """
    Let `chex.assert_numerical_grads` judge one point.
    """
    import chex

    of_leaves, own = _moving(fn, args)
    chex.assert_numerical_grads(of_leaves, tuple(own), order=1, modes=MODES)


JUDGES = {"check_grads": by_check_grads, "chex": by_chex}


def drawn(
    fn: Callable[..., Any], points: Any, judge: Callable[..., None], seconds: float, *, first: bool
) -> dict[str, Any]:
    """
    Judge drawn points until the time is up, or until the first is accused.

    Returns:
        a record: points judged, points accused, points at which anything else was raised, seconds, the first complaint.
    """
    start = time.perf_counter()
    count, accused, raised, complaint, trouble = 0, 0, 0, "", ""

    @settings_of(max_examples=10**6, deadline=None, database=None, phases=[Phase.generate], derandomize=True,
                 suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(points)
    def test(args: Args) -> None:
        nonlocal count, accused, raised, complaint, trouble
        if time.perf_counter() - start > seconds:
            raise Over
        try:
            judge(fn, args)
        except AssertionError as error:
            accused, complaint = accused + 1, complaint or str(error).strip()[:200]
        except Exception as error:  # noqa: BLE001  the function, or the check of it, may raise anything
            raised, trouble = raised + 1, trouble or f"{type(error).__name__}: {str(error).strip()[:200]}"
        count += 1
        if first and accused:
            raise Over

    while time.perf_counter() - start < seconds and not (first and accused):  # it may think that it has seen all
        before = count
        try:
            test()
        except Over:
            break
        if count == before:
            break
    spent = time.perf_counter() - start
    found = {"points": count, "seconds": spent, "accused": accused, "raised": raised, "complaint": complaint}
    return found | {"trouble": trouble}


def searched(target: Any, seconds: float | None, laws: tuple[str, ...] | None) -> dict[str, Any]:
    """
    Let autoprop search a target, for some seconds or as it does by default.
    """
    import autoprop

    settings = autoprop.Settings(seconds=seconds, examples=None) if seconds else autoprop.Settings()
    outcome = autoprop.search(target, settings=settings, properties=laws)
    found = sorted({finding.property for finding in outcome.findings})
    return {"points": outcome.points, "seconds": outcome.seconds, "accused": len(found), "laws": found}


def first_found(target: Any, seconds: float) -> dict[str, Any]:
    """
    Let autoprop search a target until its first finding, shrunk.
    """
    import autoprop
    from autoprop._search import explore

    start, points = time.perf_counter(), 0
    settings = autoprop.Settings(seconds=seconds, examples=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for event in explore(target, settings):
            if isinstance(event, autoprop.Found):
                return {"found": event.finding.property, "seconds": time.perf_counter() - start}
            points = getattr(event, "points", points)
    return {"found": None, "seconds": time.perf_counter() - start, "points": points}
