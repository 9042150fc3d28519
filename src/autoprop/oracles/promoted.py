"""The function under test in 64 bits, alone and unbatched: its values along a line and its derivatives there."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._dtypes import finfo, wide
from .._jaxprs import has_rule_over_loop, narrowest_eps
from .._pairing import absolute_terms, cotangents, pair
from .._point import Point
from .._subject import Subject
from .._trees import is_inexact
from .automatic import both_modes
from .bounded import fast
from .difference import OFFSETS, Slope, slope
from .paired import paired
from .rounding import decisions, narrowed, perturbed, roundings, same_but_for_rounding, spread

__all__ = ["Promoted"]


class Promoted:
    """
    One point of a subject in 64 bits.

    Every program is compiled once for a subject and kept there; only the point's numbers are the object's own.
    All methods work under ``jax.enable_x64(True)`` by themselves.

    Attributes:
        moved: the moved leaves, as float64 or complex128 NumPy arrays.
        held: the held leaves, inexact ones promoted.
        seed: the point's seed.
        eps: machine epsilon of the narrowest dtype that the promoted function computes in.
        stands_for_a_loop: whether a custom rule stands for an iteration, whose limit it may differentiate instead.
        error: what the function raised on promoted arguments, or None.
    """

    def __init__(self, subject: Subject, point: Point) -> None:
        self.subject, self.seed = subject, point.seed
        self.error: Exception | None = None
        self.eps = 0.0
        self.stands_for_a_loop = False
        self._dtypes: list[Any] = []
        moved, held = subject.split(point.primals)
        with jax.enable_x64(True):
            self.moved, self.held = wide(moved), wide(held)
            try:
                if "promoted:trace" not in subject.memo:
                    subject.memo["promoted:trace"] = self._trace()
                self.eps, self._dtypes, self.stands_for_a_loop = subject.memo["promoted:trace"]
            except Exception as error:  # noqa: BLE001  the function under test may refuse wide arguments with anything
                self.error = error

    def _trace(self) -> Any:
        jaxpr, shapes = jax.make_jaxpr(self.subject.f, return_shape=True)(self.moved, self.held)
        whole = getattr(self.subject, "whole", self.subject)  # a gradient no longer shows the rules that it applied
        stands_for_a_loop = whole.is_traceable and has_rule_over_loop(whole.traced)
        return narrowest_eps(jaxpr), [leaf.dtype for leaf in shapes], stands_for_a_loop

    def cotangents(self, seed: int | None = None) -> list[Any]:
        """
        Return the point's cotangents in the dtypes of the promoted outputs.
        """
        return cotangents(self.subject, self.seed if seed is None else seed, self._dtypes)

    def _program(self, name: str, build: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
        subject = self.subject
        return subject.compiled(f"promoted:{name}", lambda: fast(subject, build()))

    def _along(self) -> Callable[..., Any]:
        f, holds_stops = self.subject.f, "stop_gradient" in self.subject.target.intended

        def along(moved: Any, held: Any, v: Any, u: Any) -> Any:
            g = paired(lambda leaves: f(leaves, held), moved) if holds_stops else (lambda leaves: f(leaves, held))

            def at(offset: Any) -> Any:
                return pair(u, g([x + (offset * t).astype(x.dtype) for x, t in zip(moved, v, strict=True)]))

            # one after the other, never batched: a fault of a batching rule is not to be mistaken for a wrong
            # derivative
            return jax.lax.map(at, jnp.asarray(OFFSETS)), absolute_terms(u, f(moved, held))

        return along

    def slope(self, v: Sequence[Any], u: Sequence[Any], *, careful: bool = False) -> Slope:
        """
        Return the slope of ⟨u, f(x + s·v)⟩ at s = 0, from differences alone; stopped values are held fixed if the
        target says that stops are intended.

        Args:
            v: the direction.
            u: the cotangents.
            careful: measure the rounding of intermediate values too, instead of trusting the size of the result. That
                compiles another program, so it is asked for before a derivative is accused.
        """
        values, size = self.along(v, u)
        if careful:
            size = max(size, self.rounding(u) / self.eps)
        return slope(values, size, self.eps)

    def along(self, v: Sequence[Any], u: Sequence[Any]) -> tuple[Any, float]:
        """
        Return ⟨u, f(x + s·v)⟩ at each s of `OFFSETS`, and Σ|u·f(x)|.
        """
        with jax.enable_x64(True):
            values, magnitude = self._program("along", self._along)(self.moved, self.held, list(v), list(u))
            return np.asarray(values, np.float64), float(magnitude)

    def rounding(self, u: Sequence[Any]) -> float:
        """
        Return how far rounding alone may move ⟨u, f(x)⟩, the cancellation of intermediate values included; 0 if the
        function cannot be run operation by operation.
        """
        return self._spread("value", lambda m, h, c: [pair(c, self.subject.f(m, h))], self.moved, self.held, list(u))

    def rounding_of_derivatives(self, v: Sequence[Any], u: Sequence[Any]) -> float:
        """
        Return how far rounding alone may move ⟨u, J·v⟩ by either mode; 0 if it cannot be run operation by operation.
        """

        def sides(m: Any, h: Any, t: Any, c: Any) -> list[Any]:
            _, forward, reverse = both_modes(lambda x: self.subject.f(x, h), m, t, c)
            pairs = ((c, forward), (t, reverse))
            return [pair(direction, found) for direction, found in pairs if found is not None]

        return self._spread("derivatives", sides, self.moved, self.held, list(v), list(u))

    def _spread(self, name: str, f: Callable[..., list[Any]], *arguments: list[Any]) -> float:
        leaves, treedef = jax.tree.flatten(arguments)
        with jax.enable_x64(True):
            try:
                program = self.subject.compiled(
                    f"rounding:{name}", lambda: perturbed(lambda x: f(*jax.tree.unflatten(treedef, x)), leaves)
                )
                return max(spread(program, leaves, self.eps), default=0.0)
            except (NotImplementedError, TypeError, ValueError):
                return 0.0

    def shifted(self, v: Sequence[Any], offset: float) -> Promoted:
        """
        Return the point at x + offset·v.
        """
        moved = copy.copy(self)
        moved.moved = [x + offset * np.asarray(t) for x, t in zip(self.moved, v, strict=True)]
        return moved

    def with_leaf(self, i: int, leaf: Any) -> Promoted:
        """
        Return the point with another array for one of its moved leaves.
        """
        other = copy.copy(self)
        other.moved = [leaf if j == i else x for j, x in enumerate(self.moved)]
        return other

    def perturbed(self, size: float, seed: int, at_zero: float = 0.0) -> Promoted:
        """
        Return the point with every inexact number x, held ones too, replaced by x·(1 + size·ξ) with ξ in [−1, 1], and
        0 by at_zero·ξ.
        """
        rng = np.random.default_rng(seed)

        def moved_by(leaf: Any) -> Any:
            if not is_inexact(leaf):
                return leaf
            x, xi = np.asarray(leaf), rng.uniform(-1, 1, np.shape(leaf))
            return np.where((x == 0) & (at_zero > 0), at_zero * xi, x * (1 + size * xi)).astype(x.dtype)

        other = copy.copy(self)
        other.moved, other.held = [moved_by(x) for x in self.moved], [moved_by(x) for x in self.held]
        return other

    def derivatives(self, v: Sequence[Any], u: Sequence[Any]) -> tuple[list[Any] | None, list[Any] | None]:
        """
        Return J·v by forward mode and Jᵀ·u by reverse mode; None for a mode that the function does not have.
        """
        return self.value_and_derivatives(v, u)[1:]

    def value_and_derivatives(
        self, v: Sequence[Any], u: Sequence[Any]
    ) -> tuple[list[Any], list[Any] | None, list[Any] | None]:
        """
        Return f(x), J·v by forward mode and Jᵀ·u by reverse mode; None for a mode that the function does not have.
        """
        subject = self.subject

        def build() -> Callable[..., Any]:
            return lambda moved, held, t, c: both_modes(lambda m: subject.f(m, held), moved, t, c)

        with jax.enable_x64(True):
            found = self._program("derivatives", build)(self.moved, self.held, list(v), list(u))
            return jax.tree.map(np.asarray, found)  # type: ignore[no-any-return]

    def in_narrow(self, dtype: Any, v: Sequence[Any], u: Sequence[Any]) -> list[Any] | None:
        """
        Return what `value_and_derivatives` may be where every operation rounds to a narrow dtype: once to nearest, and
        some times at random. None if it cannot be run operation by operation, or is another function in that dtype.
        """
        subject, unit = self.subject, float(finfo(dtype).eps)
        leaves, treedef = jax.tree.flatten((self.moved, self.held, list(v), list(u)))

        def flat(x: list[Any]) -> list[Any]:
            moved, held, t, c = jax.tree.unflatten(treedef, x)
            return jax.tree.leaves(both_modes(lambda m: subject.f(m, held), moved, t, c))

        with jax.enable_x64(True):
            try:
                if "narrow:same" not in subject.memo:
                    there = jax.make_jaxpr(subject.f)(self.moved, self.held)
                    subject.memo["narrow:same"] = subject.is_traceable and same_but_for_rounding(
                        subject.traced, there, unit
                    )
                if not subject.memo["narrow:same"]:
                    return None
                program = subject.compiled(f"narrow:{dtype}", lambda: perturbed(flat, leaves, dtype))
                runs = narrowed(program, leaves, unit)
            except (NotImplementedError, TypeError, ValueError):
                return None
            shape = jax.tree.structure(self.value_and_derivatives(v, u))
        return [jax.tree.unflatten(shape, run) for run in runs]

    def decides_otherwise(self, dtype: Any) -> bool:
        """
        Say whether a comparison of finite numbers in the function comes out otherwise where its operations round to a
        narrow dtype: the arguments do not determine it. False if it cannot be run operation by operation.
        """
        leaves, treedef = jax.tree.flatten((self.moved, self.held))
        with jax.enable_x64(True):
            try:
                program = self.subject.compiled(
                    f"narrow:decisions:{dtype}",
                    lambda: decisions(lambda x: self.subject.f(*jax.tree.unflatten(treedef, x)), leaves, dtype),
                )
                return any(program(seed, unit, *leaves) for seed, unit in roundings(float(finfo(dtype).eps)))
            except (NotImplementedError, TypeError, ValueError):
                return False
