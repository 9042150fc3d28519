"""The laws of the two modes: the same Jacobian entry by entry, and both are linear maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._dtypes import all_finite, double, eps, finfo
from .._pairing import cotangents, tangents
from .._point import Point
from .._subject import Subject
from .._tolerance import ADJOINT
from .._trees import on_device
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ..oracles.automatic import forward_mode, reverse_mode
from ..oracles.bounded import fast
from ..oracles.own import value_and_derivatives
from ..oracles.promoted import Promoted
from ._compare import Routes, agree, number
from ._law import law, undecided_if_raises
from .adjoint import both_modes_exist
from .numeric import applies_to_values

__all__ = ["linear", "modes"]

COLUMNS = 32  # entries of each side of the Jacobian that are compared; the rest is left to `adjoint`
JUDGED = 8  # entries that differ of which rounding is measured

Leaves = list[Any]


@law("modes", applies=both_modes_exist)
def modes(subject: Subject, point: Point) -> Verdict:
    """
    jacfwd(f)(x) = jacrev(f)(x), entry by entry, up to rounding

    Both modes compute one matrix, by columns and by rows. Every entry is compared, at most 32 columns by 32 rows of
    them; the columns and rows are computed in batches, so batching rules of derivatives take part.

    **Catches** rules whose modes differ in a small entry beside large ones, or in a batch only.

    **Does not catch** a rule that is wrong in both modes alike (`numeric`).
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises
    moved, _ = subject.split(point.primals)
    columns, rows = _basis(moved, point.seed), _basis(subject.inexact_outputs, point.seed + 1)
    if not columns or not rows:
        return Holds()  # nothing to differentiate, or no number to differentiate
    above = [_entry(subject.output_paths, subject.inexact_outputs, unit) for unit in rows]
    below = [_entry(subject.moved_paths, moved, unit) for unit in columns]
    paths = [f"∂{y}/∂{x}" for y in above for x in below]

    def routes(primals: tuple[Any, ...]) -> Routes:
        m, h = subject.split(primals)
        m = [on_device(x) for x in m]
        outputs = jax.eval_shape(lambda a, b: subject.f(a, b), m, h)
        v = _stacked(m, columns)
        u = _stacked(outputs, rows)
        program = subject.compiled("modes", lambda: _jacobians(subject))
        forward, reverse = program(m, h, v, u)
        forward, reverse = _entries(forward, rows, outputs), _entries(reverse, columns, m)
        pairs = [_in_one_dtype(forward[k][n], reverse[n][k]) for n in range(len(rows)) for k in range(len(columns))]
        return Routes(("forward", "reverse"), paths, [left for left, _ in pairs], [right for _, right in pairs])

    verdict = agree(subject, point, routes)
    if not isinstance(verdict, Violated):
        return verdict
    entries = dict(zip(paths, ((row, column) for row in rows for column in columns), strict=True))
    unit = max(eps(x) for x in [*moved, *subject.inexact_outputs])
    return _beyond_rounding(Promoted(subject, point), verdict, entries, unit)


def _beyond_rounding(here: Promoted, verdict: Violated, entries: dict[str, Any], unit: float) -> Verdict:
    """
    Keep, of the widest differences, those that the cancellation of intermediate values does not explain: one mode may
    round to 0 what the other computes as a small number.
    """
    if here.error is not None:
        return verdict
    outputs, kept = here.cotangents(), []
    coarser = max(1.0, unit / here.eps)  # the differences are those of the user's own dtype
    for mismatch in sorted(verdict.mismatches, key=lambda m: -(m.difference or np.inf))[:JUDGED]:
        row, column = entries.get(mismatch.leaf, (None, None))
        if row is not None and mismatch.difference is not None:
            u, v = (_stacked(leaves, [unit]) for leaves, unit in ((outputs, row), (here.moved, column)))
            rounding = here.rounding_of_derivatives([leaf[0] for leaf in v], [leaf[0] for leaf in u])
            if mismatch.difference <= ADJOINT * coarser * rounding:
                continue
        kept.append(mismatch)
    return Violated(tuple(kept)) if kept else Undecided("large intermediate values cancel: within rounding of them")


