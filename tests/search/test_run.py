"""Whole searches: what they find, what it shrinks to, and what they say meanwhile."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import strategies as st

from autoprop import Checked, Found, Holds, Outcome, Settings, Target, UsageError, search
from autoprop._search import explore
from autoprop._search.rows import spread
from autoprop._search.screen import draw
from autoprop._search.signatures import slots
from autoprop.properties import LAWS
from hypothesis_jax import array, arrays, like, mask

pytestmark = pytest.mark.slow

ONE = Settings(examples=128, signatures=1)
TWO = Settings(examples=384, signatures=2)


def derived(value: Any, derivative: Any) -> Any:
    """Return a function with a derivative of its own."""
    f = jax.custom_jvp(value)
    f.defjvp(lambda p, t: (value(*p), derivative(p[0]) * t[0]))
    return f


def look(fn: Any, *args: Any, law: str | None, settings: Settings = ONE, **contract: Any) -> Outcome:
    """Search fn for one law."""
    target = Target(fn, args, properties=None if law is None else (law,), **contract)
    return search(target, settings=settings)


def smallest(outcome: Outcome) -> list[Any]:
    """Return the primals of the only finding, as lists."""
    (finding,) = outcome.findings
    return [np.asarray(leaf).tolist() for leaf in finding.point.primals]


root = derived(lambda x: jnp.sqrt(1 + x**2), lambda x: jnp.where(x > 1000, -1, 1) * x / jnp.sqrt(1 + x**2))


def norm_squared(x: Any) -> Any:
    """A smooth function through a square root."""
    return jnp.sqrt(jnp.sum(x**2)) ** 2


@jax.custom_jvp
def largest(x: Any) -> Any:
    """A maximum that gives each of several equal maxima the whole gradient."""
    return jnp.max(x)


largest.defjvp(lambda p, t: (largest(*p), jnp.sum(jnp.where(p[0] == jnp.max(p[0]), t[0], 0))))


def test_shrinks_a_threshold() -> None:
    """A wrong sign beyond 1000 shrinks to the first integer beyond it, in a vector of one."""
    assert smallest(look(lambda x: jnp.sum(root(x)), array("n"), law="numeric")) == [[1001.0]]


def test_shrinks_to_a_scalar() -> None:
    """The same for a scalar."""
    assert smallest(look(root, array(""), law="numeric")) == [1001.0]


def test_shrinks_to_zero() -> None:
    """NaN at 0 shrinks to a single 0."""
    assert smallest(look(norm_squared, array("n"), law="finite", settings=TWO)) == [[0.0]]


def test_shrinks_to_a_tie() -> None:
    """A fault at ties shrinks to two equal numbers."""
    assert smallest(look(largest, array("n"), law="numeric", settings=TWO)) == [[1.0, 1.0]]


def test_shrinks_shapes() -> None:
    """A fault that needs one entry of a matrix shrinks to a matrix of one."""
    outcome = look(lambda x: jnp.sum(root(x)), array("n d"), law="numeric", settings=TWO)
    assert smallest(outcome) == [[[1001.0]]]


def test_shrinks_every_leaf() -> None:
    """A leaf that has no part in the fault shrinks to nothing but zeros."""
    outcome = look(lambda x, y: jnp.sum(root(x)) + jnp.sum(y), array("n"), array("n"), law="numeric")
    assert smallest(outcome) == [[1001.0], [0.0]]


def test_shrinks_what_is_drawn() -> None:
    """A target whose arguments come from a strategy shrinks as that strategy does."""
    target = Target(
        lambda x: jnp.sum(root(x)), st.tuples(arrays(np.float32, (2,))), properties=("numeric",), name="drawn"
    )
    assert smallest(search(target, settings=ONE)) == [[0.0, 1001.0]]


def test_finding() -> None:
    """A finding says law, target, leaf and point, and its text shows the shrunk point."""
    (finding,) = look(root, array(""), law="numeric", name="root").findings
    assert (finding.property, finding.target, finding.mismatch.leaf) == ("numeric", "root", "x")
    assert "1001.0" in str(finding)


def test_same_seed_same_finding() -> None:
    """The same settings give the same findings and counts, bit for bit."""
    first, again = (look(lambda x: jnp.sum(root(x)), array("n"), law="numeric") for _ in range(2))
    assert smallest(first) == smallest(again)
    assert [f.point.seed for f in first.findings] == [f.point.seed for f in again.findings]
    assert first.counts == again.counts


def test_sound_function() -> None:
    """Nothing is found in a sound function: every law that applies decides, and none is violated."""
    outcome = look(lambda x: jnp.sum(jnp.sin(x) * x), array("n"), law=None)
    applied = {name: counts for name, counts in outcome.counts.items() if counts.not_applicable is None}
    assert outcome.findings == ()
    assert {name: counts.violated for name, counts in applied.items()} == dict.fromkeys(applied, 0)
    assert all(counts.decided > 0 for counts in applied.values())
    assert "numeric" in applied
    assert outcome.counts["frozen"].not_applicable == "the target declares no frozen leaf"


def test_counts() -> None:
    """Reasons add up to what is undecided, and a law has a finding exactly if it was violated."""
    outcome = look(lambda x: jnp.sum(root(x)) + jnp.sqrt(jnp.sum(x)), array("n"), law=None)
    assert {f.property for f in outcome.findings} == {n for n, c in outcome.counts.items() if c.violated}
    assert [sum(c.reasons.values()) for c in outcome.counts.values()] == [c.undecided for c in outcome.counts.values()]
    assert outcome.findings


def test_no_point_is_counted_twice() -> None:
    """No law has more verdicts than there were points."""
    outcome = look(lambda x: jnp.sum(jnp.sin(x)), array("n"), law="numeric")
    counts = outcome.counts["numeric"]
    assert counts.decided + counts.undecided <= outcome.points


@pytest.mark.parametrize("examples", [1, 50, 128])
def test_examples(examples: int) -> None:
    """No more points than asked for, and no fewer for a sound function."""
    assert (
        look(jnp.sum, array("n"), law="adjoint", settings=Settings(examples=examples, signatures=2)).points == examples
    )


def test_seconds() -> None:
    """A search of one second ends, not at once after it (compilation), but in a time that one would wait."""
    start = time.perf_counter()
    outcome = look(lambda x: jnp.sum(jnp.sin(x)), array("n"), law="numeric", settings=Settings(seconds=1))
    assert time.perf_counter() - start < 30
    assert outcome.points > 0


def test_events() -> None:
    """A search yields what it finds and, last, its final counts."""
    target = Target(lambda x: jnp.sum(root(x)), (array("n"),), properties=("numeric",), name="root")
    events = list(explore(target, ONE))
    assert [type(event) for event in events if isinstance(event, Found)] == [Found]
    assert isinstance(events[-1], Checked)
    assert [event.done for event in events if isinstance(event, Checked)][-1]
    assert sum(event.done for event in events if isinstance(event, Checked)) == 1
    assert (events[-1].target, events[-1].counts["numeric"].violated > 0) == ("root", True)


def test_explore_for_other_laws() -> None:
    """The caller may ask for other laws than the target's own."""
    target = Target(lambda x: jnp.sum(x), (array("n"),), properties=("numeric",))
    last = list(explore(target, Settings(examples=8, signatures=1), properties=("stop_identity",)))[-1]
    assert isinstance(last, Checked)
    assert list(last.counts) == ["stop_identity"]


