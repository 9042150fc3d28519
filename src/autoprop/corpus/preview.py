"""A short decimal view of encoded arguments, for people who look through a corpus."""

from __future__ import annotations

from typing import Any

__all__ = ["preview"]

_LENGTH = 160
_SHOWN = 6


def preview(arguments: dict[str, Any]) -> str:
    """
    Return one short line for encoded arguments by name, such as ``x = float32[2] [0.0, 1.0], n = 3``.
    """
    text = ", ".join(f"{name} = {_show(value)}" for name, value in arguments.items())
    return text if len(text) <= _LENGTH else text[: _LENGTH - 1] + "…"


def _show(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_show, value))}]"
    if not isinstance(value, dict):
        return repr(value)
    tag = value.get("$", "dict")
    if "dtype" in value and "shape" in value:
        return _array(value)
    if tag in ("int", "float", "complex"):
        return str(value.get("v", "nan")).replace("'", "")
    if tag == "bytes":
        return "bytes"
    if tag == "dtype":
        return str(value["dtype"])
    if tag == "enum":
        return f"{_name(value)}.{value['member']}"
    if tag == "tuple":
        return f"({', '.join(map(_show, value['v']))})"
    if tag in ("namedtuple", "node"):
        return f"{_name(value)}({', '.join(map(_show, value['v']))})"
    if tag == "fields":
        return f"{_name(value)}({', '.join(f'{key}={_show(item)}' for key, item in value['v'].items())})"
    pairs = value["v"] if "$" in value else [[key, item] for key, item in value.items()]
    return "{" + ", ".join(f"{_show(key)}: {_show(item)}" for key, item in pairs) + "}"


def _name(value: dict[str, Any]) -> str:
    return str(value["class"]).rpartition(":")[2]


def _array(value: dict[str, Any]) -> str:
    kind = f"key<{value['impl']}>" if value["$"] == "key" else value["dtype"]
    shape = ",".join(map(str, value["shape"]))
    values = value.get("v")
    if values is None:
        return f"{kind}[{shape}]"
    shown = ", ".join(f"{item:.6g}" if isinstance(item, float) else str(item) for item in values[:_SHOWN])
    more = ", …" if len(values) > _SHOWN else ""
    return f"{kind}[{shape}] [{shown}{more}]" if value["shape"] else f"{kind} {shown}"
