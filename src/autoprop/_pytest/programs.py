"""What searches compile, kept from one run of pytest to the next in pytest's own cache folder."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["kept"]

FOLDER = "autoprop-programs"
LARGEST = 2**28  # bytes: a folder larger than that is emptied before the next search
OPTIONS = {  # of JAX, beside the folder: programs of tests are small and quick, and there are many
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
}


@contextmanager
def kept(config: pytest.Config) -> Iterator[None]:
    """
    Keep, and take from earlier runs, what is compiled meanwhile. Does nothing where the user has told JAX to keep
    programs elsewhere, and where pytest keeps nothing (``-p no:cacheprovider``); ``--cache-clear`` empties it.
    """
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    cache = getattr(config, "cache", None)
    before = {name: getattr(jax.config, name) for name in ("jax_compilation_cache_dir", *OPTIONS)}
    if cache is None or before["jax_compilation_cache_dir"] is not None or not jax.config.jax_enable_compilation_cache:
        yield
        return
    worker = getattr(config, "workerinput", {}).get("workerid", "main")  # JAX's cache is not safe for two writers
    folder = Path(cache.mkdir(FOLDER)) / _machine() / worker
    if folder.is_dir() and sum(entry.stat().st_size for entry in os.scandir(folder)) > LARGEST:
        shutil.rmtree(folder, ignore_errors=True)
    try:
        for name, value in {"jax_compilation_cache_dir": str(folder), **OPTIONS}.items():
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
