"""The exceptions and warnings of autoprop: a wrong call and a wrong derivative are different errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._finding import Finding

__all__ = ["AutopropError", "AutopropWarning", "CorpusError", "Falsified", "UsageError"]


class AutopropError(Exception):
    """
    The root of everything that autoprop raises.
    """


class UsageError(AutopropError, ValueError):
    """
    The call is wrong. The message names the argument, its value, what it should be and the remedy.
    """


class CorpusError(AutopropError, ValueError):
    """
    A corpus file is refused or does not match its test. The message names the file and the reason.
    """


class Falsified(AutopropError, AssertionError):  # noqa: N818  the word for a law that fails
    """
    A law is violated: the derivative under test is wrong.

    Each law raises a subclass of its own, so that Hypothesis keeps the failures of several laws apart.

    Attributes:
        finding: the `Finding` that the message describes, as data.
    """

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding


class AutopropWarning(UserWarning):
    """
    Something was not decided, not saved or not selected; nothing passes silently.
    """
