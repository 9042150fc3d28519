"""Whole runs with the real search: planted faults are found, saved, replayed first, and pass once mended."""

import pytest

SOURCE = """
    import jax, jax.numpy as jnp, numpy as np
    import autoprop
    from autoprop import Settings, verify
    from hypothesis import given, settings, strategies as st
    from hypothesis.extra.numpy import arrays
    from hypothesis_jax import array

    SIGN = -1.0

    @jax.custom_vjp
    def square(x):
        return jnp.sum(x * x)

    square.defvjp(lambda x: (square(x), x), lambda x, g: (SIGN * 2 * g * x,))

    def norm(x):
        s = jnp.sum(x * x)
        return jnp.sqrt(s) if SIGN < 0 else jnp.where(s > 0, jnp.sqrt(jnp.where(s > 0, s, 1.0)), 0.0)

    small = Settings(examples=32, rows=32, signatures=1)
    test_square = verify(square, array("n"), properties=("structure", "numeric"), settings=small)

    @verify(array("n"), properties=("finite", "numeric"), settings=small)
    def test_both(x):
        return norm(x) + square(x - 1.0)

    @given(arrays(np.float32, (2,), elements=st.integers(-3, 3), fill=st.nothing()))
    @settings(deadline=None)
    def test_given(x):
        autoprop.properties.finite(norm, jnp.asarray(x))
"""
FAULTS = {"test_square[numeric]", "test_both[finite]", "test_both[numeric]", "test_given"}


@pytest.fixture(scope="module")
def runs(module_project):
    """
    Return three runs, with faults, again, mended; and the cases after the first and the second.
    """
    module_project.write("test_a.py", SOURCE)
    first, cases = module_project.run("-n", "2"), module_project.cases()
    second, again = module_project.run(), module_project.cases()
    module_project.replace("test_a.py", "SIGN = -1.0", "SIGN = 1.0")
    return first, cases, second, again, module_project.run("-n", "2")


def failed(result):
    """
    Return the items that failed.
    """
    return {name for name, outcome in result.outcomes.items() if outcome == "failure"}


def test_every_fault_is_found(runs):
    """Each planted fault fails the items of the laws it breaks, two at once too, and no other item."""
    assert failed(runs[0]) == FAULTS


def test_every_fault_is_saved(runs):
    """Each violated law of each test is one case."""
    assert sorted(case.split("/")[2].split("-")[1] + " " + case.split("/")[3].split("-")[0] for case in runs[1]) == [
        "test_both finite",
        "test_both numeric",
        "test_given given",
        "test_square numeric",
    ]


def test_second_run_replays_first_and_saves_nothing_new(runs):
    """Every case fails again before the search, which finds the same again, in one process as in two."""
    _, cases, second, again, _ = runs
    replayed = [name.partition("[")[0] for name in list(second.outcomes)[:4]]
    assert (replayed, failed(second) - set(list(second.outcomes)[:4]), again) == (
        ["test_square", "test_both", "test_both", "test_given"],
        FAULTS,
        cases,
    )


def test_mended_faults_pass(runs):
    """After the fix every case and every law passes."""
    assert (failed(runs[4]), len(runs[4].outcomes)) == (set(), len(runs[2].outcomes))
