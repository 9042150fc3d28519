"""The capture of shrunk counterexamples of the user's own ``@given`` tests."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["DRAWS", "Recorder", "argument_names", "holds_array", "inner_test", "install", "is_given", "tagged"]

TAG = "__autoprop_arguments__"
DRAWS = "$draws"
"""The key under which the draws of a ``st.data()`` argument are stored, in order."""


def is_given(function: Callable[..., Any]) -> bool:
    """
    Say whether a test is Hypothesis' and not a coroutine, whose inner test its own plugin replaces when it is called.
    """
    if "hypothesis" not in sys.modules or not getattr(function, "is_hypothesis_test", False):
        return False
    inner = inner_test(function)
    return inner is not None and not inspect.iscoroutinefunction(inner)


def inner_test(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """
    Return the function below ``@given``; Hypothesis documents that plugins may replace it.
    """
    found: Callable[..., Any] | None = getattr(getattr(function, "hypothesis", None), "inner_test", None)
    return found


def argument_names(function: Callable[..., Any]) -> list[str]:
    """
    Return the names of the arguments that Hypothesis draws: not ``self``, fixtures or parameters.
    """
    inner = inner_test(function)
    assert inner is not None, "internal error of autoprop: not a @given test"
    others = inspect.signature(function).parameters
    return [name for name in inspect.signature(inner).parameters if name not in others]


def install(function: Callable[..., Any]) -> None:
    """
    Have the test hang its arguments on whatever it raises.

    Hypothesis replays each minimal counterexample last and raises that very exception, alone or in a group, so what
    hangs on it is the shrunk counterexample, whatever else was run in between.
    """
    inner = inner_test(function)
    if inner is None or hasattr(inner, TAG):
        return
    names = frozenset(argument_names(function))

    @functools.wraps(inner)  # keeps the key under which Hypothesis' own database stores the test
    def recording(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        recorders = {name: Recorder(value) for name, value in kwargs.items() if type(value).__name__ == "DataObject"}
        before = {name: _kept(value) for name, value in kwargs.items() if name in names and name not in recorders}
        try:
            return inner(*args, **{**kwargs, **recorders})
        except BaseException as error:  # pytest.fail raises a BaseException
            draws = {name: {DRAWS: recorder.drawn} for name, recorder in recorders.items()}
            try:
                setattr(error, TAG, {**before, **draws})
            except (AttributeError, TypeError):
                error.add_note("autoprop could not keep this counterexample: the exception takes no attributes")
            raise

    setattr(recording, TAG, True)
    function.hypothesis.inner_test = recording  # type: ignore[attr-defined]


class Recorder:
    """
    What ``st.data()`` gives, with a memory of what was drawn.
    """

    def __init__(self, data: Any) -> None:
        self._data = data
        self.drawn: list[Any] = []

    def draw(self, *args: Any, **kwargs: Any) -> Any:
        """
        Draw from a strategy.
        """
        value = self._data.draw(*args, **kwargs)
        self.drawn.append(_kept(value))
        return value

    def __getattr__(self, name: str) -> Any:
        return getattr(self._data, name)


def tagged(error: BaseException | None, *, flaky: bool = False) -> Iterator[tuple[BaseException, dict[str, Any], bool]]:
    """
    Yield each exception with its arguments, and whether it is flaky; a group is several counterexamples.
    """
    found = getattr(error, TAG, None)
    if error is not None and isinstance(found, dict):
        yield error, found, flaky
    elif isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            yield from tagged(member, flaky=flaky or type(error).__name__ == "FlakyFailure")


def holds_array(value: Any) -> bool:
    """
    Say whether a value is or contains an array of jax or NumPy, or a NumPy scalar.
    """
    modules = [sys.modules[name] for name in ("jax", "numpy") if name in sys.modules]
    kinds = tuple(
        kind for module in modules for name in ("Array", "ndarray", "generic") if (kind := getattr(module, name, None))
    )
    if isinstance(value, kinds):
        return True
    if isinstance(value, dict):
        return any(holds_array(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(holds_array(item) for item in value)
    if "jax" in sys.modules:
        leaves = sys.modules["jax"].tree_util.tree_leaves(value)
        return any(isinstance(leaf, kinds) for leaf in leaves)
    return False


_IMMUTABLE = (bool, int, float, complex, str, bytes, type(None))


def _kept(value: Any) -> Any:
    """
    Return the value as it is now: a test may change its arguments in place.
    """
    if isinstance(value, _IMMUTABLE) or inspect.isroutine(value):
        return value
    if type(value) is dict:
        return {key: _kept(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_kept(item) for item in value)
    if "jax" in sys.modules and isinstance(value, sys.modules["jax"].Array):
        return value
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001 - a value that cannot be copied is kept itself
        return value
