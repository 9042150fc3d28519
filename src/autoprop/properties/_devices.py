"""A function's value and derivative on several devices, in this process or in one that is started for it."""

from __future__ import annotations

import functools
import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import jax
import jax.numpy as jnp
import numpy as np

from .._compile import FAST_COMPILE
from .._subject import Subject
from .._target import Target
from .._trees import is_key
from ._transformed import derivative

__all__ = ["Refused", "elsewhere", "on_devices"]

SECONDS = 120  # how long a started process may take
FLAG = "--xla_force_host_platform_device_count"
REMEDY = "move it to the top of a module, or start with XLA_FLAGS=--xla_force_host_platform_device_count=4"
OPTIONS = ("jax_enable_x64", "jax_default_matmul_precision", "jax_default_prng_impl", "jax_threefry_partitionable")


class Refused(Exception):  # noqa: N818  an outcome, not a fault
    """
    The function cannot be run on several devices; the message says why.
    """


@attrs.frozen
class _Key:
    """
    A key array on its way to another process.
    """

    name: str
    data: Any


def on_devices(subject: Subject, primals: tuple[Any, ...], v: Any, u: Any, count: int) -> list[Any]:
    """
    Return value and derivative with each array split over ``count`` devices along its first axis that they divide.
    """
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:count]), ("devices",))

    def split(x: Any) -> Any:
        axes = [None if is_key(x) or size == 0 or size % count else "devices" for size in jnp.shape(x)]
        first = axes.index("devices") if "devices" in axes else len(axes)
        spec = jax.sharding.PartitionSpec(*axes[: first + 1])  # type: ignore[no-untyped-call]
        return jax.sharding.NamedSharding(mesh, spec)

    arguments = (*subject.split(primals), v, u)
    program = jax.jit(
        derivative(subject, subject.f), in_shardings=jax.tree.map(split, arguments), compiler_options=FAST_COMPILE
    )
    return [np.asarray(leaf) for leaf in jax.tree.leaves(program(*arguments))]


def _reference(fn: Callable[..., Any]) -> bytes:
    """
    Return by what another process finds a function: its module and name, or what pickle makes of it.

    Raises:
        Refused: another process cannot find it.
    """
    module, name = getattr(fn, "__module__", None), getattr(fn, "__qualname__", None)
    try:
        found: Any = functools.reduce(getattr, str(name).split("."), sys.modules[str(module)])
        if found is fn and module != "__main__":
            return pickle.dumps((module, name))
    except (AttributeError, KeyError):
        pass
    if module == "__main__":
        raise Refused(f"another process cannot import it from the script that runs; {REMEDY}")
    try:
        return pickle.dumps(fn)
    except Exception as error:
        raise Refused(f"another process cannot import it; {REMEDY}") from error


def elsewhere(subject: Subject, primals: tuple[Any, ...], v: Any, u: Any, count: int) -> list[Any]:
    """
    Return what `on_devices` does, from a new process that has ``count`` devices of the host.

    Raises:
        Refused: the function cannot be run there, or raises there.
    """
    target = subject.target
    contract = {option: getattr(target, option) for option in ("argnums", "frozen", "live", "has_aux")}
    try:
        request = pickle.dumps(
            (
                [
                    *sys.path,
                    str(Path.cwd()),
                ],  # where pytest imports by file, modules are found from the folder it runs in
                {option: getattr(jax.config, option) for option in OPTIONS if hasattr(jax.config, option)},
                _reference(target.fn),
                pickle.dumps((jax.tree.map(_packed, primals), contract, v, u, count)),
            )
        )
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise Refused("its arguments cannot be sent to another process") from error
    flags = [flag for flag in os.environ.get("XLA_FLAGS", "").split() if not flag.startswith(FLAG)]
    environment = {
        **os.environ,
        "XLA_FLAGS": " ".join([*flags, f"{FLAG}={count}"]),
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    command = [sys.executable, "-c", f"from {__name__} import _answer; _answer()"]
    try:
        done = subprocess.run(
            command, input=request, capture_output=True, env=environment, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Refused(f"it takes longer than {SECONDS} s there") from error
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
        raise Refused(f"the process ended with {done.returncode}: {lines[-1][:160]}")
    kind, found = pickle.loads(done.stdout)
    if kind == "raised":
        raise Refused(f"it raises {found} there")
    leaves: list[Any] = found
    return leaves


def _packed(leaf: Any) -> Any:
    if is_key(leaf):
        return _Key(str(jax.random.key_impl(leaf)), np.asarray(jax.random.key_data(leaf)))
    return np.asarray(leaf) if isinstance(leaf, jax.Array) and not jax.typeof(leaf).weak_type else leaf


def _unpacked(leaf: Any) -> Any:
    return jax.random.wrap_key_data(jnp.asarray(leaf.data), impl=leaf.name) if isinstance(leaf, _Key) else leaf


def _answer() -> None:
    """
    Read a request from the standard input and write the answer to the standard output; what the function prints goes
    to the standard error.
    """
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    path, options, found, rest = pickle.load(sys.stdin.buffer)
    sys.path[:] = path
    for option, value in options.items():
        jax.config.update(option, value)  # type: ignore[no-untyped-call]
    answer: tuple[str, Any]
    try:
        fn = pickle.loads(found)
        if isinstance(fn, tuple):
            fn = functools.reduce(getattr, fn[1].split("."), importlib.import_module(fn[0]))
        primals, contract, v, u, count = pickle.loads(rest)
        primals = jax.tree.map(_unpacked, primals)
        answer = ("value", on_devices(Subject(Target(fn, primals, **contract), primals), primals, v, u, count))
    except Exception as error:  # noqa: BLE001  the function under test may raise anything
        answer = ("raised", f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0][:160]}")
    pickle.dump(answer, out)
    out.close()
