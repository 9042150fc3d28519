"""How checking programs are compiled, ahead of their use too, and what is done when there are too many of them."""

from __future__ import annotations

import functools
import gc
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import jax

__all__ = ["FAST_COMPILE", "Program", "begin", "relieve"]

# The optimisation level at which checking programs are compiled: they run few times and compilation dominates.
FAST_COMPILE = {"xla_backend_optimization_level": 0}

FULL = 0.5  # share of the memory maps that a process may have, above which compiled programs are given back
PROCESS = Path("/proc")


class Program:
    """
    A function compiled as checking programs are, at its first call or ahead of it.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any] = FAST_COMPILE) -> None:
        self._jitted = jax.jit(function, compiler_options=options)
        self._ahead: list[Future[Any]] = []
        self._called = False

    def __call__(self, *arguments: Any) -> Any:
        if _beginning and not self._called:
            if not self._ahead:
                self.ahead(*arguments)
            raise _Begun
        if self._ahead:
            wait(self._ahead)  # what went wrong there goes wrong again in the call
            self._ahead.clear()
        self._called = True
        return self._jitted(*arguments)

    def ahead(self, *arguments: Any) -> None:
        """
        Begin to compile the function for such arguments while other work goes on. It is traced here and now, so that
        the function under test is never called in another thread.
        """
        if (os.cpu_count() or 1) < 2:
            return
        try:
            lowered = self._jitted.lower(*arguments)
        except Exception:  # noqa: BLE001  the function under test may raise anything; the call raises it again
            return
        self._ahead.append(_compilers().submit(lowered.compile))

    def trace(self, *arguments: Any) -> Any:
        """
        Return the traced function, as `jax.jit` does.
        """
        return self._jitted.trace(*arguments)


class _Begun(BaseException):
    """
    The first program of a piece of work is being compiled; no function under test can catch it by accident.
    """


_beginning: list[None] = []  # not empty while work is only begun


def begin(work: Callable[[], Any]) -> Any:
    """
    Begin to compile the first program that a piece of work runs, in a thread of its own.

    Args:
        work: it is run up to its first program that has not been run before, so it must bear being run again.

    Returns:
        What the work returns if it runs no such program, else None.
    """
    _beginning.append(None)
    try:
        return work()
    except (_Begun, Exception):  # noqa: BLE001  what goes wrong is met again when the work is done
        return None
    finally:
        _beginning.pop()


@functools.cache
def _compilers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="autoprop-compile")


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
