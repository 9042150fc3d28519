"""The small language of named dims: how ``"n 3 *batch"`` is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

from hypothesis.errors import InvalidArgument

__all__ = ["Dims", "Size", "axes", "names", "parse", "shape"]

Dims: TypeAlias = tuple[str | int, ...]
Size: TypeAlias = int | tuple[int, ...]

_NAME = re.compile(r"\*?[A-Za-z_][A-Za-z_0-9]*")


def parse(dims: str | int | tuple[str | int, ...] | list[str | int]) -> Dims:
    """
    Return the dims as a tuple of names, ``*names`` and sizes.

    Raises:
        InvalidArgument: a part is neither a name nor a size, or there is more than one ``*name``.
    """
    parts: list[str | int] = []
    given = dims.split() if isinstance(dims, str) else [dims] if isinstance(dims, int) else dims
    if not isinstance(given, tuple | list):
        raise InvalidArgument(f"dims={dims!r} must be a string such as 'n 3', or a tuple of names and sizes")
    for part in given:
        if isinstance(part, str) and part.isdigit():
            parts.append(int(part))
        elif (isinstance(part, int) and not isinstance(part, bool) and part >= 0) or (
            isinstance(part, str) and _NAME.fullmatch(part)
        ):
            parts.append(part)
        else:
            raise InvalidArgument(
                f"dims={dims!r}: {part!r} must be a name such as 'n', a size such as 3, or '*batch'; "
                "separate dims with spaces"
            )
    if sum(isinstance(part, str) and part.startswith("*") for part in parts) > 1:
        raise InvalidArgument(f"dims={dims!r} must have at most one '*name'; name the other dims one by one")
    return tuple(parts)


def names(dims: Dims) -> tuple[str, ...]:
    """
    Return the names in order of appearance, each once; a ``*name`` keeps its star.
    """
    return tuple(dict.fromkeys(part for part in dims if isinstance(part, str)))


def shape(dims: Dims, sizes: Mapping[str, Size]) -> tuple[int, ...]:
    """
    Return the shape under these sizes.
    """
    out: list[int] = []
    for part in dims:
        size = part if isinstance(part, int) else sizes[part.removeprefix("*")]
        out.extend(size if isinstance(size, tuple) else (size,))
    return tuple(out)


def axes(dims: Dims, name: str, sizes: Mapping[str, Size]) -> tuple[int, ...]:
    """
    Return the axes that the name stands for (several for a ``*name``, or where it appears twice).
    """
    out: list[int] = []
    position = 0
    for part in dims:
        size = part if isinstance(part, int) else sizes[part.removeprefix("*")]
        width = len(size) if isinstance(size, tuple) else 1
        if isinstance(part, str) and part.removeprefix("*") == name:
            out.extend(range(position, position + width))
        position += width
    return tuple(out)
