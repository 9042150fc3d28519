"""What one compilation depends on: the sizes, the dtypes and the static values."""

from __future__ import annotations

import attrs

from ._dims import Size

__all__ = ["Signature"]


@attrs.frozen
class Signature:
    """
    One choice of sizes, dtypes and static values for a spec; hashable.

    Attributes:
        sizes: pairs of name and size, sorted; the size of a ``*batch`` is a tuple.
        dtypes: the name of the dtype of each array leaf, in order.
        statics: the index of the value of each static leaf, in order.
    """

    sizes: tuple[tuple[str, Size], ...] = ()
    dtypes: tuple[str, ...] = ()
    statics: tuple[int, ...] = ()

    def __str__(self) -> str:
        """
        Return a short text for people: ``d=3 n=2 float32``.
        """

        def size(value: Size) -> str:
            return ("x".join(map(str, value)) or "()") if isinstance(value, tuple) else str(value)

        words = [f"{name}={size(value)}" for name, value in self.sizes]
        words += dict.fromkeys(self.dtypes)
        if any(self.statics):
            words.append("statics=" + ",".join(map(str, self.statics)))
        return " ".join(words) or "no arrays"
