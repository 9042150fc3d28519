"""The law `finite`: a finite value has a finite gradient, unless the derivative itself diverges."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from .._dtypes import all_finite, double, finfo
from .._pairing import cotangents, shortened, tangents
from .._point import Point
from .._subject import Subject
from .._tolerance import BOUNDED
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ..oracles.difference import Slope
from ..oracles.own import value_and_derivatives
from ..oracles.promoted import Promoted
from ._compare import number
from ._law import law
from ._rows import Rows
from ._stopped import hidden, may_hide
from .numeric import applies_to_values

__all__ = ["finite", "screen_finiteness"]

ENTRIES = 4  # how many non-finite entries of a leaf are judged by their slopes


def screen_finiteness(rows: Rows) -> Any:
    """
    Accuse a finite value with a derivative that is not.
    """
    if not rows.has_derivative:
        return np.nan
    good = rows.all_finite([*(rows.reverse or []), *(rows.forward or [])])
    return np.where(rows.is_finite & ~good, 1.0, 0.0)


@law("contract", applies=applies_to_values, screen=screen_finiteness, remarks=may_hide, smooth_only=False)
def finite(subject: Subject, point: Point) -> Verdict:
    """
    f(x) finite ⇒ ∇f(x) finite, unless the slope itself is infinite

    Where a value and its slopes are finite, so is the derivative, in both modes and in the user's own dtype. An
    infinite derivative is right where the slope grows without bound (the square root at 0); NaN never is.

    Stopping a gradient is legal, but no cure: where the law would be violated if nothing were stopped, it holds with a
    remark. Infinite derivatives that are right hide nothing, so there is no remark on those.

    **Catches** ``0 · inf`` and ``inf / inf`` in backward passes: masks applied after the dangerous operation, norms at
    0, powers at 0, overflow of an intermediate value.

    **Does not catch** wrong finite numbers (`numeric`), gradients silently 0 where they overflow (`precision`), or what
    is stopped inside of a custom rule.
    """
    moved, held = subject.split(point.primals)
    u, v = cotangents(subject, point.seed), tangents(subject, moved, point.seed)
    value, forward, reverse = value_and_derivatives(subject, moved, held, v, u)
    if not all_finite(value):
        return Undecided("the value is not finite")
    if reverse is None and forward is None:
        return Undecided("there is no derivative here")
    if forward is not None and not all_finite(forward):
        v = shortened(v)
        forward = value_and_derivatives(subject, moved, held, v, u)[1]
    if all_finite([*(reverse or []), *(forward or [])]):
        return Holds(hidden(finite.judge, subject, point))
    here = Promoted(subject, point)
    has_nan = any(np.any(np.isnan(double(d))) for d in [*(reverse or []), *(forward or [])])
    verdict = _judge(subject, here, reverse, forward, v)
    suspicious = has_nan or isinstance(verdict, Violated)
    if suspicious and here.error is None and _overflows(here, v, moved, value):
        return Undecided("the derivative itself overflows the dtype here")
    return verdict


def _judge(subject: Subject, here: Promoted, reverse: Any, forward: Any, v: Any) -> Verdict:
    """
    Judge the entries of the gradient that are not finite; the tangents of the outputs, where the gradient is.
    """
    undecided: Undecided | None = None
    for i, gradient in enumerate(reverse or []):
        g = np.asarray(gradient).astype(np.complex128)
        for k in np.flatnonzero(~np.isfinite(g.reshape(-1)))[:ENTRIES]:
            verdict = _entry(subject, here, i, int(k), np.asarray(gradient).reshape(-1)[k])
            if isinstance(verdict, Violated):
                return verdict
            undecided = undecided or (verdict if isinstance(verdict, Undecided) else None)
    if undecided is None and reverse is not None and all_finite(reverse):
        verdict = _forward(subject, here, forward, v)
        if not isinstance(verdict, Holds):
            return verdict
    return undecided or Holds()


def _overflows(here: Promoted, v: Any, moved: Any, value: Any) -> bool:
    """
    Say whether derivatives in 64 bits are larger than the user's dtypes hold: what follows from that is no fault.
    """
    direction = [np.asarray(t).astype(x.dtype) for t, x in zip(v, here.moved, strict=True)]
    forward, reverse = here.derivatives(direction, here.cotangents())
    for derivatives, own in ((forward, value), (reverse, moved)):
        for wide, narrow in zip(derivatives or [], own, strict=False):
            size = np.abs(wide[np.isfinite(wide)])
            if np.max(size, initial=0.0) > float(finfo(jnp.result_type(narrow)).max) / 8:
                return True
    return False


def _entry(subject: Subject, here: Promoted, i: int, k: int, ad: Any) -> Verdict:
    """
    Judge one non-finite entry of the gradient by the slope in its coordinate.
    """
    path, x = subject.moved_paths[i], np.asarray(here.moved[i])
    index = tuple(int(j) for j in np.unravel_index(k, x.shape))
    at = x.reshape(-1)[k]
    if not np.isfinite(at):
        if not _responds(subject, here):
            return Undecided("the value does not respond to any finite entry")
        shown = f"{number(at)} in the argument"
        origin = "the value is finite and cannot depend on an entry that is not, so its derivative there is 0"
        return Violated((Mismatch(path, index, (("reverse", number(ad)), ("argument", shown)), None, None, origin),))
    if here.error is not None:
        return Undecided(f"the function refuses 64-bit arguments ({type(here.error).__name__})")
    direction = [np.zeros_like(leaf) for leaf in here.moved]
    size = abs(at) if abs(at) > 1e-290 else 1.0
    direction[i].reshape(-1)[k] = size
    u = here.cotangents()
    return _against(here.slope(direction, u, careful=True), size, ad, path, index, "reverse")


def _against(measured: Slope, size: float, ad: Any, path: str, index: Any, mode: str) -> Verdict:
    if measured.kind == "unknown":
        return Undecided(measured.reason)
    if measured.kind == "infinite":
        if np.isnan(ad):
            origin = "the slope is infinite there, so the derivative may be infinite but not NaN"
            return Violated((Mismatch(path, index, ((mode, number(ad)), ("numeric", "infinite")), None, None, origin),))
        return Holds()
    low, high, error = measured.low / size, measured.high / size, measured.error / size
    if error > BOUNDED * max(abs(low), abs(high), 1e-3):
        return Undecided("noise")
    if not np.isnan(ad) and max(abs(low), abs(high)) > float(finfo(np.asarray(ad).dtype).max) / 8:
        return Holds()  # a derivative that the dtype cannot represent may be infinite
    shown = f"{low:.9g}" if low == high else f"{low:.9g} .. {high:.9g}"
    origin = "value and slope are finite there, so the derivative must be"
    return Violated(
        (Mismatch(path, index, ((mode, number(ad)), ("numeric", f"{shown} ± {error:.1e}")), None, None, origin),)
    )


def _responds(subject: Subject, here: Promoted) -> bool:
    if here.error is not None:
        return False
    v = tangents(subject, here.moved, here.seed)
    measured = here.slope(v, here.cotangents())
    return measured.kind not in ("unknown", "constant") and measured.scale > 20 * measured.error


def _forward(subject: Subject, here: Promoted, forward: Any, v: Any) -> Verdict:
    """
    Judge a non-finite tangent of the output by the slope along the same direction.
    """
    for y, path in zip(forward or [], subject.output_paths, strict=False):
        flat = np.asarray(y).reshape(-1)
        bad = np.flatnonzero(~np.isfinite(flat.astype(np.complex128)))
        if not bad.size:
            continue
        if here.error is not None:
            return Undecided(f"the function refuses 64-bit arguments ({type(here.error).__name__})")
        u = [np.zeros_like(c) for c in here.cotangents()]
        at = subject.output_paths.index(path)
        u[at].reshape(-1)[bad[0]] = 1.0
        index = tuple(int(j) for j in np.unravel_index(int(bad[0]), np.shape(y)))
        measured = here.slope(
            [np.asarray(t).astype(x.dtype) for t, x in zip(v, here.moved, strict=True)], u, careful=True
        )
        return _against(measured, 1.0, flat[bad[0]], path, index, "forward")
    return Holds()
