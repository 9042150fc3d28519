"""What a law says at a point."""

from __future__ import annotations

import pytest

from autoprop import Holds, Mismatch, Undecided, Violated

FAR, NEAR = (Mismatch(leaf, (), (), gap, 0.0, "") for leaf, gap in (("x", 2.0), ("y", 1.0)))


def test_the_worst_comes_first() -> None:
    """The mismatch to show is the first one."""
    assert Violated((FAR, NEAR)).worst is FAR


def test_a_violation_has_a_mismatch() -> None:
    """A law cannot be violated by nothing."""
    with pytest.raises(ValueError, match="mismatches"):
        Violated(())


def test_verdicts_are_values() -> None:
    """Verdicts compare by what they say."""
    assert Holds() == Holds()
    assert Undecided("noise") == Undecided("noise")
    assert Undecided("noise") != Undecided("a jump")
