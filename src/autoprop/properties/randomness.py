"""The laws of randomness: each key is consumed once, and a key determines what is drawn from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._compile import FAST_COMPILE
from .._dtypes import wide
from .._jaxprs import has_primitive, refusal
from .._point import Point
from .._subject import Subject
from .._trees import as_arrays, is_array, is_key, on_device
from .._verdict import Holds, Mismatch, Undecided, Verdict, Violated
from ..oracles.keys import consumed, draws
from ._compare import Raised, Routes, agree, attempt, same
from ._law import law, undecided_if_raises
from .transforms import plain_value, split_arrays

__all__ = ["key_determinism", "key_reuse"]


def _trace(subject: Subject, raw: tuple[int, ...] = ()) -> Any:
    """
    The jaxpr of the function of all its arrays, in the order of the leaves; raw keys at ``raw`` enter as typed ones.
    """
    arrays = _arrays(subject, subject.leaves)

    def call(*values: Any) -> Any:
        given = iter(values)
        leaves = [next(given) if is_array(leaf) else leaf for leaf in subject.leaves]
        return [
            y for y in jax.tree.leaves(subject.target.fn(*jax.tree.unflatten(subject.treedef, leaves))) if is_array(y)
        ]

    return jax.make_jaxpr(call)(*_typed(arrays, raw))


def _arrays(subject: Subject, leaves: list[Any]) -> list[Any]:
    return [leaf for leaf, kind in zip(leaves, subject.kinds, strict=True) if kind != "static"]


def _typed(arrays: list[Any], raw: tuple[int, ...]) -> list[Any]:
    return [jax.random.wrap_key_data(on_device(x)) if i in raw else x for i, x in enumerate(arrays)]


def _raw_keys(subject: Subject) -> tuple[int, ...]:
    """
    Positions, among the arrays, of those that the function takes for a key in the old form: a row of uint32.
    """
    if "raw keys" not in subject.memo:
        found = []
        width = jax.random.key_data(jax.random.key(0)).shape[-1]
        for i, x in enumerate(_arrays(subject, subject.leaves)):
            if is_key(x) or jnp.result_type(x) != jnp.uint32 or jnp.shape(x)[-1:] != (width,):
                continue
            try:
                found += [i] if draws(_trace(subject, (i,))) else []
            except Exception:  # noqa: BLE001  integers of another meaning: the function computes with them
                continue
        subject.memo["raw keys"] = tuple(found)
    positions: tuple[int, ...] = subject.memo["raw keys"]
    return positions


def _draws_something(subject: Subject) -> str | None:
    if "draws" not in subject.memo:
        try:
            subject.memo["draws"] = draws(_trace(subject))
        except Exception:  # noqa: BLE001  what cannot be traced is told when it is judged
            subject.memo["draws"] = any(is_key(leaf) for leaf in subject.leaves)
    return None if subject.memo["draws"] else "the function draws no random numbers from a key"


@law("randomness", applies=_draws_something, smooth_only=False, once=True)
def key_reuse(subject: Subject, point: Point) -> Verdict:
    """
    consumed(key) ≤ 1 for each key: drawn from, or split, never both and never twice

    Numbers drawn twice from one key are the same numbers, so noise that should be independent is not. JAX's own check
    (`jax.debug_key_reuse`) follows the keys through the traced function, inner jit, scan and while included; where it
    accuses, the function is run operation by operation and the law is violated only if some key's bits are consumed
    twice in that one call. That check takes every folded key for a new one, so a program that folds numbers of its own
    into keys is always run so. Keys in the old form (rows of uint32) are made typed first. Where the same numbers are
    meant, say ``jax.random.clone(key)``.

    **Catches** a parent key used after its split, one key for two draws, a key that a loop consumes anew in each
    iteration, a key that is made inside and used twice, one number folded in twice.

    **Does not catch** keys in the old form that are made inside the function, the same key under `jax.vmap` for every
    row, one key that is passed to two calls, a number folded in twice where some argument is an array of integers.
    """
    arrays = _arrays(subject, jax.tree.leaves(point.primals))
    raw = _raw_keys(subject)
    traced: Any = None  # unless JAX's check accuses
    try:
        with jax.debug_key_reuse(True):
            traced = _trace(subject, raw)
        if not _folds(subject, traced, raw):
            return Holds()
        said = "not seen, for it takes every folded key for a new one"
    except jax.errors.KeyReuseError as error:
        said = str(error).strip().splitlines()[0].rstrip(": ")
    except Exception as error:  # noqa: BLE001  the function under test may raise anything
        return Undecided(f"it cannot be traced: {refusal(error) or Raised(error)}")
    values = _typed([on_device(x) for x in arrays], raw)
    try:
        uses = consumed(_trace(subject, raw), values)
    except Exception as error:  # noqa: BLE001  it cannot be run operation by operation
        return (
            Holds()
            if traced
            else Undecided(f"jax.debug_key_reuse suspects it, but it cannot be followed ({type(error).__name__})")
        )
    if not uses.repeated:
        short = Undecided("jax.debug_key_reuse suspects it; the first iterations of its loops consume no key twice")
        return Holds() if traced or uses.is_complete else short
    names = dict(zip(_bits(values), _paths(subject), strict=True))
    return Violated(tuple(_reuse(names.get(bits), lines, said) for bits, lines in uses.repeated))


def _folds(subject: Subject, traced: Any, raw: tuple[int, ...]) -> bool:
    """
    Say whether a program folds numbers of its own into keys: integers that are arguments may be equal on purpose.
    """
    numbers = [x for i, x in enumerate(_arrays(subject, subject.leaves)) if i not in raw and not is_key(x)]
    given = any(jnp.issubdtype(jnp.result_type(x), jnp.integer) for x in numbers)
    return not given and has_primitive(traced, "random_fold_in")


def _reuse(path: str | None, lines: list[str], said: str) -> Mismatch:
    first, second = (line or "an unknown line" for line in lines[:2])
    origin = (
        f"jax.debug_key_reuse: {said}; split the key, or say jax.random.clone(key) where the same numbers are meant"
    )
    return Mismatch(
        path or "a key derived inside",
        (),
        (("consumed", f"at {first}"), ("consumed again", f"at {second}")),
        None,
        None,
        origin,
        len(lines),
        len(lines),
    )


def _bits(values: list[Any]) -> list[bytes]:
    return [np.asarray(jax.random.key_data(x)).tobytes() if is_key(x) else b"" for x in values]


def _paths(subject: Subject) -> list[str]:
    return [path for path, kind in zip(subject.paths, subject.kinds, strict=True) if kind != "static"]


def _takes_a_key(subject: Subject) -> str | None:
    return None if any(map(is_key, subject.leaves)) or _raw_keys(subject) else "no argument is a key"


@law("randomness", applies=_takes_a_key, once=True)
def key_determinism(subject: Subject, point: Point) -> Verdict:
    """
    f(key) is a function of the key's bits: eagerly, under jit, and under vmap over keys

    All randomness of a function that takes a key comes from that key. A second call with a key of the same bits (but
    another object) gives the same value bit for bit; jit gives the same value up to rounding and the same discrete
    decisions; vmap over three different keys gives what a loop over them gives. A discrete decision that differs only
    in one precision is rounding.

    **Catches** hidden generators (NumPy's, Python's, the clock), counters folded into the key, draws that are cached by
    the key's identity, draws baked in when jit traces, samplers that mix the rows of a batch.

    **Does not catch** a key that is ignored, or used twice (`key_reuse`).
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises
    keys = _keys(subject)

    def value(leaves: list[Any]) -> list[Any]:
        return as_arrays(subject.target.fn(*jax.tree.unflatten(subject.treedef, leaves)))

    leaves = jax.tree.leaves(point.primals)
    twin = [_changed(x, None) if i in keys else x for i, x in enumerate(leaves)]
    paths = subject.array_output_paths
    routes = Routes(("f(key)", "f(same bits)"), paths, attempt(lambda: value(leaves)), attempt(lambda: value(twin)))
    verdict = same(routes, "the value is a function of the key's bits")
    if not isinstance(verdict, Holds):
        return verdict
    verdict = _decided(subject, point, lambda primals: _jitted(subject, primals))
    if isinstance(verdict, Holds) and all(_batches(leaves[i]) for i in keys):
        verdict = _decided(subject, point, lambda primals: _mapped(subject, primals, keys))
    return verdict


