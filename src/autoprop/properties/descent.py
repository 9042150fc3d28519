"""The law `descent`: a small step against the gradient does not raise the loss."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from .._dtypes import wide
from .._point import Point
from .._subject import Subject
from .._tolerance import CONVICT, SMALL_STEP, STEP_NOISE
from .._trees import on_device
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ..oracles.difference import STEPS
from ..oracles.promoted import Promoted
from ._gradient import differentiable, scalar_loss
from ._law import law

__all__ = ["descent"]


def _applies(subject: Subject) -> str | None:
    reason = scalar_loss(subject)
    if reason is not None:
        return reason
    return None if all(differentiable(subject)) else "a differentiated argument holds more than floating arrays"


@law("training", applies=_applies, numeric=True)
def descent(subject: Subject, point: Point) -> Verdict:
    """
    f(x − t·g) ≤ f(x) for small t > 0, where g is the gradient

    That is what a gradient is for. Steps of 2⁻¹⁰ to 2⁻³⁸ of the arguments' size are taken against the gradient, of all
    differentiated arguments at once, in 64 bits. The law is violated only where the loss rises beyond its noise at
    every step for which a fall was predicted, and its slope along the step is known to be positive on both sides. The
    gradient is the target's own transform, if it has one; stopped values are held fixed, if stops are intended.

    **Catches** signs that are wrong as a whole, gradient transforms that ascend or mix up leaves, an update in which
    one wrong leaf outweighs the rest.

    **Does not catch** gradients of the wrong length, or a wrong leaf that the others outweigh (`numeric`).
    """
    here = Promoted(subject, point)
    if here.error is not None:
        return Undecided(f"the function refuses 64-bit arguments ({type(here.error).__name__})")
    try:
        g = _gradient(subject, point, here)
    except Exception as error:  # noqa: BLE001  a transform under test may raise anything; `structure` tells
        return Undecided(f"the gradient raises {type(error).__name__}")
    if g is None or any(a.shape != b.shape for a, b in zip(g, here.moved, strict=True)):
        return Undecided("there is no gradient of the arguments' shapes; the law `structure` judges that")
    if not all(np.all(np.isfinite(leaf)) for leaf in g):
        return Undecided("the gradient is not finite; the law `finite` judges that")
    length = float(np.sqrt(sum(np.sum(np.abs(leaf) ** 2) for leaf in g)))
    if length == 0:
        return Undecided("the gradient is 0: there is no step to take")
    size = float(np.sqrt(sum(np.sum(np.abs(x[np.isfinite(x)]) ** 2) for x in here.moved))) or 1.0
    # a complex gradient is the conjugate of the direction of ascent
    step = [(-np.conj(leaf) * (size / length)).astype(x.dtype) for leaf, x in zip(g, here.moved, strict=True)]
    return _judge(here, step, predicted=length * size)


def _gradient(subject: Subject, point: Point, here: Promoted) -> list[Any] | None:
    """
    The gradient of the moved leaves in 64 bits; 0 for those that are moved only because the contract names them.
    """
    owners = [owner for owner, kind in zip(subject.owners, subject.kinds, strict=True) if kind == "moved"]
    transform = subject.target.gradient
    if transform is None:
        found = here.derivatives([np.zeros_like(x) for x in here.moved], here.cotangents())[1]
        if found is None:
            return None
        return [g if owner in subject.argnums else np.zeros_like(g) for g, owner in zip(found, owners, strict=True)]
    with jax.enable_x64(True):
        leaves, treedef = jax.tree.flatten(point.primals)
        primals = jax.tree.unflatten(treedef, wide(leaves))
        ready = [jax.tree.map(on_device, x) if i in subject.argnums else x for i, x in enumerate(primals)]
        given = transform(subject.target.fn, subject.argnums)(*ready)
        parts = dict(zip(subject.argnums, map(jax.tree.leaves, given), strict=True))
    if any(len(parts[i]) != owners.count(i) for i in parts):
        return None
    each = {i: iter(leaves) for i, leaves in parts.items()}
    return [
        np.asarray(next(each[owner])) if owner in each else np.zeros_like(x)
        for owner, x in zip(owners, here.moved, strict=True)
    ]


def _judge(here: Promoted, step: list[Any], predicted: float) -> Verdict:
    """
    Judge the loss along one step; ``predicted`` is by how much it should fall per unit of it.
    """
    u = here.cotangents()
    values, size = here.along(step, u)
    if not np.isfinite(values[0]):
        return Undecided("the value is not finite")
    noise = here.eps * max(size, abs(float(values[0])))
    small = (STEPS <= SMALL_STEP) & (STEPS * predicted > STEP_NOISE * noise)
    change = (values[1 : 1 + len(STEPS)] - values[0])[small]
    if np.count_nonzero(small) < 4:
        return Undecided("a step that is small enough changes the loss by less than its noise")
    if np.any(change < -STEP_NOISE / 8 * noise):
        return Holds()
    noise = max(noise, here.rounding(u))
    if not np.all(change > STEP_NOISE / 8 * noise):
        return Undecided("the loss does not respond to steps against the gradient beyond its noise")
    measured = here.slope(step, u, careful=True)
    if measured.kind not in ("smooth", "kink", "edge") or measured.low <= CONVICT * measured.error:
        return Undecided("the loss rises, but has no slope here: a kink or a jump")
    t = float(STEPS[small][-1])
    origin = f"at every step from {SMALL_STEP:.1e} to {t:.1e} of the arguments against the gradient, in 64 bits"
    return Violated(
        (
            Mismatch(
                "value",
                (),
                (("predicted change", f"{-predicted * t:.9g}"), ("change", f"{float(change[-1]):.9g}")),
                float(change[-1] + predicted * t),
                STEP_NOISE / 8 * noise,
                origin,
            ),
        )
    )
