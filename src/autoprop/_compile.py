"""How checking programs are compiled, and what is done when there are too many of them."""

from __future__ import annotations

import gc
from pathlib import Path

import jax

__all__ = ["FAST_COMPILE", "relieve"]

# The optimisation level at which checking programs are compiled: they run few times and compilation dominates.
FAST_COMPILE = {"xla_backend_optimization_level": 0}

FULL = 0.5  # share of the memory maps that a process may have, above which compiled programs are given back
PROCESS = Path("/proc")


def relieve(process: Path = PROCESS) -> bool:
    """
    Give back what JAX has compiled if this process has half of the memory maps that Linux allows, and say whether it
    was so. Each compiled program takes a few; beyond the limit compilation fails, and a night has many programs.

    Args:
        process: where the kernel tells about the process; elsewhere than on Linux nothing is done.
    """
    try:
        with (process / "self/maps").open("rb") as maps:
            count = sum(1 for _ in maps)
        limit = int((process / "sys/vm/max_map_count").read_text())
    except (OSError, ValueError):
        return False
    if count <= FULL * limit:
        return False
    gc.collect()
    jax.clear_caches()  # type: ignore[no-untyped-call]
    gc.collect()
    return True