def _basis(leaves: Sequence[Any], seed: int) -> list[tuple[int, int, complex]]:
    """
    Unit vectors of the real space that these leaves span: leaf, flat position and unit (1 or i); all, or some.
    """
    every = [
        (i, k, unit)
        for i, leaf in enumerate(leaves)
        for k in range(int(np.prod(jnp.shape(leaf))))
        for unit in ((1, 1j) if jnp.issubdtype(jnp.result_type(leaf), jnp.complexfloating) else (1,))
    ]
    if len(every) <= COLUMNS:
        return every
    chosen = np.random.default_rng(seed).choice(len(every), COLUMNS, replace=False)
    return [every[i] for i in sorted(chosen)]


def _entry(paths: Sequence[str], leaves: Sequence[Any], basis: tuple[int, int, complex]) -> str:
    i, k, unit = basis
    index = ", ".join(str(int(j)) for j in np.unravel_index(k, jnp.shape(leaves[i])))
    return f"{'imag ' if unit == 1j else ''}{paths[i]}" + (f"[{index}]" if index else "")


def _stacked(leaves: Sequence[Any], basis: list[tuple[int, int, complex]]) -> Leaves:
    found = [np.zeros((len(basis), *leaf.shape), leaf.dtype) for leaf in leaves]
    for n, (i, k, unit) in enumerate(basis):
        found[i].reshape(len(basis), -1)[n, k] = unit
    return found


def _entries(derivatives: Leaves, basis: list[tuple[int, int, complex]], leaves: Sequence[Any]) -> Any:
    """
    The pairing of each derivative of a batch with each unit vector: real numbers, since units pair without conjugation.
    """
    host = [np.asarray(d).reshape(len(d), -1) for d in derivatives]
    columns = [np.real(host[i][:, k] * unit) for i, k, unit in basis]
    return np.stack(columns, axis=1)


def _in_one_dtype(forward: Any, reverse: Any) -> tuple[Any, Any]:
    """
    Both in the narrower of their dtypes: forward mode has the output's, reverse mode the argument's.
    """
    dtype = max(forward.dtype, reverse.dtype, key=lambda d: float(finfo(d).eps))
    return forward.astype(dtype), reverse.astype(dtype)


def _jacobians(subject: Subject) -> Any:
    def program(m: Any, h: Any, v: Any, u: Any) -> Any:
        def f(x: Any) -> Leaves:
            return subject.f(x, h)

        def each(mode: Any, directions: Leaves) -> Any:
            batch = jax.vmap(lambda t: mode(f, m, t))(directions)
            # a primitive without a batching rule: one after the other
            return jax.lax.map(lambda t: mode(f, m, t), directions) if batch is None else batch

        return each(forward_mode, v), each(reverse_mode, u)

    return fast(subject, program)


@law("modes", applies=applies_to_values, numeric=True)
def linear(subject: Subject, point: Point) -> Verdict:
    """
    J(a·v + b·w) = a·Jv + b·Jw, J(0) = 0, and the same for Jᵀ

    A derivative is a linear map of tangents, its transpose one of cotangents, at any scale: 2¹⁰ times a tangent gives
    2¹⁰ times the result. Zero goes to exactly zero.

    **Catches** rules that clip, normalise or threshold the tangent or cotangent, and rules that add a constant.

    **Does not catch** a linear map that is the wrong one (`numeric`).
    """
    moved, held = subject.split(point.primals)
    value = value_and_derivatives(
        subject, moved, held, tangents(subject, moved, point.seed), cotangents(subject, point.seed)
    )
    modes_here = [name for name, found in zip(("forward", "reverse"), value[1:], strict=True) if found is not None]
    if not modes_here:
        return Undecided("there is no derivative here")
    if not all(all_finite(leaves) for leaves in value if leaves is not None):
        return Undecided("value or derivative is not finite")
    suspects = []
    for mode in modes_here:
        found = _nonlinear(subject, moved, held, point.seed, mode, value_and_derivatives)
        suspects += [(mode, found)] if found else []
    if not suspects:
        return Holds()
    here = Promoted(subject, point)
    if here.error is not None:
        return Undecided(f"the function refuses 64-bit arguments ({type(here.error).__name__})")

    def wide(subject: Subject, m: Any, h: Any, v: Any, u: Any) -> Any:
        return here.value_and_derivatives(v, u)

    for mode, _ in suspects:
        found = _nonlinear(subject, here.moved, here.held, point.seed, mode, wide, here)
        if found is not None:
            return Violated((found,))
    return Undecided("the difference is there in the narrow dtype only, or within rounding of values that cancel")


