"""The JSON text of a case: one line per leaf when written, nothing ambiguous when read."""

from __future__ import annotations

import json
import math
from typing import Any

from autoprop._errors import CorpusError

__all__ = ["CONTAINERS", "parse", "write"]

CONTAINERS = frozenset({"dict", "fields", "namedtuple", "node", "tuple"})
"""The tags of encoded values that hold other values; every other tag is a leaf and takes one line."""

_WIDTH = 100


def parse(text: str, *, name: str) -> dict[str, Any]:
    """
    Read a JSON object.

    Args:
        text: the text.
        name: what to call the text in errors, usually its file.

    Raises:
        CorpusError: the text is not JSON, or JSON that readers disagree about (duplicate keys, NaN, overflow).
    """

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            keys = [key for key, _ in items]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise CorpusError(f"{name}: the key {twice!r} appears twice in one object; keep one of them")
        return found

    def constant(word: str) -> Any:
        raise CorpusError(f'{name}: {word} is not JSON; autoprop writes such floats as text ("nan", "inf")')

    def real(digits: str) -> float:
        if math.isinf(value := float(digits)):
            raise CorpusError(f"{name}: the number {digits[:40]} does not fit in a float")
        return value

    try:
        document = json.loads(text, object_pairs_hook=pairs, parse_constant=constant, parse_float=real)
    except CorpusError:
        raise
    except RecursionError:
        raise CorpusError(f"{name}: nested too deeply to be a case") from None
    except ValueError as error:
        raise CorpusError(f"{name}: not JSON that autoprop can read: {error}") from None
    if not isinstance(document, dict):
        raise CorpusError(f"{name}: a case is a JSON object, but this is a {type(document).__name__}")
    return document


def write(document: dict[str, Any]) -> str:
    """
    Return the text of a JSON object: ``arguments`` with one line per leaf, the rest with one line per short value.
    """
    try:
        text = _object(document, ascii_only=False)
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate in a string has no UTF-8 form, but a JSON escape
        text = _object(document, ascii_only=True)
    return text + "\n"


def _object(document: dict[str, Any], *, ascii_only: bool) -> str:
    lines = [
        f"  {_line(key, ascii_only)}: {_layout(value, 1, ascii_only, leaves=key == 'arguments')}"
        for key, value in document.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}"


def _line(value: Any, ascii_only: bool) -> str:
    return json.dumps(value, ensure_ascii=ascii_only, allow_nan=False)


def _is_leaf(value: Any) -> bool:
    return not isinstance(value, (dict, list)) or (isinstance(value, dict) and value.get("$", "dict") not in CONTAINERS)


def _leaves(value: Any) -> int:
    if _is_leaf(value):
        return 1
    if isinstance(value, dict) and "$" in value:
        return _leaves(value["v"])
    return sum(map(_leaves, value.values() if isinstance(value, dict) else value))


def _layout(value: Any, depth: int, ascii_only: bool, *, leaves: bool) -> str:
    if not isinstance(value, (dict, list)) or not value:
        return _line(value, ascii_only)
    if leaves and (_is_leaf(value) or (_leaves(value) <= 1 and len(_line(value, ascii_only)) <= _WIDTH)):
        return _line(value, ascii_only)
    if not leaves and not isinstance(value, dict) and len(line := _line(value, ascii_only)) <= _WIDTH:
        return line
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, list):
        items = [inner + _layout(item, depth + 1, ascii_only, leaves=leaves) for item in value]
        return "[\n" + ",\n".join(items) + f"\n{outer}]"
    items = [
        f"{inner}{_line(key, ascii_only)}: "
        + (
            _line(item, ascii_only)
            if key == "static" and "$" in value
            else _layout(item, depth + 1, ascii_only, leaves=leaves)
        )
        for key, item in value.items()
    ]
    return "{\n" + ",\n".join(items) + f"\n{outer}}}"
