"""How checking programs are compiled."""

from __future__ import annotations

__all__ = ["FAST_COMPILE"]

# The optimisation level at which checking programs are compiled: they run few times and compilation dominates.
FAST_COMPILE = {"xla_backend_optimization_level": 0}