def test_each_violated_law_is_found_once() -> None:
    """One finding for each law, however many points break it: of the function, and of the rule alone."""
    outcome = look(lambda x: jnp.sum(derived(lambda v: v, lambda v: 2 + 0 * v)(x)), array("n"), law=None)
    assert [f.property for f in outcome.findings] == ["numeric", "custom_rule"]


def test_live_needs_every_point_to_fail() -> None:
    """A rectifier that is dead at some points is alive."""
    outcome = look(lambda w, x: jnp.sum(jax.nn.relu(w * x)), array("n"), array("n"), law="live", live="w")
    assert outcome.findings == ()
    assert outcome.counts["live"].holds > 0


def test_live_is_violated_where_every_point_fails() -> None:
    """A leaf behind a stop is dead at every point."""
    outcome = look(lambda w: jnp.sum(jax.lax.stop_gradient(w)), array("n"), law="live", live="w")
    assert [f.mismatch.leaf for f in outcome.findings] == ["w"]


def test_live_of_drawn_arguments() -> None:
    """With arguments from a strategy, too, `live` needs every point to fail."""
    args = st.tuples(arrays(np.float32, (2,)))
    target = Target(lambda w: jnp.sum(jax.nn.relu(w)), args, live="w", properties=("live",))
    assert search(target, settings=ONE).findings == ()


