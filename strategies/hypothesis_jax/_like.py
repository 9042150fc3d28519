"""From an example of the arguments to the spec of arguments like these."""

from __future__ import annotations

import string
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._dims import Dims
from ._dtypes import NAMES, DType, kind, limits, resolve
from ._example import Around, Example, Typical
from ._interval import mask, real
from ._layout import Arguments
from ._leaves import LeafSpec, array, constant, key, static

__all__ = ["like"]


class _Names:
    """
    One name per size: equal sizes share it.
    """

    def __init__(self) -> None:
        self.of: dict[int, str] = {}

    def dims(self, shape: tuple[int, ...]) -> Dims:
        return tuple(size if size < 2 else self.of.setdefault(size, self._fresh()) for size in shape)

    def _fresh(self) -> str:
        count, letters = len(self.of), string.ascii_lowercase
        return letters[count % 26] + (str(count // 26) if count >= 26 else "")


def _range(example: Any, dtype: DType) -> tuple[int, int]:
    """
    Return the smallest and the largest integer of an example, as far as the dtype goes; without numbers, 0 and 4.
    """
    if isinstance(example, jax.ShapeDtypeStruct) or not example.size:
        return 0, 4
    values = np.asarray(example)
    least, most = limits(dtype)
    low, high = (min(max(int(value), least), most) for value in (values.min(), values.max()))
    return low, high


def _array(example: Any, names: _Names) -> LeafSpec:
    dims = names.dims(example.shape)
    if jnp.issubdtype(example.dtype, jax.dtypes.prng_key):
        concrete = isinstance(example, jax.Array)
        return key(dims, impl=str(jax.random.key_impl(example)) if concrete else None)
    name = np.dtype(example.dtype).name
    if name not in NAMES:
        return constant(example)  # object, string and the narrow formats that JAX only stores
    dtype = np.dtype(jax.dtypes.canonicalize_dtype(resolve(example.dtype)))
    if kind(dtype) == "b":
        return array(dims, dtype, support=mask)
    if kind(dtype) in "iu":
        low, high = _range(example, dtype)
        return array(dims, dtype, support=Typical(low=low, high=high, example=_example(example, dtype)))
    around = _example(example, dtype)
    return array(dims, dtype, support=real if around is None else Around(example=around))


def _example(example: Any, dtype: DType) -> Example | None:
    """
    Return the example's numbers, where it has numbers and not only a shape.
    """
    if isinstance(example, jax.ShapeDtypeStruct):
        return None
    values = np.asarray(example).astype(dtype)
    return Example.of(values.astype(np.float64) if kind(dtype) == "f" else values)


def _leaf(example: Any, names: _Names) -> LeafSpec:
    if isinstance(example, np.generic):
        example = np.asarray(example)
    if isinstance(example, LeafSpec):
        return example
    if isinstance(example, jax.Array | np.ndarray | jax.ShapeDtypeStruct):
        return _array(example, names)
    if isinstance(example, bool):
        return static(example, not example)
    if isinstance(example, int):
        return static(example, example + 1, example - 1)
    if isinstance(example, float):
        return array("", float, support=Around(example=Example((example,), ())))
    if isinstance(example, complex):
        return array("", complex, support=Around(example=Example((example,), ())))
    return static((example,))


def _as_written(spec: Any, example: Any) -> Any:
    """
    Return a spec whose dicts hold their keys in the example's order; JAX has sorted them.
    """
    if type(example) is dict:
        return {key: _as_written(spec[key], one) for key, one in example.items()}
    if type(example) in (list, tuple):
        return type(example)(_as_written(of, one) for of, one in zip(spec, example, strict=True))
    return spec


def like(*example: Any) -> Arguments:
    """
    Return the spec of arguments like these: the same trees, dtypes and ranks, other sizes and values.

    Equal sizes of two or more share a name and so vary together; sizes 1 and 0 stay. Integers stay in the example's
    own range most of the time. Booleans are masks. Python floats become scalars of JAX's default float; Python
    integers take a neighbour's value at some signatures; a leaf spec stays as it is; anything else stays the same.
    Dicts keep the order in which their keys were written.

    Args:
        example: one value or tree for each argument.
    """
    names = _Names()
    specs = tuple(jax.tree.map(lambda leaf: _leaf(leaf, names), one) for one in example)
    specs = tuple(_as_written(spec, one) for spec, one in zip(specs, example, strict=True))
    return Arguments(specs, tuple((name, size) for size, name in names.of.items()))
