"""Which classes a case may name, and how their objects are taken apart and rebuilt without running a constructor."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import re
import sys
import types
from collections.abc import Mapping
from typing import Any

import attrs
from jax.tree_util import PyTreeDef, default_registry, tree_flatten, tree_structure, tree_unflatten

from autoprop._errors import CorpusError

__all__ = [
    "build_fields",
    "build_namedtuple",
    "build_node",
    "class_at",
    "declared",
    "field_values",
    "is_namedtuple",
    "is_registered",
    "path_of",
    "split_node",
]

_PATH = re.compile(r"[A-Za-z_]\w*(\.\w+)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


def class_at(path: str) -> type:
    """
    Return the class named ``module:qualified.name`` among the modules that are already imported.

    Only classes are stepped through and only by what a module or class holds itself: no import, no ``__getattr__``, no
    walk through functions or dunders.
    """
    if not _PATH.fullmatch(path):
        raise CorpusError(f"{path!r} is not a class path of the form module:qualified.name")
    module_name, _, qualname = path.partition(":")
    module = sys.modules.get(module_name)
    if module is None:
        raise CorpusError(
            f"class {path!r}: module {module_name!r} is not imported, and a case never imports anything; "
            "import it first, for example by running the test that owns the case"
        )
    if not issubclass(type(module), types.ModuleType):
        raise CorpusError(f"class {path!r}: {module_name!r} is not a module")
    owner: Any = module
    for part in qualname.split("."):
        held = (
            object.__getattribute__(owner, "__dict__") if owner is module else type.__dict__["__dict__"].__get__(owner)
        )
        owner = held.get(part)
        if part.startswith("__") or not isinstance(owner, type):
            raise CorpusError(f"class {path!r}: {part!r} is not a class that is defined there")
    return _accepted(owner, path)


def _accepted(cls: type, path: str) -> type:
    if issubclass(cls, functools.partial):
        raise CorpusError(f"class {path!r} holds a function; functions are not stored")
    if cls.__module__ == "builtins":
        raise CorpusError(f"class {path!r} is built in and has its own form")
    if not (is_namedtuple(cls) or declared(cls) is not None or issubclass(cls, enum.Enum) or is_registered(cls)):
        raise CorpusError(f"class {path!r} must be a namedtuple, dataclass, attrs class, enum or registered pytree")
    if hasattr(cls, "__del__"):
        raise CorpusError(f"class {path!r} has a __del__, which would run on values from a file")
    if "__call__" in dir(cls) and not is_registered(cls):
        raise CorpusError(f"class {path!r} is callable; only registered pytrees may be")
    return cls


def path_of(cls: type) -> str:
    """
    Return the path by which `class_at` finds the class again.
    """
    path = f"{cls.__module__}:{cls.__qualname__}"
    if "<locals>" in path:
        raise CorpusError(
            f"class {path!r} is defined inside a function and cannot be found again; move it to its module"
        )
    if class_at(path) is not cls:
        raise CorpusError(f"class {path!r} is another class than the one of this object")
    return path


def is_namedtuple(cls: type) -> bool:
    """
    Tell whether a class is a namedtuple.
    """
    fields = getattr(cls, "_fields", None)
    return issubclass(cls, tuple) and isinstance(fields, tuple) and all(isinstance(name, str) for name in fields)


def is_registered(cls: type) -> bool:
    """
    Tell whether a class is registered as a pytree node.
    """
    try:
        PyTreeDef.from_node_data_and_children(default_registry, (cls, None), ())
    except (RuntimeError, TypeError, ValueError):
        return False
    return True


def declared(cls: type) -> tuple[str, ...] | None:
    """
    Return the names of the fields of a dataclass or attrs class; None for any other.
    """
    if dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    if attrs.has(cls):
        return tuple(field.name for field in attrs.fields(cls))
    return None


def _own_state(value: Any) -> set[str]:
    """
    Return the names under which an object keeps anything itself; what a cached_property keeps does not count.
    """
    cls = type(value)
    names = {
        name
        for name in getattr(value, "__dict__", {})
        if not isinstance(inspect.getattr_static(cls, name, None), functools.cached_property)
    }
    for base in cls.__mro__:
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType):
                try:
                    member.__get__(value)
                except AttributeError:
                    continue
                names.add(name)
    return names


def field_values(value: Any) -> dict[str, Any] | None:
    """
    Return the fields of an object of a dataclass or attrs class, or None if they are not all that it holds.
    """
    names = declared(type(value))
    if names is None or _own_state(value) != set(names) or not all(_is_plain(type(value), name) for name in names):
        return None
    return {name: getattr(value, name) for name in names}


def _is_plain(cls: type, name: str) -> bool:
    member = inspect.getattr_static(cls, name, None)
    return isinstance(member, types.MemberDescriptorType) or not hasattr(type(member), "__set__")


def build_fields(cls: type, values: Mapping[str, Any]) -> Any:
    """
    Return an object with these fields; neither ``__init__`` nor ``__post_init__`` runs.
    """
    names = declared(cls)
    if names is None:
        raise CorpusError(f"{cls.__qualname__} declares no fields: it is neither a dataclass nor an attrs class")
    if unknown := sorted(set(values) - set(names)):
        raise CorpusError(f"{cls.__qualname__} declares no field {unknown[0]!r}; it has {', '.join(names) or 'none'}")
    if missing := [name for name in names if name not in values]:
        raise CorpusError(f"{cls.__qualname__} has a field {missing[0]!r} that was not stored; the class has changed")
    if odd := [name for name in names if not _is_plain(cls, name)]:
        raise CorpusError(f"{cls.__qualname__}.{odd[0]} is computed by a descriptor and cannot be set")
    try:
        instance: Any = object.__new__(cls)
        for name in names:
            object.__setattr__(instance, name, values[name])
    except (TypeError, AttributeError) as error:
        raise CorpusError(f"{cls.__qualname__} cannot be rebuilt from its fields: {error}") from None
    return instance


def build_namedtuple(cls: type, values: list[Any]) -> Any:
    """
    Return a namedtuple with these values; no ``__new__`` of its class runs.
    """
    if not is_namedtuple(cls):
        raise CorpusError(f"{cls.__qualname__} is not a namedtuple")
    fields: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
    if len(values) != len(fields):
        raise CorpusError(f"{cls.__qualname__} has {len(fields)} fields, but {len(values)} are stored")
    return tuple.__new__(cls, values)


def split_node(value: Any) -> tuple[list[Any], Any] | None:
    """
    Return the children of a registered pytree node and its static part, or None if its class is not registered.
    """
    if not is_registered(type(value)):
        return None
    children, structure = tree_flatten(value, is_leaf=lambda node: node is not value)
    data: Any = structure.node_data()  # type: ignore[attr-defined]
    if data is None or data[1] is value:
        raise CorpusError(f"{type(value).__qualname__} is registered as static and cannot be taken apart")
    return children, data[1]


def build_node(cls: type, children: list[Any], static: Any) -> Any:
    """
    Return a registered pytree node, rebuilt by the class's own registered function and checked against what was asked.
    """
    if not is_registered(cls):
        raise CorpusError(f"{cls.__qualname__} is not registered as a pytree node")
    leaves = [tree_structure(0)] * len(children)
    try:
        wanted = PyTreeDef.from_node_data_and_children(default_registry, (cls, static), leaves)
        node = tree_unflatten(wanted, children)
        again, found = tree_flatten(node, is_leaf=lambda part: part is not node)
        faithful = (
            type(node) is cls
            and bool(found == wanted)
            and len(again) == len(children)
            and all(a is b for a, b in zip(again, children, strict=True))
        )
    except Exception as error:  # noqa: BLE001 - the class's own code runs here, on values from a file
        raise CorpusError(f"{cls.__qualname__} cannot be rebuilt: {type(error).__name__}: {error}") from None
    if not faithful:
        raise CorpusError(f"{cls.__qualname__} does not give back the parts it was rebuilt from; the class has changed")
    return node
