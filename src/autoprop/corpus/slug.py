"""How the name of a target or law becomes a file name that every file system keeps apart."""

from __future__ import annotations

import hashlib
import re

__all__ = ["slug"]

_PLAIN = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
_LENGTH = 64


def slug(name: str) -> str:
    """
    Return a readable file name for any text; different texts get different names, whatever the case of their letters.

    A name of small letters, digits, ``_`` and inner ``.`` stays as it is. Any other gets ``-`` for what was replaced
    and a hash of the whole at its end. Names that Windows reserves, or that look like a module, count as others.

    Example:
        >>> slug("test_mse")
        'test_mse'
        >>> slug("mylib.losses:mse")
        'mylib.losses-mse-d325be39'
    """
    plain = _PLAIN.fullmatch(name) and not _RESERVED.fullmatch(name) and not name.endswith((".py", ".json"))
    if plain and len(name) <= _LENGTH:
        return name
    readable = re.sub(r"[^A-Za-z0-9_.]+", "-", name)[:_LENGTH].strip("-.") or "target"
    return f"{readable}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
