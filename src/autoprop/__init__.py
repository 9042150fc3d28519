"""Property-based verification of automatic differentiation in JAX."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import properties as properties
    from ._errors import AutopropError as AutopropError
    from ._errors import AutopropWarning as AutopropWarning
    from ._errors import CorpusError as CorpusError
    from ._errors import Falsified as Falsified
    from ._errors import UsageError as UsageError
    from ._events import Checked as Checked
    from ._events import Counts as Counts
    from ._events import Finished as Finished
    from ._events import Found as Found
    from ._events import Started as Started
    from ._finding import Finding as Finding
    from ._point import Point as Point
    from ._search import Outcome as Outcome
    from ._search import check as check
    from ._search import search as search
    from ._settings import Settings as Settings
    from ._target import Target as Target
    from ._verdict import Holds as Holds
    from ._verdict import Mismatch as Mismatch
    from ._verdict import Undecided as Undecided
    from ._verdict import Violated as Violated
    from ._verify import verify as verify
    from .corpus.replay import replay as replay
    from .properties import Property as Property
    from .properties import law as law

# Where each public name lives. Nothing is imported before it is used: `import autoprop` loads neither jax nor numpy.
_HOME = {
    "AutopropError": "_errors",
    "AutopropWarning": "_errors",
    "Checked": "_events",
    "CorpusError": "_errors",
    "Counts": "_events",
    "Falsified": "_errors",
    "Finding": "_finding",
    "Finished": "_events",
    "Found": "_events",
    "Holds": "_verdict",
    "Mismatch": "_verdict",
    "Outcome": "_search",
    "Point": "_point",
    "Property": "properties",
    "Settings": "_settings",
    "Started": "_events",
    "Target": "_target",
    "Undecided": "_verdict",
    "UsageError": "_errors",
    "Violated": "_verdict",
    "check": "_search",
    "law": "properties",
    "replay": "corpus.replay",
    "search": "_search",
    "verify": "_verify",
}

__all__ = [*sorted(_HOME), "properties"]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "properties":
        return import_module(f"{__name__}.properties")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
