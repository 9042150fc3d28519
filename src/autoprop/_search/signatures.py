"""Which shapes, dtypes and trees a search looks at: few of them, each one that the function can be traced with."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import attrs
import jax
import numpy as np
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import SearchStrategy

import hypothesis_jax as hj

from .._errors import AutopropWarning, UsageError
from .._jaxprs import equations
from .._settings import Settings
from .._subject import Subject
from .._target import Target
from .._trees import is_key

__all__ = ["Slot", "breadth", "is_drawn", "row", "slots", "spec_of", "taken"]

# signatures in the first round, and those with all laws where a number of points is the limit, by the least number of
# equations
BREADTH = ((256, 2, 1), (16, 4, 1), (0, 8, 2))


@attrs.frozen(eq=False)
class Slot:
    """
    One signature of a target.

    Attributes:
        spec: the spec of the argument tuple.
        signature: sizes, dtypes, static values.
        subject: the target at that signature.
    """

    spec: Any
    signature: hj.Signature
    subject: Subject


def is_drawn(target: Target) -> bool:
    """
    Say whether a target's points come from a Hypothesis strategy alone, so that there are no rows of one signature.
    """
    return isinstance(target.args, SearchStrategy)


def spec_of(target: Target) -> Any:
    """
    Return the spec of the argument tuple.

    Raises:
        UsageError: the target has no spec.
    """
    if isinstance(target.args, tuple) and not target.args:
        raise UsageError(
            f"{target.name}: args=() gives no spec; say which arguments the function takes, e.g. array('n d')"
        )
    return target.args


def slots(target: Target, settings: Settings) -> list[Slot]:
    """
    Return the pool of signatures of an epoch, simplest first, each vetted by `jax.eval_shape`.

    Raises:
        UsageError: the spec can produce nothing, or the function raises at every signature.
    """
    spec = spec_of(target)
    try:
        return _pool(target, spec, settings)
    except _NothingAccepted as refused:
        first = refused
    for demoted, path in _elements(spec):
        try:
            found = _pool(target, demoted, settings)
        except _NothingAccepted:
            continue
        warnings.warn(
            f"{target.name}: the function takes no argument like the example; {path} is taken as a batch, one of its "
            "elements at a time",
            AutopropWarning,
            stacklevel=2,
        )
        return found
    raise UsageError(str(first)) from first.cause


class _NothingAccepted(Exception):  # noqa: N818  never leaves this module
    def __init__(self, message: str, cause: Exception | None) -> None:
        super().__init__(message)
        self.cause = cause


def _pool(target: Target, spec: Any, settings: Settings) -> list[Slot]:
    raised: list[Exception] = []
    subjects: dict[hj.Signature, Subject] = {}

    def accept(signature: hj.Signature) -> bool:
        sample = hj.sample(spec, 1, seed=0, signature=signature)
        subject = Subject(target, row(sample, 0))
        try:
            _ = subject.outputs
        except UsageError:
            raise
        except Exception as error:  # noqa: BLE001  the function under test may raise anything
            raised.append(error)
            return False
        subjects[signature] = subject
        return True

    try:
        pool = hj.signatures(spec, settings.signatures, epoch=settings.epoch, accept=accept)
    except InvalidArgument as refused:
        if not raised and "was accepted" not in str(refused):
            raise UsageError(f"{target.name}: the spec can produce nothing: {refused}") from refused
        last = raised[0]
        shown = (str(last).strip().splitlines() or [""])[0][:300]
        message = (
            f"{target.name}: the function raises on every input of its spec, {len(raised)} signatures were tried; the "
            f"first says {type(last).__name__}: {shown}"
        )
        raise _NothingAccepted(message, last) from refused
    if len(pool) == 1 and all(axis is None for axis in hj.sample(spec, 1, seed=0, signature=pool[0]).axes):
        raise UsageError(
            f"{target.name}: args holds no strategy, so every point would be the same; say like(...) to search around "
            "these arguments, or call a law itself at this one point, as in numeric(fn, *arguments)"
        )
    return [Slot(spec, signature, subjects[signature]) for signature in pool]


def breadth(slots: Sequence[Slot]) -> tuple[int, int]:
    """
    Return at how many signatures a search looks in its first round, and at how many of them with laws that compile
    programs of their own, unless it has time: fewer for functions that compile slowly.
    """
    subject = slots[0].subject
    size = sum(1 for _ in equations(subject.traced)) if subject.is_traceable else 0
    wide, deep = next(counts for least, *counts in BREADTH if size >= least)
    return min(len(slots), wide), min(len(slots), deep)


def row(sample: hj.Sample, i: int) -> Any:
    """
    Return row i of a sample.
    """
    leaves, treedef = jax.tree.flatten(sample.tree)
    own = [leaf if axis is None else _of(leaf, i) for leaf, axis in zip(leaves, sample.axes, strict=True)]
    return tuple(jax.tree.unflatten(treedef, own))


def taken(leaf: Any, rows: Any) -> Any:
    """
    Return a row of a sample's leaf, or some of them: NumPy, but a JAX array for keys. Nothing is compiled.
    """
    if is_key(leaf):
        words = np.array(np.asarray(jax.random.key_data(leaf))[rows])
        return jax.random.wrap_key_data(jax.device_put(words), impl=jax.random.key_impl(leaf))
    return np.asarray(leaf)[rows]


def _of(leaf: Any, i: int) -> Any:
    """
    Return row i of a leaf as a JAX array.
    """
    found = taken(leaf, i)
    return found if is_key(found) else jax.device_put(np.array(found))


def _elements(spec: Any) -> Any:
    """
    Yield specs in which one array of an example, taken as a batch, is replaced by one of its elements.
    """
    if not isinstance(spec, hj.Arguments):
        return
    leaves, treedef = jax.tree.flatten(tuple(spec))
    for i, leaf in enumerate(leaves):
        if not getattr(leaf, "dims", ()):
            continue
        changed = [*leaves[:i], attrs.evolve(leaf, dims=leaf.dims[1:]), *leaves[i + 1 :]]
        path = jax.tree_util.keystr(jax.tree_util.tree_flatten_with_path(tuple(spec))[0][i][0])
        used = {name for leaf in changed for name in getattr(leaf, "dims", ())}
        sizes = tuple((name, size) for name, size in spec.sizes if name in used)
        yield hj.Arguments(jax.tree.unflatten(treedef, changed), sizes), f"args{path}"
