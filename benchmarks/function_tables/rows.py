"""The rows of the tables, and the targets that they stand for."""

import functools
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import attrs
import jax.numpy as jnp

from autoprop import Target
from hypothesis_jax import array, labels, mask, positive, real, spd, unit_interval

N, M, ND, SQUARE, SCALAR = array("n"), array("m"), array("n d"), array("n n"), array("")
POSITIVE = array("n", support=positive)
COUNT = array("n", support=real(0.0, None))
UNIT = array("n", support=unit_interval)
SIGN = array("n", support=real(-1.0, 1.0))
COMPLEX = array("n", jnp.complex64)
MASK = array("n", bool, support=mask)
SPD = array("n n", support=spd)
INDICES = labels("m", below="n")


@attrs.frozen
class Row:
    """
    How a function is called.

    Attributes:
        spec: the specs of its arguments.
        call: calls the function, its first argument, with the others; None: it is called with them as they are.
        contract: further options of `Target`.
    """

    spec: tuple[Any, ...]
    call: Callable[..., Any] | None
    contract: Mapping[str, Any]

    def target(self, fn: Callable[..., Any], name: str) -> Target:
        """
        Return the target of a function.
        """
        called = fn if self.call is None else functools.partial(self.call, fn)
        return Target(called, self.spec, name=name, **self.contract)


def row(*spec: Any, call: Callable[..., Any] | None = None, **contract: Any) -> Row:
    """
    Return a row of these specs.
    """
    return Row(spec, call, contract)


def rows(names: str, *spec: Any, call: Callable[..., Any] | None = None, **contract: Any) -> dict[str, Row]:
    """
    Return the same row for each of several names.
    """
    return dict.fromkeys(names.split(), row(*spec, call=call, **contract))


def find(module: ModuleType, name: str) -> Callable[..., Any] | None:
    """
    Return a function of a module by its dotted name, or None.
    """
    try:
        found: Callable[..., Any] = functools.reduce(getattr, name.split("."), module)
    except AttributeError:
        return None
    return found


def survey(
    module: ModuleType, prefix: str, table: Mapping[str, Row], not_everywhere: frozenset[str] = frozenset()
) -> Iterator[Target]:
    """
    Yield a target for each row; what the installed version lacks must be among those not found in every version.

    Raises:
        AttributeError: the module lacks another function of the table.
    """
    for name, each in table.items():
        fn = find(module, name)
        if fn is not None:
            yield each.target(fn, f"{prefix}.{name}")
        elif name not in not_everywhere:
            raise AttributeError(f"{prefix} has no {name!r}: correct the table, or add it to NOT_EVERYWHERE")
