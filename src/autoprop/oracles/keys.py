"""Which PRNG keys a program consumes, by their bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import jax
import numpy as np

from .._jaxprs import Literal, equations, evaluate, inner_program, scan_parts, subprograms, while_parts
from .._origin import is_of_jax, source_line

__all__ = ["ITERATIONS", "Uses", "consumed", "draws"]

ITERATIONS = 8  # of each loop that are run one by one; a key that is consumed in every iteration shows in the second
_CLONES = 1 << 31  # clones get bits of their own, by numbers that no program folds into a key
_CONSUMERS = frozenset({"random_bits", "random_split", "random_gamma"})

Values = list[Any]


@attrs.define
class Uses:
    """
    The keys that a program consumed.

    Attributes:
        lines: source line of each use, by the key's bits.
        is_complete: whether every iteration of every loop was followed.
        clones: how many keys were cloned.
        inside: the line that called the function of JAX's own library which is being run.
    """

    lines: dict[bytes, list[str]] = attrs.field(factory=dict)
    is_complete: bool = True
    clones: int = 0
    inside: str = ""

    @property
    def repeated(self) -> list[tuple[bytes, list[str]]]:
        """
        The keys that were consumed more than once, and where.
        """
        return [(bits, lines) for bits, lines in self.lines.items() if len(lines) > 1]


def draws(program: Any) -> bool:
    """
    Say whether a jaxpr, or an equation by itself or its inner jaxprs, consumes a key anywhere.
    """
    if not hasattr(program, "primitive"):
        return any(eqn.primitive.name in _CONSUMERS for eqn in equations(program))
    return program.primitive.name in _CONSUMERS or any(draws(inner) for inner in subprograms(program))


def consumed(closed: Any, values: Sequence[Any]) -> Uses:
    """
    Run a traced program on concrete values, operation by operation, and return which keys it drew from or split.

    Keys are told apart by their bits, so that what a static check cannot know is seen: entries of an array of keys that
    are taken by a traced index, keys that are chosen by `jax.numpy.where`. A clone counts as another key.

    Raises:
        NotImplementedError: a primitive that is not known holds draws.
    """
    uses = Uses()
    _run(closed.jaxpr, closed.consts, list(values), uses)
    return uses


def _run(jaxpr: Any, consts: Sequence[Any], values: Values, uses: Uses) -> Values:
    known: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    known.update(zip(jaxpr.invars, values, strict=True))
    for eqn in jaxpr.eqns:
        inputs = [var.val if isinstance(var, Literal) else known[var] for var in eqn.invars]
        known.update(zip(eqn.outvars, _equation(eqn, inputs, uses), strict=True))
    return [var.val if isinstance(var, Literal) else known[var] for var in jaxpr.outvars]


def _equation(eqn: Any, inputs: Values, uses: Uses) -> Values:
    name = eqn.primitive.name
    if name == "random_clone":
        uses.clones += 1
        return [_other(inputs[0], _CLONES + uses.clones)]
    if name in _CONSUMERS:
        data = np.asarray(jax.random.key_data(inputs[0]))
        for row in data.reshape(-1, data.shape[-1]):
            uses.lines.setdefault(row.tobytes(), []).append(uses.inside or source_line(eqn))
    if name in _CONSUMERS or not draws(eqn):
        return evaluate(eqn, inputs)
    if name in _LOOPS:
        return _LOOPS[name](eqn, inputs, uses)
    inner, outside = inner_program(eqn), uses.inside
    if is_of_jax(inner):  # its equations may be cached from a call elsewhere, with the lines of that call
        uses.inside = outside or source_line(eqn)
    outputs = _run(inner.jaxpr, inner.consts, inputs, uses)
    uses.inside = outside
    return outputs


def _scan(eqn: Any, inputs: Values, uses: Uses) -> Values:
    body, n_consts, n_carry, length, reverse = scan_parts(eqn)
    consts, carry, xs = inputs[:n_consts], inputs[n_consts : n_consts + n_carry], inputs[n_consts + n_carry :]
    order = range(length - 1, -1, -1) if reverse else range(length)
    for i in order[:ITERATIONS]:
        carry = _run(body.jaxpr, body.consts, [*consts, *carry, *(x[i] for x in xs)], uses)[:n_carry]
    uses.is_complete &= length <= ITERATIONS
    return evaluate(eqn, inputs)


def _while(eqn: Any, inputs: Values, uses: Uses) -> Values:
    cond, body, n_cond, n_body = while_parts(eqn)
    split = n_cond + n_body
    carry = inputs[split:]
    for _ in range(ITERATIONS):
        if not bool(_run(cond.jaxpr, cond.consts, [*inputs[:n_cond], *carry], uses)[0]):
            return carry
        carry = _run(body.jaxpr, body.consts, [*inputs[n_cond:split], *carry], uses)
    uses.is_complete = False
    return evaluate(eqn, inputs)


def _cond(eqn: Any, inputs: Values, uses: Uses) -> Values:
    branches = eqn.params["branches"]
    branch = branches[int(np.clip(int(inputs[0]), 0, len(branches) - 1))]
    return _run(branch.jaxpr, branch.consts, inputs[1:], uses)


_LOOPS = {"scan": _scan, "while": _while, "cond": _cond}


def _other(key: Any, number: int) -> Any:
    """
    Keys of the same shape with other bits.
    """
    flat = key.reshape(-1)
    return jax.vmap(lambda k: jax.random.fold_in(k, number))(flat).reshape(key.shape)
