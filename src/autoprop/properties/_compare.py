"""Agreement of two routes to one quantity: exactly, or up to rounding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import jax
import jax.numpy as jnp
import numpy as np

from .._dtypes import double, eps, finfo, narrow, wide
from .._jaxprs import narrowest_eps, refusal
from .._point import Point
from .._subject import Subject
from .._tolerance import GROSS_ROUNDINGS, GROSS_SHARE, ROUTES, SHRINK
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated

__all__ = ["Raised", "Routes", "agree", "attempt", "number", "same"]

Leaves = list[Any]


@attrs.frozen
class Raised:
    """
    A route that raised; that is an outcome too.
    """

    error: Exception

    def __str__(self) -> str:
        text = str(self.error).strip().splitlines()
        return f"raises {type(self.error).__name__}: {text[0][:160] if text else ''}"


@attrs.frozen
class Routes:
    """
    Two routes to one quantity.

    Attributes:
        names: what the routes are called in messages; the trusted one first.
        paths: path of each leaf of the quantity.
        left: the leaves by the first route, or what it raised.
        right: the leaves by the second route.
    """

    names: tuple[str, str]
    paths: Sequence[str]
    left: Leaves | Raised
    right: Leaves | Raised


def attempt(route: Callable[[], Any]) -> Leaves | Raised:
    """
    Return the leaves that a route gives, or what it raises.
    """
    try:
        return jax.tree.leaves(route())
    except Exception as error:  # noqa: BLE001  a route under test may raise anything
        return Raised(error)


def number(value: Any) -> str:
    """
    Return a number as text of at most nine significant digits.
    """
    value = np.asarray(value)
    if np.issubdtype(value.dtype, np.complexfloating):
        return f"{complex(value):.9g}"
    if jnp.issubdtype(value.dtype, jnp.inexact):
        return f"{float(value):.9g}"
    return str(value[()])


def same(routes: Routes, origin: str) -> Verdict:
    """
    Ask two routes to agree bit for bit, −0 and NaN payload aside, in shape and dtype too.
    """
    raised = _raised(routes)
    if raised is not None:
        return raised
    mismatches = []
    for path, a, b in zip(routes.paths, routes.left, routes.right, strict=True):  # type: ignore[arg-type]
        found = _form(routes, path, a, b) or _worst(routes, path, a, b, np.zeros(jnp.shape(a)), origin)
        mismatches += [found] if found else []
    return Violated(tuple(mismatches)) if mismatches else Holds()


def agree(subject: Subject, point: Point, routes: Callable[[tuple[Any, ...]], Routes]) -> Verdict:
    """
    Ask two routes to agree up to rounding.

    In the user's dtype they may differ by 64·eps of the larger number. If they differ more, both are computed again in
    64 bits (in 32 bits, if they were 64): rounding shrinks with eps, a real difference does not.

    Args:
        subject: the target at the point's signature.
        point: where.
        routes: returns both routes at given arguments.
    """
    first = routes(point.primals)
    raised = _raised(first)
    if raised is not None:
        return raised
    suspects = []
    for i, (path, a, b) in enumerate(zip(first.paths, first.left, first.right, strict=True)):  # type: ignore[arg-type]
        form = _form(first, path, a, b)
        if form:
            return Violated((form,))
        if not jnp.issubdtype(jnp.result_type(a), jnp.inexact):
            found = _worst(first, path, a, b, np.zeros(jnp.shape(a)), "integers and keys must be equal")
            if found:
                return Violated((found,))
            continue
        bound = _bound(subject, a, b)
        found = _worst(first, path, a, b, bound, f"{ROUTES:.0f} · eps({jnp.result_type(a)}) · the larger number")
        if found:
            suspects.append((i, found))
    if not suspects:
        return Holds()
    return _again(subject, point, routes, first, suspects)


def _bound(subject: Subject, a: Any, b: Any) -> Any:
    unit = eps(a)
    if subject.target.tolerance is not None:
        return subject.target.tolerance * _size(a, b)
    return ROUTES * unit * _size(a, b) + float(finfo(jnp.result_type(a)).tiny)


def _size(a: Any, b: Any) -> Any:
    return np.maximum(np.abs(double(a)), np.abs(double(b)))


def _again(subject: Subject, point: Point, routes: Any, first: Routes, suspects: list[tuple[int, Mismatch]]) -> Verdict:
    """
    Judge suspected leaves by the precision-independent part of the difference.
    """
    dtypes = [jnp.result_type(leaf) for leaf in subject.split(point.primals)[0]]
    was_wide = any(finfo(d).bits == 64 for d in dtypes)
    leaves, treedef = jax.tree.flatten(point.primals)
    try:
        with jax.enable_x64(not was_wide):
            other = routes(jax.tree.unflatten(treedef, (narrow if was_wide else wide)(leaves)))
            if isinstance(other.left, Raised) or isinstance(other.right, Raised):
                return Undecided("the routes raise in another precision")
            units = [eps(leaf) for leaf in other.left]  # in this mode, for no other knows NumPy's 64 bits
            inner = narrowest_eps(subject.compiled("compare:jaxpr", lambda: _trace(subject, point, wide)))
    except Exception as error:  # noqa: BLE001  the function under test may refuse other dtypes with anything
        return Undecided(f"the function refuses another precision ({type(error).__name__})")
    mismatches, undecided = [], None
    for i, mismatch in suspects:
        a, b = double(first.left[i]), double(first.right[i])  # type: ignore[index]
        c, d = double(other.left[i]), double(other.right[i])
        with np.errstate(all="ignore"):
            here, there = np.abs(a - b), np.abs(c - d)
            here, there = np.where(_agree_non_finite(a, b), 0, here), np.where(_agree_non_finite(c, d), 0, there)
        eps_here, eps_there = eps(first.left[i]), units[i]  # type: ignore[index]
        real = ~np.isfinite(there) | (
            (there > ROUTES * max(eps_there, inner) * _size(c, d))
            & (
                (eps_here == eps_there)  # of a dtype of its own, which does not follow: nothing can shrink
                | (
                    there * max(eps_here / eps_there, eps_there / eps_here) ** SHRINK
                    > (here if not was_wide else there * 0)
                )
            )
        )
        if was_wide:
            real = ~np.isfinite(here) | (here > there * (eps_here / eps_there) ** SHRINK)
        if inner > 1e-3 * eps_here and not was_wide:
            size = _size(a, b)
            gross = (here > GROSS_ROUNDINGS * inner * np.max(size, initial=0)) & (here > GROSS_SHARE * size)
            if np.any(real & ~gross):
                undecided = Undecided("computes in a narrow dtype inside; the difference may be its rounding")
            real &= gross | ~np.isfinite(there)
        if np.any(real & ((here > _bound(subject, first.left[i], first.right[i])) | ~np.isfinite(here))):  # type: ignore[index]
            origin = (
                f"{mismatch.origin}; it does not shrink in {'32' if was_wide else '64'} bits, so it is not rounding"
            )
            mismatches.append(attrs.evolve(mismatch, origin=origin))
    if mismatches:
        return Violated(tuple(mismatches))
    return undecided or Holds()


def _trace(subject: Subject, point: Point, convert: Any) -> Any:
    moved, held = subject.split(point.primals)
    return jax.make_jaxpr(subject.f)(convert(moved), convert(held))


def _agree_non_finite(a: Any, b: Any) -> Any:
    return (np.isnan(a) & np.isnan(b)) | (a == b)


def _raised(routes: Routes) -> Verdict | None:
    left, right = isinstance(routes.left, Raised), isinstance(routes.right, Raised)
    if isinstance(routes.left, list) and isinstance(routes.right, list):
        counts = len(routes.left), len(routes.right), len(routes.paths)
        if len(set(counts)) == 1:
            return None
        pairs = tuple(zip(routes.names, (f"{n} leaves" for n in counts), strict=False))
        return Violated((Mismatch("tree", (), pairs, None, None, f"both must have {counts[2]} leaves"),))
    for side in (routes.left, routes.right):
        if isinstance(side, Raised) and refusal(side.error):
            return Undecided(f"not possible in JAX: {refusal(side.error)}")
    if left and right:
        return Undecided(f"every route {routes.left}")
    shown = [str(side) if isinstance(side, Raised) else "a value" for side in (routes.left, routes.right)]
    pairs = tuple(zip(routes.names, shown, strict=True))
    return Violated((Mismatch("value", (), pairs, None, None, "one route raises where the other does not"),))


def _form(routes: Routes, path: str, a: Any, b: Any) -> Mismatch | None:
    forms = [f"{jnp.result_type(x)}{list(jnp.shape(x))}" for x in (a, b)]
    if forms[0] == forms[1]:
        return None
    return Mismatch(
        path, (), tuple(zip(routes.names, forms, strict=True)), None, None, "shapes and dtypes must be equal"
    )


def _worst(routes: Routes, path: str, a: Any, b: Any, bound: Any, origin: str) -> Mismatch | None:
    """
    The worst element of a leaf beyond its bound, or None.
    """
    if jnp.issubdtype(jnp.result_type(a), jax.dtypes.prng_key):
        a, b = jax.random.key_data(a), jax.random.key_data(b)
        bound = np.zeros(jnp.shape(a))
    a, b = np.asarray(a), np.asarray(b)
    if a.size == 0:
        return None
    x, y = (double(a), double(b)) if jnp.issubdtype(a.dtype, jnp.inexact) else (a, b)
    with np.errstate(all="ignore"):
        if x.dtype.kind in "fc":
            difference = np.where(_agree_non_finite(x, y), 0.0, np.abs(x - y))
            difference = np.where(np.isnan(difference), np.inf, difference)
        else:
            difference = (x != y).astype(float)
        bad = difference > bound
    if not np.any(bad):
        return None
    index = np.unravel_index(int(np.argmax(np.where(bad, difference, -1.0))), a.shape)
    where = tuple(int(i) for i in index)
    gap = float(difference[where])
    return Mismatch(
        leaf=path,
        index=where,
        routes=((routes.names[0], number(a[where])), (routes.names[1], number(b[where]))),
        difference=gap if np.isfinite(gap) else None,
        bound=float(np.broadcast_to(bound, a.shape)[where]),
        origin=origin,
        count=int(np.sum(bad)),
        total=int(a.size),
    )
