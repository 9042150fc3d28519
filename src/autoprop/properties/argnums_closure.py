"""The law `argnums_closure`: choosing an argument is closing over the others."""

from __future__ import annotations

from typing import Any

from .._point import Point
from .._subject import Subject
from .._verdict import Verdict
from ._compare import Routes, agree, attempt
from ._law import law, undecided_if_raises
from ._parts import Place, applies_to_several, constants, in_common_modes, parts

__all__ = ["argnums_closure"]


@law("trees and argnums", applies=applies_to_several("there is no other array to close over"), once=True)
def argnums_closure(subject: Subject, point: Point) -> Verdict:
    """
    grad(f, i)(x₀, …, xₙ) = grad(xᵢ ↦ f(x₀, …, xᵢ, …, xₙ))(xᵢ)

    A partial derivative does not ask whether the other arguments are constants of the program or could move too. On one
    side everything is traced and moves; on the other one argument alone does, and the rest is compiled in. Value,
    tangent and gradient are compared, of values that are no scalars too. Of a function of one argument the leaves are
    taken one at a time.

    **Catches** rules with ``symbolic_zeros`` that mistake what is not perturbed, ``nondiff_argnums`` of the wrong
    argument, code that takes another path for concrete values, closures that kept the values of an earlier call.

    **Does not catch** derivatives that are wrong either way (`numeric`); more than the first eight arguments.
    """
    raises = undecided_if_raises(subject, point)
    if raises is not None:
        return raises
    return in_common_modes(subject, point, lambda first: _compare(subject, point, first))


def _compare(subject: Subject, point: Point, first: Place) -> Verdict:
    here = parts(subject)
    paths = [path for part in here for path in first.paths(part.leaves, f"with respect to {part.name}")]

    def routes(primals: tuple[Any, ...]) -> Routes:
        place = Place(subject, primals, point.seed, first.modes)

        def together() -> Any:
            found = []
            for part in here:
                value, forward, reverse = place.plain(place.along(part.leaves))
                found += [value, forward, [reverse[i] for i in part.leaves] if reverse else []]
            return found

        def alone() -> Any:
            return [constants(place)[part.leaves] for part in here]

        return Routes(("all arguments move", "the others are constants"), paths, attempt(together), attempt(alone))

    return agree(subject, point, routes)