def _keys(subject: Subject) -> list[int]:
    """
    Positions, among all leaves, of keys in either form.
    """
    arrays = [i for i, kind in enumerate(subject.kinds) if kind != "static"]
    raw = {arrays[i] for i in _raw_keys(subject)}
    return [i for i in arrays if is_key(subject.leaves[i]) or i in raw]


def _batches(key: Any) -> bool:
    return not is_key(key) or "fry" in str(jax.random.key_impl(key))  # other generators draw otherwise in a batch


def _changed(key: Any, number: int | None) -> Any:
    """
    A new key of the same bits, or (given a number) of other bits; in the form of ``key``.
    """
    typed = key if is_key(key) else jax.random.wrap_key_data(on_device(key))
    if number is not None:
        typed = jax.vmap(lambda k: jax.random.fold_in(k, number))(typed.reshape(-1)).reshape(typed.shape)
    data = jax.random.key_data(typed)
    copy = jnp.array(np.array(data))
    return jax.random.wrap_key_data(copy, impl=jax.random.key_impl(typed)) if is_key(key) else copy


def _jitted(subject: Subject, primals: tuple[Any, ...]) -> Routes:
    arguments = split_arrays(subject, primals)
    eager = subject.compiled("value", lambda: plain_value(subject))
    compiled = subject.compiled("jit:value", lambda: jax.jit(eager))
    left, right = attempt(lambda: eager(*arguments)), attempt(lambda: compiled(*arguments))
    return Routes(("eager", "jit"), subject.array_output_paths, left, right)


