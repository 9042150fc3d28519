"""Shrunk counterexamples of a user's own ``@given`` tests are saved, and replayed before anything new is drawn."""

import pytest

FILE = "test_a.py"
SOURCE = """
    import unittest
    import jax, jax.numpy as jnp, numpy as np, pytest
    from hypothesis import assume, example, given, note, settings, strategies as st
    from hypothesis.extra.numpy import arrays

    vectors = arrays(np.float32, (2,), elements=st.integers(0, 9), fill=st.nothing())
    TWICE = 2

    @given(x=vectors)
    def test_mutates(x):
        before = x.copy()
        x += 1
        note("seen")
        assert before[0] < TWICE

    @pytest.fixture
    def offset():
        return 1

    class TestMethods:
        @pytest.mark.parametrize("p", [1, 2])
        @given(data=st.data(), tree=st.fixed_dictionaries({"w": vectors, "n": st.none()}))
        @settings(suppress_health_check=list(__import__("hypothesis").HealthCheck))
        def test_draws(self, data, tree, offset, p):
            n = data.draw(st.integers(0, 99))
            assert n < 10 * TWICE + offset - 1

    @given(x=vectors)
    def test_two_bugs(x):
        if x[0] > 2 * TWICE:
            raise ValueError("large")
        assert x[1] < TWICE

    calls = []

    @given(x=vectors)
    def test_flaky(x):
        calls.append(x)
        assert len(calls) > 1 or TWICE != 2

    @given(x=vectors)
    def test_unstorable(x):
        pytest.fail("always") if TWICE == 2 else None

    @given(f=st.just(len), x=vectors)
    def test_function(f, x):
        assert TWICE != 2

    class TestUnit(unittest.TestCase):
        @given(x=vectors)
        def test_method(self, x):
            assert x[1] < TWICE

    @given(n=st.integers(0, 9))
    def test_no_array(n):
        assert n < TWICE

    @given(key=st.integers(0, 3).map(jax.random.key))
    def test_key(key):
        assert TWICE != 2

    def test_plain():
        pass
"""
BOTH = ["TestMethods::test_draws[1]", "TestMethods::test_draws[2]"]


@pytest.fixture(scope="module")
def runs(module_project):
    """
    Return four runs: with faults; again; with the faults mended; then only the replay.
    """
    project = module_project
    project.write(FILE, SOURCE)
    first = project.run("-rs")
    cases = project.cases()
    second = project.run()
    project.replace(FILE, "TWICE = 2", "TWICE = 100")
    return {
        "first": first,
        "cases": cases,
        "second": second,
        "cases after": project.cases(),
        "mended": project.run("-v"),
        "replay": project.run("--autoprop-replay-only", "-p", "no:cacheprovider"),
    }


def saved_tests(cases):
    """
    Return the test of each case.
    """
    return [case.split("/")[2].rpartition("-")[0].removeprefix("test_a.py-") for case in cases]


def corpus_items(outcomes):
    """
    Return the items that replay a case.
    """
    return {name: outcome for name, outcome in outcomes.items() if "corpus-" in name}


def test_saved_once_per_bug(runs):
    """Each bug of each test is one case: two for two bugs, one for two parameters, none for a flaky test."""
    assert saved_tests(runs["cases"]) == [
        "TestMethods-test_draws",
        "TestUnit-test_method",
        "test_key",
        "test_mutates",
        "test_two_bugs",
        "test_two_bugs",
        "test_unstorable",
    ]


def test_first_run_replays_nothing(runs):
    """Without a corpus the items are those of pytest."""
    assert corpus_items(runs["first"].outcomes) == {}


def test_case_is_the_shrunk_input(runs, module_project):
    """The case holds the smallest input, as it was before the test changed it."""
    (case,) = [case for case in runs["cases"] if "test_mutates" in case]
    assert '"v": [2.0, 0.0]' in (module_project.folder / case).read_text()


def test_draws_are_kept(runs, module_project):
    """What ``st.data()`` gave is part of the case, in order."""
    (case,) = [case for case in runs["cases"] if "test_draws" in case]
    assert "20" in (module_project.folder / case).read_text().partition('"$draws"')[2]


