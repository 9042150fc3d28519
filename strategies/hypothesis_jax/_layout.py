"""How a spec is read: its leaves in order, and what each of them is at one signature."""

from __future__ import annotations

from typing import Any

import attrs
import jax
import numpy as np
from hypothesis.errors import InvalidArgument
from hypothesis.strategies import SearchStrategy

from . import _dims
from ._dtypes import require, resolve
from ._interval import Real
from ._leaves import ArraySpec, ConstantSpec, KeySpec, LabelsSpec, LeafSpec, StaticSpec
from ._parts import ArrayPart, KeyPart, Part, StrategyPart, ValuePart
from ._signature import Signature

__all__ = ["Arguments", "Layout", "layout"]


class Arguments(tuple[Any, ...]):
    """
    One spec per argument, as a tuple, with the sizes of the example it was made from.

    Attributes:
        sizes: the example's own size of each named dim.
    """

    sizes: tuple[tuple[str, int], ...]

    def __new__(cls, specs: tuple[Any, ...], sizes: tuple[tuple[str, int], ...] = ()) -> Arguments:
        """
        Return the tuple of these specs.
        """
        self = super().__new__(cls, specs)
        self.sizes = sizes
        return self


@attrs.frozen(eq=False)
class Layout:
    """
    A spec taken apart.

    Attributes:
        leaves: the leaves in order.
        treedef: the tree around them.
        own: the sizes of the example, where there was one.
    """

    leaves: tuple[LeafSpec | SearchStrategy[Any], ...]
    treedef: Any
    own: tuple[tuple[str, int], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """
        The named dims in order of appearance; a ``*name`` keeps its star.
        """
        found: dict[str, None] = {}
        for leaf in self.leaves:
            if isinstance(leaf, ArraySpec | LabelsSpec | KeySpec):
                found |= dict.fromkeys(_dims.names(leaf.dims))
            if isinstance(leaf, LabelsSpec) and isinstance(leaf.below, str):
                found |= {leaf.below: None}
        bare = [name.removeprefix("*") for name in found]
        if twice := [name for name in bare if bare.count(name) > 1]:
            raise InvalidArgument(f"dim {twice[0]!r} must be either '{twice[0]}' or '*{twice[0]}'; rename one of them")
        return tuple(found)

    @property
    def alternatives(self) -> tuple[tuple[str, ...], ...]:
        """
        The names of the dtypes that each array leaf may have now.
        """
        typed = [leaf for leaf in self.leaves if isinstance(leaf, ArraySpec | LabelsSpec)]
        return tuple(tuple(require(resolve(one)).name for one in leaf.dtypes) for leaf in typed)

    @property
    def statics(self) -> tuple[int, ...]:
        """
        How many values each static leaf has.
        """
        return tuple(len(leaf.values) for leaf in self.leaves if isinstance(leaf, StaticSpec))

    def check(self, signature: Signature) -> None:
        """
        Refuse a signature of another spec.

        Raises:
            InvalidArgument: names, dtypes or statics do not agree.
        """
        alternatives = self.alternatives
        counts = len(alternatives), len(self.statics)
        have = len(signature.dtypes), len(signature.statics)
        names = sorted(name.removeprefix("*") for name in self.names)
        if [name for name, _ in signature.sizes] != names or counts != have:
            raise InvalidArgument(
                f"signature={signature} must be one of this spec, with dims {names}, {counts[0]} dtypes and "
                f"{counts[1]} statics; take it from signatures(spec)"
            )
        known = all(dtype in names for dtype, names in zip(signature.dtypes, alternatives, strict=True))
        if not known or any(i not in range(n) for i, n in zip(signature.statics, self.statics, strict=True)):
            raise InvalidArgument(
                f"signature={signature!r} must have only dtypes and static values of this spec: one of {alternatives} "
                f"for each array, and less than {self.statics}; take it from signatures(spec)"
            )

    def parts(self, signature: Signature) -> list[Part]:
        """
        Return what each leaf is at this signature.
        """
        self.check(signature)
        sizes = dict(signature.sizes)
        dtypes, statics = iter(signature.dtypes), iter(signature.statics)
        found: list[Part] = []
        for leaf in self.leaves:
            match leaf:
                case ArraySpec():
                    dtype = require(resolve(next(dtypes)))
                    found.append(ArrayPart(leaf.dims, _dims.shape(leaf.dims, sizes), dtype, leaf.support))
                case LabelsSpec():
                    dtype = require(resolve(next(dtypes)))
                    below = sizes[leaf.below] if isinstance(leaf.below, str) else leaf.below
                    if isinstance(below, tuple):
                        raise InvalidArgument(f"below={leaf.below!r} must be a single dim, not '*{leaf.below}'")
                    shape = _dims.shape(leaf.dims, sizes)
                    support = Real(0, max(below - 1, 0))
                    found.append(ArrayPart(leaf.dims, shape, dtype, support, below > 0 or 0 in shape))
                case KeySpec():
                    found.append(KeyPart(leaf.dims, _dims.shape(leaf.dims, sizes), leaf.impl))
                case StaticSpec():
                    found.append(ValuePart(leaf.values[next(statics)]))
                case ConstantSpec():
                    found.append(ValuePart(leaf.value))
                case SearchStrategy():
                    found.append(StrategyPart(leaf))
        return found

    def fits(self, signature: Signature) -> bool:
        """
        Return whether every leaf has a value at this signature.
        """
        return all(part.possible for part in self.parts(signature))


def _leaf(path: Any, leaf: Any) -> LeafSpec | SearchStrategy[Any]:
    if isinstance(leaf, LeafSpec | SearchStrategy):
        return leaf
    plain = isinstance(leaf, jax.Array | np.ndarray | np.generic | bool | int | float | complex)
    if plain or (callable(leaf) and not isinstance(leaf, type)):
        return ConstantSpec(leaf)
    if isinstance(leaf, Arguments):
        raise InvalidArgument(f"spec{jax.tree_util.keystr(path)} must not be a like(...); only the whole spec may")
    raise InvalidArgument(
        f"spec{jax.tree_util.keystr(path)}={leaf!r} must be a leaf spec, a SearchStrategy or an array; "
        "write array(...) for an array, static(...) or constant(...) for any other value"
    )


def layout(spec: Any) -> Layout:
    """
    Take a spec apart.

    Raises:
        InvalidArgument: a leaf is nothing that a spec may hold.
    """
    if isinstance(spec, Layout):
        return spec
    own = spec.sizes if isinstance(spec, Arguments) else ()
    pairs, treedef = jax.tree_util.tree_flatten_with_path(tuple(spec) if isinstance(spec, Arguments) else spec)
    found = Layout(tuple(_leaf(path, leaf) for path, leaf in pairs), treedef, own)
    _ = found.names  # refuses a name that is used both with a star and without
    return found