def test_drawn_arguments_on_which_the_function_raises() -> None:
    """A function that raises on everything its strategy draws is a wrong call."""

    def broken(x: Any) -> Any:
        raise KeyError("weights")

    with pytest.raises(UsageError, match="raises on every input that its strategy draws"):
        search(Target(broken, st.tuples(arrays(np.float32, (2,)))), settings=ONE)


def test_the_only_input_raises() -> None:
    """A function that raises on the one input its strategy can draw is a wrong call too."""

    def broken(x: Any) -> Any:
        raise KeyError("weights")

    with pytest.raises(UsageError, match="raises on every input that its strategy draws"):
        search(Target(broken, st.tuples(st.just(np.ones(2, np.float32)))), settings=ONE)


def test_drawn_arguments_are_a_tuple() -> None:
    """A strategy that draws one array is told to draw the tuple of arguments."""
    with pytest.raises(UsageError, match=r"must be the tuple of arguments; wrap the strategy in st.tuples"):
        search(Target(jnp.sum, arrays(np.float32, (2,))), settings=ONE)


def test_a_law_asked_for_must_apply() -> None:
    """A law that was asked for by name and does not apply is a wrong call."""
    with pytest.raises(UsageError, match="the law 'frozen' was asked for but does not apply"):
        look(jnp.sum, array("n"), law="frozen")


def test_unknown_law() -> None:
    """A law that does not exist is named, with its likes."""
    with pytest.raises(UsageError, match="'numerical' is not a law; did you mean numeric"):
        look(jnp.sum, array("n"), law="numerical")


def test_a_function_that_cannot_be_batched() -> None:
    """A function that vmap refuses is judged point by point."""
    from jax.custom_derivatives import linear_call

    def fn(x: Any) -> Any:
        return linear_call(lambda s, v: s * v, lambda s, c: c, jnp.float32(3), x)

    outcome = look(fn, array("n"), law="adjoint", settings=Settings(examples=16, signatures=1))
    assert [f.property for f in outcome.findings] == ["adjoint"]


def test_nan_entries_where_they_are_meant() -> None:
    """A mean that ignores NaN is tried with NaN, and its gradient there is found."""
    outcome = look(lambda x: jnp.nansum(x**2), array("n"), law="finite")
    (finding,) = outcome.findings
    assert np.isnan(np.asarray(finding.point.primals[0])).any()


def test_no_nan_where_it_is_not_meant() -> None:
    """A plain square is not blamed for the NaN it is not asked about."""
    assert look(lambda x: jnp.sum(x**2), array("n"), law="finite").findings == ()


def test_masks_are_held() -> None:
    """Boolean leaves vary and are not differentiated."""

    def fn(x: Any, keep: Any) -> Any:
        return jnp.sum(jnp.where(keep, jnp.sqrt(jnp.abs(x) + jnp.where(keep, 1, 0)), 0))

    outcome = look(fn, array("n"), array("n", bool, support=mask), law="finite", settings=TWO)
    assert smallest(outcome) == [[0.0], [False]]


