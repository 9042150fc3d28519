"""The screen accuses what is planted, and leaves the sound alone; confirmation clears the rest."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.custom_derivatives import linear_call

from autoprop import Settings, Target, Violated
from autoprop._search.confirm import Confirm
from autoprop._search.screen import Batch, Scored, Screen, draw
from autoprop._search.signatures import slots
from autoprop._search.tally import Tally
from autoprop.properties import LAWS
from hypothesis_jax import array, like
from zoo import FAULTS, SOUND, Planted, Sound

SCREENED = [name for name, law in LAWS.items() if law.screen is not None]


def screened(entry: Planted | Sound, name: str, rows: int = 96) -> tuple[Batch, Any, Any]:
    """Return a batch of an entry's first signature, which values are finite, and the law's scores."""
    slot = slots(Target(entry.fn, like(*entry.args), **entry.contract), Settings(signatures=1))[0]
    batch = draw(slot, rows, 0)
    scored = Screen(slot, [LAWS[name]]).scores(batch)
    assert scored is not None
    finite, scores, _ = scored
    return batch, finite, scores[name]


PLANTED = [
    pytest.param(entry, id=f"{entry.law}-{entry.name}")
    for entry in FAULTS
    if entry.law in SCREENED
    and LAWS[entry.law].probes != "all"  # judged at each family, accused or not
    and entry.law != "adjoint"  # not batchable
    and entry.name != "square of masked"  # NaN only
]


@pytest.mark.parametrize("entry", PLANTED)
def test_planted_faults_are_accused(entry: Planted) -> None:
    """The screen may accuse wrongly, but it must not miss: some row of each planted fault has a positive score."""
    batch, finite, scores = screened(entry, entry.law)
    assert np.any(scores[batch.usable & finite] > 0)


FOR_THE_JUDGE = ("Taylor terms", "quantised")  # one cancels near 0, the other jumps
TYPICAL = [
    entry for entry in SOUND if entry.law in SCREENED and entry.law != "live" and entry.name not in FOR_THE_JUDGE
]


@pytest.mark.parametrize("entry", TYPICAL, ids=lambda entry: f"{entry.law}-{entry.name}")
def test_sound_functions_are_left_alone(entry: Sound) -> None:
    """Typical rows of a sound function have no positive score."""
    batch, finite, scores = screened(entry, entry.law)
    typical = np.array([family == "typical" for family in batch.sample.families])
    assert typical.any()
    assert not np.any(scores[typical & batch.usable & finite] > 0)


def test_live_scores_each_leaf() -> None:
    """A law that asks for one good point has a score for each leaf: the dead one fails at every row."""

    def fn(params: Any) -> Any:
        return jnp.sum(params["a"] ** 2 * jax.lax.stop_gradient(params["b"]))

    example = {"a": np.ones(3, np.float32), "b": np.ones(3, np.float32)}
    slot = slots(Target(fn, like(example), live="params"), Settings(signatures=1))[0]
    batch = draw(slot, 64, 0)
    scored = Screen(slot, [LAWS["live"]]).scores(batch)
    assert scored is not None
    assert list(np.min(scored.scores["live"], axis=0)) == [0, 1]


def test_what_cannot_be_batched() -> None:
    """A function that no batch can run is told as such, and there are no scores."""

    def fn(x: Any) -> Any:
        return linear_call(lambda s, v: s * v, lambda s, c: s * c, jnp.float32(3), x)

    slot = slots(Target(fn, (array("n"),)), Settings(signatures=1))[0]
    screen = Screen(slot, [LAWS["numeric"]])
    assert screen.scores(draw(slot, 8, 0)) is None
    assert screen.error == "fn cannot be batched: NotImplementedError"


@pytest.mark.parametrize(("fn", "expected"), [(jnp.sum, False), (jnp.nansum, True)])
def test_nan_rows(fn: Any, expected: bool) -> None:
    """Rows with NaN are used only for a function that tests its argument for NaN."""
    slot = slots(Target(lambda x: fn(x), (array("n"),)), Settings(signatures=1))[0]
    batch = draw(slot, 96, 0)
    odd = ~batch.finite
    assert odd.any()
    assert bool(np.any(batch.usable[odd])) is expected
    assert np.all(batch.usable[batch.finite])


def test_points_are_rows() -> None:
    """A row taken out alone is the row of the batch, with its seed and family."""
    slot = slots(Target(lambda x, i: x * i, (array("n"), 3)), Settings(signatures=1))[0]
    batch = draw(slot, 16, 5)
    point = batch.point(7)
    assert (point.seed, point.family) == (batch.seeds[7], batch.sample.families[7])
    np.testing.assert_array_equal(point.primals[0], np.asarray(batch.sample.tree[0])[7])


def test_confirmation_clears_false_accusations() -> None:
    """Accused points of a sound function are judged alone, counted as holding, and none is reported."""
    slot = slots(Target(lambda x: jnp.sum(jnp.sin(x)), (array("n"),)), Settings(signatures=1))[0]
    batch, tally = draw(slot, 32, 0), Tally()
    scores = {"numeric": np.ones((32, 2))}
    confirm = Confirm(slot, tally)
    found = list(confirm.batch(batch, Scored(np.ones(32, bool), scores, {}), [LAWS["numeric"]], False, lambda: False))
    counts = tally.counts(["numeric"])["numeric"]
    assert found == []
    assert (counts.holds, counts.violated) == (4, 0)
    assert counts.undecided == np.sum(batch.usable & batch.finite) - 4


def test_confirmation_reports_the_guilty() -> None:
    """An accused point that is wrong alone is reported with its verdict, once."""

    @jax.custom_jvp
    def wrong(x: Any) -> Any:
        return x

    wrong.defjvp(lambda p, t: (p[0], 2 * t[0]))
    slot = slots(Target(wrong, (array("n"),)), Settings(signatures=1))[0]
    batch, tally = draw(slot, 32, 0), Tally()
    scores = {"numeric": np.ones((32, 2))}
    confirm = Confirm(slot, tally)
    found = list(confirm.batch(batch, Scored(np.ones(32, bool), scores, {}), [LAWS["numeric"]], False, lambda: False))
    assert [(law.name, type(verdict)) for law, _, verdict in found] == [("numeric", Violated)]
    assert tally.counts(["numeric"])["numeric"].violated == 1


def test_confirmation_stops_when_it_is_late() -> None:
    """With no time left nothing is judged, and what was accused is counted as undecided."""
    slot = slots(Target(lambda x: jnp.sum(x), (array("n"),)), Settings(signatures=1))[0]
    batch, tally = draw(slot, 16, 0), Tally()
    confirm = Confirm(slot, tally)
    scored = Scored(np.ones(16, bool), {"numeric": np.ones((16, 2))}, {})
    assert list(confirm.batch(batch, scored, [LAWS["numeric"]], True, lambda: True)) == []
    counts = tally.counts(["numeric"])["numeric"]
    assert (counts.holds, counts.violated) == (0, 0)
    assert list(counts.reasons) == ["suspected by the screen, but not judged alone"]


def test_unsuspected_rows_hold() -> None:
    """Rows with no positive score count as holding without being judged alone."""
    slot = slots(Target(lambda x: jnp.sum(x), (array("n"),)), Settings(signatures=1))[0]
    batch, tally = draw(slot, 16, 0), Tally()
    scored = Scored(np.ones(16, bool), {"adjoint": np.zeros((16, 1))}, {})
    assert list(Confirm(slot, tally).batch(batch, scored, [LAWS["adjoint"]], False, lambda: False)) == []
    assert tally.counts(["adjoint"])["adjoint"].holds == np.sum(batch.usable & batch.finite)
