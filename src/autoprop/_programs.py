"""What searches compile, kept in a folder from one run to the next."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["kept_in"]

LARGEST = 2**28  # bytes: a folder larger than that is emptied before the next run
OPTIONS = {  # of JAX, beside the folder: these programs are small and quick, and there are many
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
}


@contextmanager
def kept_in(folder: Path | None, writer: str = "main") -> Iterator[None]:
    """
    Keep, and take from earlier runs, what is compiled meanwhile. Does nothing where the user has told JAX to keep
    programs elsewhere, or to keep none.

    Args:
        folder: programs of this machine are kept below it; None to do nothing.
        writer: who writes; each has a folder of its own, for JAX's cache is not safe for two.
    """
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    before = {name: getattr(jax.config, name) for name in ("jax_compilation_cache_dir", *OPTIONS)}
    if folder is None or before["jax_compilation_cache_dir"] is not None or not jax.config.jax_enable_compilation_cache:
        yield
        return
    own = folder / _machine() / writer
    if own.is_dir() and sum(entry.stat().st_size for entry in os.scandir(own)) > LARGEST:
        shutil.rmtree(own, ignore_errors=True)
    try:
        for name, value in {"jax_compilation_cache_dir": str(own), **OPTIONS}.items():
            jax.config.update(name, value)  # type: ignore[no-untyped-call]
        compilation_cache.reset_cache()  # JAX looks at the folder once
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)  # type: ignore[no-untyped-call]
        compilation_cache.reset_cache()


def _machine() -> str:
    """
    Return a name for what compiled programs depend on beside JAX: they hold the instructions of one processor.
    """
    features = platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        features += next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError:
        pass  # no Linux
    return hashlib.sha256(f"{platform.machine()} {features}".encode()).hexdigest()[:12]
