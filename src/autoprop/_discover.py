"""Targets found by the words of a command line, and again by the ids of stored cases."""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import attrs

from ._errors import AutopropWarning, UsageError
from ._importing import Skipped, load_file, load_module
from ._target import Target

__all__ = ["Discovered", "discover", "resolve"]

REMEDY = "define TARGETS = [Target(...)] or use autoprop.verify"
_NOT_SEARCHED = {"__pycache__", "node_modules", "site-packages", "build", "dist"}


@attrs.frozen
class Discovered:
    """
    A target, where it was found, and how it is called from now on.

    Attributes:
        id: ``pkg.module:name``, ``path/file.py:name`` or ``path/test_file.py::test_name``.
        target: the target.
        source: the file or module that holds it.
    """

    id: str
    target: Target
    source: str


def discover(words: Sequence[str], *, root: Path | None = None) -> list[Discovered]:
    """
    Return the targets that words mean, in order, each once.

    Args:
        words: each a ``pkg.module:name``, ``pkg.module``, a file, a folder, ``file.py:name`` or ``file.py::test_name``.
        root: the folder that paths are relative to; the working directory by default.

    Raises:
        UsageError: a word means nothing, or what it means holds no target.
    """
    base = (root or Path.cwd()).resolve()
    found: dict[str, Discovered] = {}
    for word in words:
        for each in _word(word, base):
            found.setdefault(each.id, each)
    return list(found.values())


def resolve(id: str, *, root: Path | None = None) -> Target:  # noqa: A002 - the word that users see
    """
    Return the target of a stored case.

    Raises:
        UsageError: it is gone.
    """
    return discover([id], root=root)[0].target


def _word(word: str, root: Path) -> list[Discovered]:
    place, test = _split(word, "::")
    name = None if test else _split(word, ":")[1]
    if name:
        place = _split(word, ":")[0]
    path = root / place
    if path.is_dir() and not (name and (path / "__init__.py").is_file()):  # the latter is a package
        if name or test:
            raise UsageError(
                f"{word!r}: {place} is a folder, in which {test or name!r} is not looked for; give its file"
            )
        return _folder(path, root)
    if not path.is_file():
        if place.endswith(".py") or "/" in place or "\\" in place or test:
            raise UsageError(f"no file is called {place!r} (looked in {root})")
        path = Path()
    try:
        module = load_file(path, root) if path.is_file() else load_module(place, root)
    except Skipped as reason:
        raise UsageError(f"{place} skips itself: {reason}") from None
    return _in_module(module, _shown(path, root) if path.is_file() else place, root, name or test)


def _split(word: str, mark: str) -> tuple[str, str | None]:
    """
    Split a word before its name; the colon of a drive letter is none.
    """
    place, found, name = word.partition(mark) if mark == "::" else word.rpartition(mark)
    drive = mark == ":" and len(place) == 1 and name[:1] in ("\\", "/")
    return (place, name) if found and place and name and not drive else (word, None)


def _folder(folder: Path, root: Path) -> list[Discovered]:
    found: list[Discovered] = []
    for path in _python_files(folder):
        if b"autoprop" not in path.read_bytes():
            continue
        shown = _shown(path, root)
        try:
            found += _targets(load_file(path, root), shown, root)
        except Skipped as reason:
            warnings.warn(f"{shown} skips itself: {reason}", AutopropWarning, stacklevel=2)
    if not found:
        raise UsageError(f"no file below {_shown(folder, root)} holds a target: {REMEDY}")
    return found


def _python_files(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _NOT_SEARCHED and not name.startswith("."))
        yield from (Path(place, name) for name in sorted(files) if name.endswith(".py"))


def _shown(path: Path, root: Path) -> str:
    path = path.resolve()
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def _in_module(module: ModuleType, source: str, root: Path, name: str | None) -> list[Discovered]:
    """
    Return the targets of a module, or the one that has a name.
    """
    found = _targets(module, source, root)
    if not found:
        raise UsageError(f"{source} holds no target: {REMEDY}")
    if name is None:
        return found
    wanted = (f":{name}", f":{name.partition('[')[0]}")  # a test's parameters are no part of its id
    chosen = [each for end in wanted for each in found if each.id.endswith(end)]
    if not chosen and isinstance(getattr(module, name, None), Target):
        chosen = [each for each in found if each.target is getattr(module, name)]
    if chosen:
        return chosen[:1]
    names = [each.id.removeprefix(source).lstrip(":") for each in found]
    near = difflib.get_close_matches(name, names, n=1)
    raise UsageError(
        f"{source} holds no target {name!r}; "
        + (f"do you mean {near[0]!r}?" if near else f"it holds {', '.join(names)}")
    )


def _targets(module: ModuleType, source: str, root: Path) -> list[Discovered]:
    """
    Return the targets of a module in source order: ``TARGETS``, module-level targets, and tests made by ``verify``.
    """
    file = getattr(module, "__file__", None)
    tests = _shown(Path(file), root) if file else source
    tests = source if Path(tests).is_absolute() else tests
    found: list[Discovered] = []
    for name, value in list(vars(module).items()):
        if name == "TARGETS":
            if not isinstance(value, (list, tuple)) or not all(isinstance(each, Target) for each in value):
                raise UsageError(f"{source}: TARGETS={value!r} must be a list of Target")
            found += [Discovered(f"{source}:{each.name}", each, source) for each in value]
        elif isinstance(value, Target):
            found.append(Discovered(f"{source}:{value.name}", value, source))
        elif isinstance(value, type) and value.__module__ == module.__name__:
            found += [
                _test(f"{tests}::{name}::{key}", each, source) for key, each in vars(value).items() if _is_test(each)
            ]
        elif _is_test(value):
            found.append(_test(f"{tests}::{name}", value, source))
    return _each_once(found, source)


def _is_test(value: object) -> bool:
    return isinstance(getattr(value, "__autoprop_target__", None), Target)


def _test(id: str, value: object, source: str) -> Discovered:  # noqa: A002 - the word that users see
    target: Target = value.__autoprop_target__  # type: ignore[attr-defined]
    return Discovered(id, target, source)


def _each_once(found: list[Discovered], source: str) -> list[Discovered]:
    """
    Drop what is named twice, and refuse two targets of one name.
    """
    known: dict[str, Discovered] = {}
    for each in found:
        other = known.setdefault(each.id, each)
        if other.target is not each.target:
            raise UsageError(
                f"{source}: two targets are called {each.target.name!r}; "
                "give one of them another name: Target(..., name=...)"
            )
    return list(known.values())
