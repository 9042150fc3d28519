"""The law `sharded`: several devices compute what one does."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from .._point import Point
from .._subject import Subject
from .._trees import is_array, is_key
from .._verdict import Undecided, Verdict
from ._compare import Routes, agree, attempt
from ._devices import Refused, elsewhere, on_devices
from ._law import law, undecided_if_raises
from ._transformed import directions, plain, plain_paths
from .numeric import applies_to_values

__all__ = ["sharded"]

COUNTS = (4, 3, 2)  # of the host's devices, the first that divides an axis of an argument


@law("transforms", applies=applies_to_values, once=True, on_request=True)
def sharded(subject: Subject, point: Point) -> Verdict:
    """
    F and grad f on several devices = f and grad f on one, up to rounding

    Splitting arrays over devices says where numbers live, never what they are. Each argument is split along its first
    axis that the number of devices divides. Where this process has one device, another is started that has up to four
    devices of the host, and imports the function there: that costs seconds, so the law is judged only where
    ``properties`` names it.

    **Catches** values that depend on the number of devices, collectives that are missing or done twice, partitioning
    rules.

    **Does not catch** faults of another mesh, of several hosts, or of accelerators; what depends on the number of
    devices that there are, where this process has several itself. A function that raises on several devices is
    undecided, for its arguments may not divide.
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises
    if jax.default_backend() != "cpu":
        return Undecided("devices of the host are compared only where JAX runs on the host")
    here = jax.device_count()
    sizes = [n for x in jax.tree.leaves(point.primals) if is_array(x) and not is_key(x) for n in jnp.shape(x)]
    count = next((n for n in (COUNTS if here == 1 else (here,)) if any(size and size % n == 0 for size in sizes)), None)
    if count is None:
        return Undecided("no axis of an argument is divided by the number of devices")

    run = on_devices if here > 1 else elsewhere

    def routes(primals: tuple[Any, ...]) -> Routes:
        v, u = directions(subject, point, primals)
        try:
            right = run(subject, primals, v, u, count)
        except Refused:
            raise
        except Exception as error:
            raise Refused(f"it raises {type(error).__name__} on {count} devices") from error
        left = attempt(lambda: plain(subject, primals, v, u))
        return Routes(("one device", f"{count} devices"), plain_paths(subject), left, right)

    try:
        return agree(subject, point, routes)
    except Refused as reason:
        return Undecided(f"the function is not judged on several devices: {reason}")
