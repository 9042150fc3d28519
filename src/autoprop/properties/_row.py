"""One point as the screen sees it: what laws share inside the program that is compiled for many points at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp

from .._pairing import absolute_terms, pair
from .._point import direction
from .._subject import Subject
from ..oracles.automatic import forward_mode, reverse_mode
from ..oracles.gradient import gradient_of
from ..oracles.paired import paired

__all__ = ["Row"]


class Row:
    """
    One point inside the screening program. Everything is traced; what no law asks for is never computed.

    Attributes:
        subject: the target at the signature being screened.
        moved: the moved leaves.
        held: the held leaves.
        tangents: a relative direction for the moved leaves.
        cotangents: cotangents of the inexact outputs.
    """

    def __init__(self, subject: Subject, moved: Any, held: Any, tangents: Any, cotangents: Any) -> None:
        self.subject, self.moved, self.held = subject, moved, held
        self.tangents, self.cotangents = tangents, cotangents

    def f(self, moved: Sequence[Any]) -> list[Any]:
        """
        The function under test.
        """
        return self.subject.f(moved, self.held)

    @cached_property
    def g(self) -> Any:
        """
        The function whose derivative is meant: with stopped values held at this point, if stops are intended.
        """
        return paired(self.f, self.moved) if "stop_gradient" in self.subject.target.intended else self.f

    @cached_property
    def value(self) -> list[Any]:
        """
        The inexact outputs.
        """
        return self.f(self.moved)

    @cached_property
    def is_finite(self) -> Any:
        """
        Whether every output is finite.
        """
        return jnp.all(jnp.array([jnp.all(jnp.isfinite(y)) for y in self.value] or [True]))

    @cached_property
    def forward(self) -> list[Any] | None:
        """
        J·v by forward mode, or None where there is none.
        """
        return forward_mode(self.f, self.moved, self.tangents)

    @cached_property
    def reverse(self) -> list[Any] | None:
        """
        Jᵀ·u by reverse mode, or None where there is none.
        """
        return reverse_mode(self.f, self.moved, self.cotangents)

    @cached_property
    def second(self) -> Row:
        """
        The same point of the gradient: its derivatives are the second ones. The cotangents scale with the data, as
        tangents do.
        """
        other = []
        for path, x in zip(self.subject.moved_paths, self.moved, strict=True):
            r = jnp.asarray(direction(0, f"second:{path}", jnp.shape(x)), x.dtype)
            size = jnp.abs(x).astype(x.dtype)
            other.append(r * jnp.where(jnp.isfinite(size), jnp.where(size > 0, size, 1), 0))
        return Row(gradient_of(self.subject), self.moved, self.held, self.tangents, other)

    @cached_property
    def has_derivative(self) -> bool:
        """
        Whether forward or reverse mode is there.
        """
        return self.forward is not None or self.reverse is not None

    def shifted(self, t: Any) -> list[Any]:
        """
        Return x + t·v.
        """
        return [x + jnp.asarray(t, x.dtype) * v for x, v in zip(self.moved, self.tangents, strict=True)]

    def along(self, t: Any) -> Any:
        """
        Return φ(t) = ⟨u, g(x + t·v)⟩.
        """
        return pair(self.cotangents, self.g(self.shifted(t)))

    def slope_along(self, t: Any) -> Any:
        """
        Return φ'(t) by automatic differentiation, forward where there is forward mode.
        """
        x = self.shifted(t)
        if self.forward is not None:
            return pair(self.cotangents, jax.jvp(self.g, (x,), (self.tangents,))[1])
        return pair(jax.vjp(self.g, x)[1](self.cotangents)[0], self.tangents)

    @cached_property
    def magnitude(self) -> Any:
        """
        Σ|u·f|, the size against which φ rounds.
        """
        return absolute_terms(self.cotangents, self.value)

    @cached_property
    def sensitivity(self) -> Any:
        """
        Σ|Jᵀu·x| (or a bound from the tangents' side), the size against which rounding of the arguments moves φ.
        """
        if self.reverse is not None:
            return absolute_terms(self.reverse, self.moved)
        assert self.forward is not None
        return absolute_terms(self.cotangents, self.forward)