def test_report_names_the_case(runs):
    """The failure says where its input was saved."""
    (case,) = [case for case in runs["cases"] if "test_mutates" in case]
    assert runs["first"].lines(f"saved as {case}: AssertionError: assert")


def test_flaky_is_told(runs):
    """A flaky failure is not saved, and the summary says so."""
    assert "flaky, so not saved" in runs["first"].text


def test_what_cannot_be_stored_is_told(runs):
    """An argument that cannot be stored is no error of the run; the summary names it."""
    (line,) = runs["first"].lines("  test_a.py::test_function: ")
    assert "f" in line


def test_tests_without_arrays_are_left_alone(runs):
    """By default a test without an array argument is not captured."""
    assert "test_no_array" not in str(runs["cases"])


def test_second_run_replays_every_case(runs):
    """Every case is an item of its own that fails again, for each parameter; nothing new is saved."""
    names = sorted(name.partition("[")[0] for name in corpus_items(runs["second"].outcomes))
    assert (names, set(corpus_items(runs["second"].outcomes).values()), runs["cases after"]) == (
        [
            "TestMethods::test_draws",
            "TestMethods::test_draws",
            "test_key",
            "test_mutates",
            "test_two_bugs",
            "test_two_bugs",
            "test_unstorable",
        ],
        {"failure"},
        runs["cases"],
    )


def test_generating_items_keep_their_ids(runs):
    """A corpus does not change the ids of the items that draw."""
    assert set(runs["first"].outcomes) == set(runs["second"].outcomes) - set(corpus_items(runs["second"].outcomes))


def test_cases_pass_once_mended(runs):
    """After the fix every case passes and drawing goes on."""
    outcomes = runs["mended"].outcomes
    assert {name for name, outcome in outcomes.items() if outcome != "passed"} == set()


def test_cases_run_first(runs):
    """The cases of a module run before the rest of it."""
    order = ["corpus-" in name for name in runs["mended"].outcomes]
    assert order == sorted(order, reverse=True)


def test_replay_only(runs):
    """``--autoprop-replay-only`` runs the cases and nothing else."""
    assert set(runs["replay"].outcomes) == set(corpus_items(runs["mended"].outcomes))


def test_case_that_no_longer_matches_fails(runs, module_project):
    """A case whose arguments are not those of the test fails as stale: its item, or where there is none, the test."""
    project = module_project
    text = SOURCE.replace(
        "(x=vectors)\n    def test_mutates(x):\n", "(y=vectors)\n    def test_mutates(y):\n        x = y\n"
    )
    text = text.replace(
        "@given(x=vectors)\n        def test_method(self, x)", "@given(y=vectors)\n        def test_method(self, y)"
    )
    project.write(FILE, text.replace("def test_two_bugs", "def test_renamed"))
    result = project.run("-k", "corpus and test_mutates or test_method")
    stale = [name.partition("[")[0] for name, text in result.texts.items() if "stale case: " in text]
    assert stale == ["test_mutates", "TestUnit::test_method"]
    assert "holds x, but the test draws y" in result.text
    assert "test_a.py::test_two_bugs: there is no such test" in result.text


def test_options(project):
    """``autoprop_capture = all`` takes tests without arrays too; ``--autoprop-no-save`` keeps the corpus as it is."""
    source = (
        "from hypothesis import given, strategies as st\n@given(n=st.integers())\ndef test_n(n):\n    assert n < 3\n"
    )
    project.write("test_n.py", source)
    kept = project.run("-o", "autoprop_capture=all", "--autoprop-no-save")
    assert (project.cases(), len(kept.lines("not saved (--autoprop-no-save is set)"))) == ([], 1)
    saved = project.run("-o", "autoprop_capture=all", "--autoprop-corpus=mine")
    assert "saved as mine/test_n.py-test_n" in saved.text


def test_hypothesis_without_the_plugin(runs, module_project):
    """With ``-p no:autoprop`` the same tests run as if autoprop were not there."""
    result = module_project.run("-k", "test_plain or test_no_array or test_key", plugin=False)
    assert (list(result.outcomes), "autoprop:" in result.text) == (["test_no_array", "test_key", "test_plain"], False)
