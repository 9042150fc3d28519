"""The counts that a search keeps."""

from __future__ import annotations

from autoprop import Counts, Holds, Mismatch, Undecided, Violated
from autoprop._search.tally import Tally

VIOLATED = Violated((Mismatch("x", (), (), None, None, ""),))


def test_counts() -> None:
    """Each verdict is counted under its law, each reason under its own words."""
    tally = Tally()
    tally.add("jit", Holds(), 3)
    tally.add("jit", VIOLATED)
    tally.add("jit", Undecided("noise"), 2)
    tally.add("jit", Undecided("a jump"))
    tally.add("vmap", Holds())
    found = tally.counts(["jit", "vmap", "live"])
    assert found["jit"] == Counts(holds=3, violated=1, undecided=3, reasons={"noise": 2, "a jump": 1})
    assert (found["jit"].decided, found["vmap"].holds) == (4, 1)
    assert found["live"] == Counts()


def test_nothing_is_not_counted() -> None:
    """No points, no counts, no reason."""
    tally = Tally()
    tally.add("jit", Undecided("noise"), 0)
    assert tally.counts(["jit"])["jit"] == Counts()


def test_not_applicable() -> None:
    """A law that does not apply says why."""
    tally = Tally()
    tally.rule_out("live", "no live leaf")
    assert tally.counts(["live"])["live"].not_applicable == "no live leaf"


def test_remarks() -> None:
    """One remark on a law is kept, the first."""
    tally = Tally()
    tally.add("finite", Holds())
    assert not tally.has_remark("finite")
    tally.add("finite", Holds("hides one"))
    tally.add("finite", Holds("hides another"))
    assert tally.has_remark("finite")
    assert tally.counts(["finite", "jit"]) == {"finite": Counts(holds=3, remark="hides one"), "jit": Counts()}
