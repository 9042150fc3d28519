"""Modules loaded by file or by dotted name, under the names that pytest gives them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
import zlib
from pathlib import Path
from types import ModuleType

from ._errors import UsageError

__all__ = ["Skipped", "load_file", "load_module"]


class Skipped(Exception):  # noqa: N818 - not an error: the module asks not to be used here
    """
    A module skips itself, as ``pytest.importorskip`` does.
    """


def _failed(what: str, file: str, error: BaseException) -> UsageError:
    """
    Say which line of which file stopped an import.
    """
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<frozen")]
    lines = [frame for frame in frames if frame.filename == file] or frames[2:]
    where = f" ({lines[-1].filename}:{lines[-1].lineno})" if lines else ""
    return UsageError(f"cannot import {what}: {type(error).__name__}: {error}{where}")


def _on_path(folder: Path, *, first: bool) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0 if first else len(sys.path), str(folder))


def _relative(path: Path, root: Path) -> str:
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def load_module(name: str, root: Path) -> ModuleType:
    """
    Import a module by its dotted name, with ``root`` on the path as under ``python -m``.

    Raises:
        UsageError: it does not exist, or raises.
        Skipped: it skips itself.
    """
    _on_path(root, first=True)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            raise UsageError(
                f"no module is called {name!r}; give a module that can be imported from {root}, a file or a folder"
            ) from None
        raise _failed(name, "", error) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a module may raise anything, SystemExit too
        if type(error).__name__ == "Skipped":
            raise Skipped(str(error)) from None
        raise _failed(name, "", error) from None


def load_file(path: Path, root: Path) -> ModuleType:
    """
    Import a file, once: below ``root`` as the module its path names, so that stored classes are found again.

    Raises:
        UsageError: it raises.
        Skipped: it skips itself.
    """
    path = path.resolve()
    for module in list(sys.modules.values()):
        known = getattr(module, "__file__", None)
        candidate = isinstance(known, str) and known.endswith(path.name) and module.__name__ != "__main__"
        if candidate and Path(str(known)).resolve() == path:
            return module
    _on_path(root, first=True)
    _on_path(path.parent, first=False)
    parts = path.relative_to(root).with_suffix("").parts if path.is_relative_to(root) else (path.stem,)
    name = ".".join(parts)
    if name in sys.modules or not all(part.isidentifier() for part in parts):
        name = f"autoprop_file_{zlib.crc32(_relative(path, root).encode()):08x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    package = name.rpartition(".")[0]
    try:
        if package and (path.parent / "__init__.py").is_file():
            importlib.import_module(package)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        sys.modules.pop(name, None)
        raise
    except BaseException as error:  # noqa: BLE001 - a module may raise anything, SystemExit too
        sys.modules.pop(name, None)
        if type(error).__name__ == "Skipped":
            raise Skipped(str(error)) from None
        raise _failed(str(path), str(path), error) from None
    return module