def _mapped(subject: Subject, primals: tuple[Any, ...], keys: list[int]) -> Routes:
    leaves = jax.tree.leaves(primals)
    rows = [
        jax.tree.unflatten(subject.treedef, [_changed(x, n) if i in keys else x for i, x in enumerate(leaves)])
        for n in (None, 1, 2)
    ]
    split = [split_arrays(subject, row) for row in rows]
    held = [i for i, kind in enumerate(subject.kinds) if kind == "held"]
    axes: list[int | None] = [0 if i in keys else None for i in held]
    stacked = [
        jnp.stack(column) if axis == 0 else column[0]
        for axis, column in zip(axes, zip(*(h for _, h in split), strict=True), strict=True)
    ]
    single = subject.compiled("value", lambda: plain_value(subject))
    mapped = subject.compiled(
        "vmap over keys:value",
        lambda: jax.jit(jax.vmap(single, in_axes=(None, axes), axis_size=3), compiler_options=FAST_COMPILE),
    )

    def loop() -> Any:
        return [jnp.stack(column) for column in zip(*(single(*arguments) for arguments in split), strict=True)]

    right = attempt(lambda: mapped(split[0][0], stacked))
    return Routes(("one by one", "vmap over keys"), subject.array_output_paths, attempt(loop), right)


def _decided(subject: Subject, point: Point, routes: Callable[[tuple[Any, ...]], Routes]) -> Verdict:
    """
    Compare two routes; discrete values that differ must differ in 64 bits too, else rounding decided them.
    """
    verdict = agree(subject, point, routes)
    if not isinstance(verdict, Violated) or verdict.worst.difference is None:
        return verdict
    with jax.enable_x64(True):
        leaves, treedef = jax.tree.flatten(point.primals)
        other = routes(jax.tree.unflatten(treedef, wide(leaves)))
    if isinstance(other.left, Raised) or isinstance(other.right, Raised):
        return Undecided("the routes raise in another precision")
    pairs = dict(zip(other.paths, zip(other.left, other.right, strict=True), strict=True))
    left, right = (np.asarray(x) for x in pairs[verdict.worst.leaf])
    if jnp.issubdtype(left.dtype, jnp.inexact) or not np.array_equal(left, right):
        return verdict
    return Undecided("discrete values differ in one precision only: rounding decided them")
