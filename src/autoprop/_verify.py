"""Turn a target into a test function that pytest collects as one item per law."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, NoReturn, overload

import attrs

from ._errors import AutopropWarning, UsageError
from ._settings import PROFILES, Settings
from ._target import Target

__all__ = ["verify"]

Test = Callable[..., None]


@overload
def verify(fn_or_target: Target, /, *, settings: Settings | None = None) -> Test: ...
@overload
def verify(
    fn_or_target: Callable[..., Any], /, *specs: Any, settings: Settings | None = None, **contract: Any
) -> Test: ...
@overload
def verify(*specs: Any, settings: Settings | None = None, **contract: Any) -> Callable[[Callable[..., Any]], Test]: ...
def verify(*words: Any, settings: Settings | None = None, **contract: Any) -> Any:
    """
    Return a pytest test that verifies a function's derivatives, one item per law.

    The first positional argument is the function under test, or a `Target`. Where it is neither, ``verify`` is a
    decorator, and the body below it is the function under test. A spec that can be called (a module of a neural
    network, say) is therefore wrapped: ``like(spec)``.

    Args:
        *words: the function or `Target`, then the spec of each argument; a single ``like(...)`` is all of them.
        settings: how long and how widely to look; by default as ``--autoprop-profile`` says.
        **contract: options of `Target`, such as ``argnums`` or ``frozen``.

    Returns:
        A test function, to be given a name that pytest collects, or a decorator that returns one.

    Raises:
        UsageError: no specs are given, or the contract is wrong.

    Example:
        >>> from hypothesis_jax import array
        >>> test_square = verify(lambda x: x * x, array(""), name="square")
        >>> test_square.__autoprop_target__.name
        'square'
    """
    __tracebackhide__ = True
    caller = inspect.currentframe()
    caller = caller.f_back if caller is not None else None
    if settings is not None and not isinstance(settings, Settings):
        raise UsageError(f"verify: settings={settings!r} must be an autoprop.Settings")
    if words and isinstance(words[0], Target):
        if len(words) > 1 or contract:
            extra = ", ".join([*(repr(spec) for spec in words[1:]), *contract])
            raise UsageError(
                f"verify({words[0].name}): a Target holds its specs and contract already, but {extra} is given too; "
                "say target.replace(...)"
            )
        return _test(words[0], settings, _place(caller), None)
    if words and callable(words[0]):
        target = _target(words[0], words[1:], contract)
        return _test(target, settings, _place(caller), None)
    _refuse_missing("verify", words, "@autoprop.verify(array('n'))")

    def decorate(fn: Callable[..., Any]) -> Test:
        __tracebackhide__ = True
        if not callable(fn):
            raise UsageError(f"verify: {fn!r} must be the function under test")
        return _test(_target(fn, words, contract), settings, _own_place(fn) or _place(caller), fn)

    return decorate


def _target(fn: Callable[..., Any], specs: tuple[Any, ...], contract: dict[str, Any]) -> Target:
    """
    Build the target, with every mistake in the call reported as a `UsageError`.
    """
    __tracebackhide__ = True
    name = contract.get("name") or getattr(fn, "__name__", type(fn).__name__)
    _refuse_missing(f"verify({name})", specs, f"autoprop.verify({name}, array('n'))")
    known = [field.name for field in attrs.fields(Target) if field.kw_only]
    for option in contract:
        if option not in known:
            raise UsageError(
                f"verify({name}): {option}={contract[option]!r} is no option; there are {', '.join(known)}"
            )
    whole = [spec for spec in specs if _is_arguments(spec)]
    if whole and len(specs) > 1:
        raise UsageError(
            f"verify({name}): like(...) describes all arguments, but {len(specs)} specs are given; give it alone, "
            "with one example per argument"
        )
    target = Target(fn, whole[0] if whole else specs, **contract)
    _refuse_unknown_laws(target)
    return target


def _refuse_missing(call: str, specs: tuple[Any, ...], remedy: str) -> None:
    if not specs:
        raise UsageError(f"{call}: the specs of the arguments are missing; give one for each argument: {remedy}")


def _refuse_unknown_laws(target: Target) -> None:
    if target.properties is None:
        return
    if not target.properties:
        raise UsageError(
            f"verify({target.name}): properties={target.properties!r} selects no law; leave it out for all"
        )
    from .properties import get

    for law in target.properties:
        get(law)


def _is_arguments(spec: Any) -> bool:
    """
    Say whether a spec is what ``like(...)`` returns, without importing where it comes from.
    """
    return isinstance(spec, tuple) and any(
        base.__name__ == "Arguments" and base.__module__.startswith("hypothesis_jax") for base in type(spec).__mro__
    )


def _place(frame: FrameType | None) -> tuple[str, int, str] | None:
    """
    Return the file, line and module of a frame: where reports say that the test is.
    """
    if frame is None:
        return None
    return frame.f_code.co_filename, frame.f_lineno, str(frame.f_globals.get("__name__", "__main__"))


def _own_place(fn: Callable[..., Any]) -> tuple[str, int, str] | None:
    code = getattr(inspect.unwrap(fn), "__code__", None)
    return (code.co_filename, code.co_firstlineno, fn.__module__) if isinstance(code, CodeType) else None


def _test(
    target: Target, settings: Settings | None, place: tuple[str, int, str] | None, fn: Callable[..., Any] | None
) -> Test:
    """
    Return the test function of a target. pytest's plugin runs its laws one by one; a plain call runs them all.
    """
    # One line, so that every frame of it is at the line that reports show. The plugin passes what to run.
    test: Any = lambda *_, run=None: run() if run is not None else _run(target, settings or PROFILES["ci"])  # noqa: E731
    test.__name__ = getattr(fn, "__name__", target.name)
    test.__qualname__ = getattr(fn, "__qualname__", target.name)
    test.__doc__ = getattr(fn, "__doc__", None) or f"Every law of differentiation holds for {target.name}."
    if place is not None:
        filename, line, test.__module__ = place
        test.__code__ = test.__code__.replace(co_filename=filename, co_firstlineno=line, co_name=test.__name__)
    test.__autoprop_target__ = target
    test.__autoprop_settings__ = settings
    found: Test = test
    return found


def _run(target: Target, settings: Settings) -> None:
    """
    Search for a violated law and raise it: what the test does where the pytest plugin is off.
    """
    __tracebackhide__ = True
    from ._search import search

    outcome = search(target, settings=settings)
    if outcome.findings:
        _raise(outcome.findings[0])
    for law, counts in outcome.counts.items():
        if counts.not_applicable is None and not counts.decided:
            warnings.warn(f"{target.name}: {law} decided nothing", AutopropWarning, stacklevel=3)
        if counts.remark:
            warnings.warn(f"{target.name}: {law} holds, but {counts.remark}", AutopropWarning, stacklevel=3)


def _raise(finding: Any) -> NoReturn:
    __tracebackhide__ = True
    from .properties import get

    raise get(finding.property).error(finding)
