"""The law `lattice`: a random stack of transforms changes nothing."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from .._point import Point
from .._subject import Subject
from .._verdict import Holds, Undecided, Verdict, Violated
from ..oracles.automatic import missing_mode
from ..oracles.bounded import fast
from ._law import law
from ._transformed import Function, at, derivative, transformed
from .numeric import applies_to_values

__all__ = ["lattice"]

LENGTH = 4  # transforms in a stack
ORDERS = 64  # orders that are tried for one in which each transform has the mode that it needs
NEIGHBOUR = 1.125  # the other row of a batch, as a multiple of the point

Stack = tuple[str, ...]  # names of transforms, the innermost first


@law("transforms", applies=applies_to_values, once=True)
def lattice(subject: Subject, point: Point) -> Verdict:
    """
    grad(T₁(T₂(…(f))))(x) = grad f(x) for transforms T that compute f, and the value with it, up to rounding

    The transforms are jit, vmap over a dummy axis, remat, scan with f as its body, and functions whose custom rule is
    f's own derivative: by `jax.jvp`, by `jax.linearize`, by `jax.vjp`, and by the JVP of the VJP. The point's seed
    puts them in a random order, which is cut into stacks of four; of a stack that fails, the shortest part that fails
    is reported. Where there is no reverse mode, Jv is compared.

    **Catches** what goes wrong inside of a loop or under a second transform only: rules that fail when they are batched
    and differentiated, carried state, residuals that a loop cannot stack.

    **Does not catch** faults that need a longer stack, or another order than the drawn one.
    """
    verdicts = [_judge(subject, point, stack) for stack in _stacks(subject, point.seed)]
    for kind in (Violated, Holds):
        for verdict in verdicts:
            if isinstance(verdict, kind):
                return verdict
    return verdicts[0] if verdicts else Undecided("no transform keeps the mode of differentiation that is there")


def _judge(subject: Subject, point: Point, stack: Stack) -> Verdict:
    """
    The verdict on a stack; on the shortest of its parts that fails, if it fails; on its single transforms, if JAX
    cannot stack them.
    """
    whole = _stacked(subject, point, stack)
    if isinstance(whole, Holds):
        return whole
    longest = len(stack) if isinstance(whole, Violated) else 2
    parts = [part for n in range(1, longest) for part in itertools.combinations(stack, n) if _is_legal(subject, part)]
    found: list[Verdict] = [whole]
    for part in parts:
        verdict = _stacked(subject, point, part)
        if isinstance(verdict, Violated):
            return verdict
        found.append(verdict)
    if isinstance(whole, Violated):
        return whole
    return next((verdict for verdict in found if isinstance(verdict, Holds)), whole)


def _stacked(subject: Subject, point: Point, stack: Stack) -> Verdict:
    function: Function = subject.f
    name = "f"
    for transform in stack:
        function, name = _TRANSFORMS[transform](function), f"{transform}({name})"
    return transformed(subject, point, name, lambda: fast(subject, derivative(subject, function)))


def _stacks(subject: Subject, seed: int) -> Iterator[Stack]:
    """
    The transforms in a random order, cut into stacks of four.
    """
    missing = missing_mode(subject)
    needed = {"forward": _NEED_FORWARD, "reverse": _NEED_REVERSE}
    lacking = {name for mode, names in needed.items() if missing[mode] for name in names}
    if "custom_rules" in subject.target.intended:
        lacking.add("jvp_of_vjp")  # the derivative of a pullback that is not linear on purpose is another
    names = [name for name in _TRANSFORMS if name not in lacking]
    for order in range(ORDERS):
        drawn = sorted(names, key=lambda name: hashlib.sha256(f"{seed}:{order}:{name}".encode()).digest())
        stacks = [tuple(drawn[i : i + LENGTH]) for i in range(0, len(drawn), LENGTH)]
        if all(_is_legal(subject, stack) for stack in stacks):
            yield from stacks
            return


def _is_legal(subject: Subject, stack: Sequence[str]) -> bool:
    """
    Say whether each transform of a stack finds the mode of differentiation that it needs.
    """
    forward = not missing_mode(subject)["forward"]
    for name in stack:
        if name in _NEED_FORWARD and not forward:
            return False
        forward = name == "jvp_of_vjp" or (forward and name != "custom_vjp")
    return True


def _vmap(function: Function) -> Function:
    def under(moved: Any, held: Any) -> list[Any]:
        return [y[0] for y in jax.vmap(function, in_axes=(0, None))([_pair(x) for x in moved], held)]

    return under


def _scan(function: Function) -> Function:
    def under(moved: Any, held: Any) -> list[Any]:
        def body(carry: Any, row: Any) -> Any:
            return carry, function(row, held)

        return [y[0] for y in jax.lax.scan(body, (), [_pair(x) for x in moved])[1]]

    return under


def _pair(x: Any) -> Any:
    """
    A moved leaf and a constant neighbour of it: a row whose derivative nobody asks for. Weak types stay weak, which
    `jax.numpy.stack` does not promise.
    """
    return jax.lax.concatenate([x[None], jax.lax.stop_gradient(x * NEIGHBOUR)[None]], 0)


def _declared(rule: Callable[[Callable[[Any], Any], Any, Any], Any]) -> Callable[[Function], Function]:
    """
    Return the transform that declares ``rule(f, moved, tangents) -> (value, Jv)`` as the JVP rule of f.
    """

    def transform(function: Function) -> Function:
        under = jax.custom_jvp(function)
        under.defjvp(lambda primals, tangents: rule(at(function, primals[1]), primals[0], tangents[0]))
        return under

    return transform


def _by_jvp(f: Callable[[Any], Any], moved: Any, v: Any) -> Any:
    return jax.jvp(f, (moved,), (v,))


def _by_linearize(f: Callable[[Any], Any], moved: Any, v: Any) -> Any:
    value, linear = jax.linearize(f, moved)
    return value, linear(v)


def _by_jvp_of_vjp(f: Callable[[Any], Any], moved: Any, v: Any) -> Any:
    """
    The pullback u ↦ Jᵀu is linear: pulling v back through it gives Jv.
    """
    value, pull = jax.vjp(f, moved)
    zero = [jnp.zeros_like(y) for y in value]

    def push(u: Any) -> Any:
        return jax.vjp(lambda c: pull(c)[0], u)[1](v)[0]

    return value, push(zero)


def _custom_vjp(function: Function) -> Function:
    under = jax.custom_vjp(function)
    under.defvjp(lambda moved, held: jax.vjp(at(function, held), moved), lambda pull, u: (pull(u)[0], None))
    return under


_TRANSFORMS: dict[str, Callable[[Function], Function]] = {
    "jit": jax.jit,
    "vmap": _vmap,
    "remat": jax.checkpoint,
    "scan": _scan,
    "custom_jvp": _declared(_by_jvp),
    "linearize": _declared(_by_linearize),
    "jvp_of_vjp": _declared(_by_jvp_of_vjp),
    "custom_vjp": _custom_vjp,
}
_NEED_FORWARD = ("custom_jvp", "linearize")
_NEED_REVERSE = ("jvp_of_vjp", "custom_vjp")
