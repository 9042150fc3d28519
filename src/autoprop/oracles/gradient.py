"""The gradient of a subject as a function under test itself: its derivatives are the second ones of the subject."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from .._pairing import cotangents
from .._subject import Subject
from .automatic import missing_mode

__all__ = ["Gradient", "gradient_of", "why_no_second"]


class Gradient(Subject):
    """
    The subject whose function is x ↦ Jᵀ(x)·u, for fixed cotangents u (1 for a scalar loss).

    Every oracle that takes a subject takes this one, so a law of second derivatives is a law of first ones of it.

    Attributes:
        whole: the subject whose gradient it is.
    """

    def __init__(self, whole: Subject) -> None:
        self.__dict__.update(whole.__dict__)
        self.whole = whole
        self.target = whole.target.replace(has_aux=False)
        self.memo = {}
        self._outputs = [
            jax.eval_shape(jnp.asarray, leaf)
            for leaf, kind in zip(whole.leaves, whole.kinds, strict=True)
            if kind == "moved"
        ]

    def f(self, moved: Sequence[Any], held: Sequence[Any]) -> list[Any]:
        """
        Return Jᵀ·u.
        """
        value, pull = jax.vjp(lambda m: self.whole.f(m, held), list(moved))
        found: list[Any] = pull(cotangents(self.whole, 0, [y.dtype for y in value]))[0]
        return found

    @property
    def output_paths(self) -> list[str]:
        """
        Paths of the leaves of the gradient.
        """
        return [f"gradient of {path}" for path in self.moved_paths]

    @property
    def is_scalar_loss(self) -> bool:
        """
        A gradient is never asked for as a loss: its cotangents are random.
        """
        return False


def gradient_of(subject: Subject) -> Gradient:
    """
    Return the gradient of a subject, made once.
    """
    if "gradient" not in subject.memo:
        subject.memo["gradient"] = Gradient(subject)
    found: Gradient = subject.memo["gradient"]
    return found


def why_no_second(subject: Subject) -> str | None:
    """
    Return why a subject has no second derivatives, or None where it has.
    """
    if missing_mode(subject)["reverse"]:
        return "the function has no reverse mode of differentiation"
    absent = missing_mode(gradient_of(subject))
    return "the gradient itself has no derivative" if all(absent.values()) else None