SCALES = (1.0, 2.0**10, -(2.0**-10))  # of the first direction; powers of two round nothing


def _nonlinear(
    subject: Subject, moved: Any, held: Any, seed: int, mode: str, run: Any, here: Promoted | None = None
) -> Mismatch | None:
    """
    The worst departure of one mode from linearity, or None.
    """

    def sides(s: int) -> Leaves:
        if mode == "forward":
            return tangents(subject, moved, s)
        return cotangents(subject, s) if here is None else here.cotangents(s)

    fixed = (tangents(subject, moved, seed), cotangents(subject, seed) if here is None else here.cotangents(seed))

    def derivative(side: Leaves) -> Leaves:
        v, u = (side, fixed[1]) if mode == "forward" else (fixed[0], side)
        found = run(subject, moved, held, v, u)[1 if mode == "forward" else 2]
        return [double(d) for d in found]

    paths = subject.output_paths if mode == "forward" else subject.moved_paths
    first, second = sides(seed), sides(seed + 1)
    zero = derivative([np.zeros_like(x) for x in first])
    for path, d in zip(paths, zero, strict=True):
        if np.any(d != 0):
            return _mismatch(mode, path, d, np.zeros_like(d), np.zeros(d.shape), "of a zero", "zero", "zero gives 0")
    if subject.is_scalar_loss and mode == "reverse":
        second = [np.asarray(0.75, x.dtype) for x in second]
    parts = derivative(first), derivative(second)
    unit = max(eps(x) for x in [*first, *[np.asarray(y) for y in second]])
    unit = max(unit, here.eps if here is not None else 0.0, *(eps(x) for x in moved))
    for scale in SCALES:
        side = [(scale * a + b).astype(a.dtype) for a, b in zip(first, second, strict=True)]
        for i, (path, got, a, b) in enumerate(zip(paths, derivative(side), *parts, strict=True)):
            expected = scale * a + b
            size = np.abs(scale * a) + np.abs(b)
            bound = ADJOINT * unit * np.maximum(size, np.max(size, initial=0.0))
            if not np.all(np.isfinite(got)):
                continue  # the scaled direction overflows
            if here is not None and np.any(np.abs(got - expected) > bound):  # values may cancel on the way
                bound = np.maximum(bound, ADJOINT * _rounding(here, mode, i, np.abs(got - expected), side))
            if np.any(np.abs(got - expected) > bound):
                origin = f"{ADJOINT:.0f} · eps · Σ|terms|" + (", in 64 bits" if here is not None else "")
                sign = f"{scale:g}·J" if mode == "forward" else f"{scale:g}·Jᵀ"
                return _mismatch(mode, path, got, expected, bound, "of the sum", f"{sign}a + b", origin)
    return None


def _rounding(here: Promoted, mode: str, i: int, gap: Any, side: Leaves) -> float:
    """
    How far rounding alone may move the entry of a derivative whose gap is the widest.
    """
    leaves = here.cotangents() if mode == "forward" else here.moved
    unit = [leaf[0] for leaf in _stacked(leaves, [(i, int(np.argmax(gap)), 1)])]
    return here.rounding_of_derivatives(*((side, unit) if mode == "forward" else (unit, side)))


def _mismatch(mode: str, path: str, got: Any, expected: Any, bound: Any, of: str, by: str, origin: str) -> Mismatch:
    gap = np.abs(got - expected)
    at = np.unravel_index(int(np.argmax(gap - bound)), gap.shape)
    index = tuple(int(i) for i in at)
    routes = ((f"{mode} {of}", number(got[index])), (by, number(expected[index])))
    return Mismatch(path, index, routes, float(gap[index]), float(np.broadcast_to(bound, gap.shape)[index]), origin)
