"""The corpus: every finding kept as one JSON file, bit for bit, without pickle (imports neither jax nor numpy)."""

from __future__ import annotations

from .record import Case, dumps, from_arguments, from_finding, loads, to_finding
from .store import Saved, Store

__all__ = ["Case", "Saved", "Store", "dumps", "from_arguments", "from_finding", "loads", "to_finding"]