def test_examples_as_spec() -> None:
    """Typical arguments are spec enough."""
    target = Target(norm_squared, like(np.array([1.0, 2.0], np.float32)), properties=("finite",))
    (finding,) = search(target, settings=TWO).findings
    assert not np.any(np.asarray(finding.point.primals[0]))


def test_64_bits() -> None:
    """With 64-bit dtypes on, a small fault is found in float64, and no sound function is accused."""
    with jax.enable_x64(True):
        wrong = derived(jnp.sin, lambda x: jnp.cos(x) * (1 + 1e-5))
        found = look(lambda x: jnp.sum(wrong(x)), array("n", np.float64), law="numeric")
        sound = look(lambda x: jnp.sum(jnp.sin(x)), array("n", np.float64), law="numeric")
    assert [f.point.primals[0].dtype for f in found.findings] == [np.float64]
    assert sound.findings == ()


def test_the_public_name_is_the_function() -> None:
    """`autoprop.search` is the function also after another name was used first."""
    code = "import autoprop; autoprop.check; autoprop.Outcome; print(callable(autoprop.search))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "True"


def test_the_example_is_judged_first() -> None:
    """Laws that are judged point by point look at the example before anything drawn."""
    target = Target(lambda x: jnp.sum(x), like(np.array([0.25, 0.5], np.float32)))
    batch = draw(slots(target, Settings())[0], 64, 0)
    first = batch.point(spread(batch, 4, LAWS["jit"])[0])

    assert np.asarray(first.primals[0]).tolist() == [0.25, 0.5]


def late_mask(x: Any) -> Any:
    """A NaN at zeros alone, stopped away."""
    return jnp.sum(jnp.where(x != 0, x, jax.lax.stop_gradient(jnp.sqrt(jnp.abs(x)) * 0)))


@pytest.mark.parametrize("intended", [(), ("stop_gradient",)])
def test_what_a_stop_hides_is_remarked(intended: Any) -> None:
    """Among many rows the screen finds the one at which a stop hides a NaN; that is no finding."""
    found = look(late_mask, array("n"), law="finite", settings=TWO, intended=intended)
    counts = found.counts["finite"]
    assert (found.findings, counts.violated, counts.reasons) == ((), 0, {})
    assert "the reverse derivative of x[0] is nan" in counts.remark
    assert "at x = jnp.array([0.0" in counts.remark


def test_one_remark_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once there is a remark, no more points are judged for one."""
    judged: list[Any] = []
    monkeypatch.setattr("autoprop._search.confirm.judged", lambda law, slot, point: judged.append(point) or Holds("r"))
    found = look(late_mask, array("n"), law="finite", settings=Settings(examples=2000, signatures=3))
    assert found.counts["finite"].remark == "r"
    assert 1 <= len(judged) <= 2


def test_drawn_arguments_are_remarked() -> None:
    """Points that Hypothesis draws one by one have remarks too."""
    target = Target(late_mask, st.tuples(arrays(np.float32, (2,))), properties=("finite",))
    assert "stop_gradient (" in search(target).counts["finite"].remark


def target_network(params: Any, target: Any, s: Any) -> Any:
    """A squared error with a target network."""
    return jnp.mean((jnp.tanh(s @ params) - jax.lax.stop_gradient(1 + 0.9 * jnp.tanh(s @ target))) ** 2)


def test_sound_stops_have_no_remark() -> None:
    """A target network hides nothing, on any row."""
    contract = {"intended": "stop_gradient", "frozen": "target"}
    found = look(target_network, array("d"), array("d"), array("n d"), law="finite", settings=TWO, **contract)
    assert (found.findings, found.counts["finite"].remark) == ((), "")
    assert found.counts["finite"].holds > 100
