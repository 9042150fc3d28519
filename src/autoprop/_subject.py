"""A target at one signature: its function of the differentiated leaves alone, the rest held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ._errors import UsageError
from ._target import Target, argument_names
from ._trees import is_array, is_inexact, leaf_paths, matches_name, same_tree

__all__ = ["Subject"]

MOVED, HELD, STATIC = "moved", "held", "static"


class Subject:
    """
    A target at one signature.

    Each leaf of the arguments is *moved* (inexact, and differentiated or named by ``frozen`` or ``live``), *held*
    (another array) or *static* (not an array). ``f(moved, held)`` is the function under test in that form; its value is
    the list of the inexact leaves of the output. Everything compiled for a signature is kept in ``memo``.

    Attributes:
        target: the target.
        argnames: name of each argument.
        argnums: differentiated positions.
        paths: path of each leaf of the arguments.
        kinds: ``moved``, ``held`` or ``static`` for each leaf.
        memo: a place for compiled functions, by name.
    """

    def __init__(self, target: Target, primals: tuple[Any, ...]) -> None:
        self.target = target
        self.argnames = argument_names(target.fn, len(primals))
        self.leaves, self.treedef = jax.tree.flatten(primals)
        self.paths: list[str] = []
        owners: list[int] = []
        for i, (name, argument) in enumerate(zip(self.argnames, primals, strict=True)):
            below = leaf_paths(argument, name)
            self.paths += below
            owners += [i] * len(below)
        inexact = {i for i, leaf in zip(owners, self.leaves, strict=True) if is_inexact(leaf)}
        chosen = target.positions(len(primals))
        self.argnums: tuple[int, ...] = tuple(sorted(inexact)) if chosen is None else chosen
        declared = {
            i for option in ("frozen", "live") for name in getattr(target, option) for i in self.select(name, option)
        }
        self.kinds = [
            (MOVED if is_inexact(leaf) and (owner in self.argnums or i in declared) else HELD)
            if is_array(leaf)
            else STATIC
            for i, (owner, leaf) in enumerate(zip(owners, self.leaves, strict=True))
        ]
        self.owners = owners
        self.memo: dict[Any, Any] = {}
        self._outputs: Any = None

    def select(self, name: str, option: str) -> list[int]:
        """
        Return the positions of the leaves that a name of ``frozen`` or ``live`` means.

        Raises:
            UsageError: no leaf has that name.
        """
        found = [i for i, path in enumerate(self.paths) if matches_name(path, name)]
        if not found:
            raise UsageError(
                f"{self.target.name}: {option}={name!r} names no leaf of the arguments; the leaves are "
                f"{', '.join(self.paths)}, the arguments {', '.join(self.argnames)}"
            )
        return found

    @property
    def moved_paths(self) -> list[str]:
        """
        Paths of the moved leaves.
        """
        return [path for path, kind in zip(self.paths, self.kinds, strict=True) if kind == MOVED]

    def moved_among(self, names: Sequence[str], option: str) -> list[int]:
        """
        Return the positions, among the moved leaves, of those that names of ``frozen`` or ``live`` mean.
        """
        chosen = {self.paths[i] for name in names for i in self.select(name, option)}
        return [i for i, path in enumerate(self.moved_paths) if path in chosen]

    def fits(self, primals: tuple[Any, ...]) -> bool:
        """
        Say whether compiled functions of this subject serve these arguments: same tree, shapes, dtypes, static values.
        """
        leaves, treedef = jax.tree.flatten(primals)
        if not same_tree(treedef, self.treedef):
            return False
        for ours, theirs, kind in zip(self.leaves, leaves, self.kinds, strict=True):
            if kind == STATIC:
                if is_array(theirs) or type(ours) is not type(theirs) or not _same(ours, theirs):
                    return False
            elif (
                not is_array(theirs)
                or jnp.shape(ours) != jnp.shape(theirs)
                or jnp.result_type(ours) != jnp.result_type(theirs)
            ):
                return False
        return True

    def split(self, primals: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
        """
        Return the moved and the held leaves of an argument tuple.
        """
        leaves = jax.tree.leaves(primals)
        moved = [leaf for leaf, kind in zip(leaves, self.kinds, strict=True) if kind == MOVED]
        return moved, [leaf for leaf, kind in zip(leaves, self.kinds, strict=True) if kind == HELD]

    def join(self, moved: Sequence[Any], held: Sequence[Any]) -> tuple[Any, ...]:
        """
        Return the argument tuple with these leaves; static ones are the subject's own.
        """
        parts = {MOVED: iter(moved), HELD: iter(held)}
        leaves = [
            leaf if kind == STATIC else next(parts[kind]) for leaf, kind in zip(self.leaves, self.kinds, strict=True)
        ]
        arguments: tuple[Any, ...] = jax.tree.unflatten(self.treedef, leaves)
        return arguments

    def f(self, moved: Sequence[Any], held: Sequence[Any]) -> list[Any]:
        """
        Call the function under test: the inexact leaves of its value, in the order of the output's tree.
        """
        return self.inexact(self.target.fn(*self.join(moved, held)))

    def inexact(self, value: Any) -> list[Any]:
        """
        Return the leaves of a value that have a derivative: the inexact ones, in the order of its tree.
        """
        leaves = [leaf for leaf in jax.tree.leaves(self.without_aux(value)) if is_inexact(leaf)]
        return [leaf if hasattr(leaf, "dtype") else jnp.asarray(leaf) for leaf in leaves]

    def without_aux(self, value: Any) -> Any:
        """
        Return what is differentiated of a value: all of it, or the first of the pair if the target has aux.

        Raises:
            UsageError: the target has aux, and the value is no pair.
        """
        return self._pair(value)[0]

    def _pair(self, value: Any) -> tuple[Any, Any]:
        if not self.target.has_aux:
            return value, ()
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            shown = f"{len(value)} values" if isinstance(value, (tuple, list)) else "no tuple"
            raise UsageError(
                f"{self.target.name}: has_aux=True needs a function that returns a pair (value, aux), but it returns "
                f"{shown}; leave has_aux out if all of it is the value"
            )
        return value[0], value[1]

    @property
    def traced(self) -> Any:
        """
        The jaxpr of ``f`` at this signature, traced once, or None where it cannot be traced with its arrays abstract.
        """
        if "traced" not in self.memo:
            moved, held = self.split(jax.tree.unflatten(self.treedef, self.leaves))
            try:
                self.memo["traced"] = jax.make_jaxpr(self.f)(moved, held)
            except Exception:  # noqa: BLE001  the function under test may raise anything
                self.memo["traced"] = None
        return self.memo["traced"]

    @property
    def is_traceable(self) -> bool:
        """
        Say whether the function can be traced with all its arrays abstract; one that asks for their values cannot.
        """
        return self.traced is not None

    @property
    def outputs(self) -> Any:
        """
        Shape and dtype of the value's tree, by `jax.eval_shape`.
        """
        if self._outputs is None:
            moved, held = self.split(jax.tree.unflatten(self.treedef, self.leaves))
            try:
                self._outputs = jax.eval_shape(lambda m, h: self.target.fn(*self.join(m, h)), moved, held)
            except Exception as error:  # noqa: BLE001  it cannot be traced, but perhaps it can be called
                try:
                    value = self.target.fn(*jax.tree.unflatten(self.treedef, self.leaves))
                except Exception:  # noqa: BLE001
                    raise error from None
                self._outputs = jax.tree.map(lambda y: jax.eval_shape(jnp.asarray, y), value)
            self._pair(self._outputs)
        return self._outputs

    @property
    def _differentiated(self) -> Any:
        return self.without_aux(self.outputs)

    @property
    def output_paths(self) -> list[str]:
        """
        Paths of the inexact leaves of the value.
        """
        paths = leaf_paths(self._differentiated, "value")
        leaves = jax.tree.leaves(self._differentiated)
        return [p for p, leaf in zip(paths, leaves, strict=True) if jnp.issubdtype(leaf.dtype, jnp.inexact)]

    @property
    def array_output_paths(self) -> list[str]:
        """
        Paths of all leaves of the value, and of aux.
        """
        value, aux = self._pair(self.outputs)
        return [*leaf_paths(value, "value"), *leaf_paths(aux, "aux")]

    @property
    def inexact_outputs(self) -> list[Any]:
        """
        Shape and dtype of each inexact leaf of the value.
        """
        return [leaf for leaf in jax.tree.leaves(self._differentiated) if jnp.issubdtype(leaf.dtype, jnp.inexact)]

    @property
    def is_scalar_loss(self) -> bool:
        """
        Say whether the value is one real floating scalar, which `jax.grad` asks for.
        """
        leaves = jax.tree.leaves(self._differentiated)
        return len(leaves) == 1 and leaves[0].shape == () and jnp.issubdtype(leaves[0].dtype, jnp.floating)

    def compiled(self, name: Any, build: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
        """
        Return the function kept under ``name``, built at its first use.
        """
        if name not in self.memo:
            self.memo[name] = build()
        found: Callable[..., Any] = self.memo[name]
        return found


def _same(ours: Any, theirs: Any) -> bool:
    try:
        return ours is theirs or bool(ours == theirs)
    except (TypeError, ValueError):
        return False
