"""The items of a `verify` test: one per law, all from one search, whose findings are kept and replayed first."""

import json
from textwrap import dedent

import pytest

# A search that finds what the laws find at one given point, so that a run costs no search.
FAKE = """
    import sys, types
    import attrs, jax.numpy as jnp
    from autoprop import Counts, Finding, Point, UsageError
    from autoprop.properties import judge

    @attrs.frozen
    class Outcome:
        findings: tuple
        counts: dict
        points: int = 1
        seconds: float = 0.0

    def search(target, *, settings, properties=None):
        properties = target.properties if properties is None else properties
        with open("searches.txt", "a") as file:
            print(target.name, *properties, settings.seed, settings.examples, file=file)
        if target.name == "broken":
            raise UsageError("broken: the function raises ValueError at every input")
        if target.name == "buggy":
            raise RuntimeError("a fault of the search")
        point = Point((jnp.array([2.0, -3.0], jnp.float32),))
        counts, findings = {}, []
        for law in properties:
            if law == "reference":
                counts[law] = Counts(not_applicable="the target gives no reference")
                continue
            verdict = judge(target, law, point)
            if isinstance(verdict, Finding):
                findings.append(verdict)
            held = 0 if target.name == "vague" else 6
            undecided = {"vague": 3, "hazy": 1}.get(target.name, 0)
            remark = getattr(verdict, "remark", "")
            counts[law] = Counts(holds=held, undecided=undecided, reasons={"too steep": undecided}, remark=remark)
        return Outcome(tuple(findings), counts)

    fake = types.ModuleType("autoprop._search")
    fake.search, fake.Outcome = search, Outcome
    sys.modules["autoprop._search"] = fake
"""

SOURCE = """
    import jax, jax.numpy as jnp
    from autoprop import Settings, Target, verify
    from hypothesis_jax import array

    SIGN = -1.0

    @jax.custom_jvp
    def square(x):
        return jnp.sum(x * x)

    @square.defjvp
    def _(primals, tangents):
        return square(*primals), SIGN * 2 * jnp.sum(primals[0] * tangents[0])

    def vague(x):
        return jnp.sum(x)

    def hazy(x):
        return jnp.sum(x)

    def hiding(x):
        return jnp.sum(x) * jax.lax.stop_gradient(jnp.sqrt(jnp.sum((x - jnp.array([2.0, -3.0])) ** 2)))

    two = ("structure", "numeric")
    three = ("adjoint", "numeric", "jit")
    test_square = verify(Target(lambda x: square(x), array("n"), name="square", properties=three))

    class TestMore:
        test_hazy = verify(hazy, array("n"), properties=("jit", "reference"))

    @verify(array("n"), properties=("structure",), settings=Settings(examples=7, seed=5))
    def test_body(x):
        return jnp.sum(jnp.sin(x))

    test_vague = verify(vague, array("n"), properties=("jit",))
    test_broken = verify(vague, array("n"), name="broken", properties=two)
    test_buggy = verify(vague, array("n"), name="buggy", properties=two)
    test_hiding = verify(hiding, array("n"), properties=("finite",))
"""
CASE = "test_square[corpus-"


@pytest.fixture(scope="module")
def runs(module_project):
    """
    Return four runs: the first; again in two processes; a selection with options; mended.
    """
    project = module_project
    project.write("conftest.py", FAKE)
    project.write("test_a.py", SOURCE)
    found = {"first": project.run("-rs"), "searches": (project.folder / "searches.txt").read_text().splitlines()}
    found["cases"] = project.cases()
    found["second"] = project.run("-n", "2", "-k", "square or vague")
    (project.folder / "searches.txt").unlink()
    words = ("--autoprop-seed=3", "--autoprop-profile=dev", "-W", "error::autoprop.AutopropWarning")
    found["selection"] = project.run("-k", "square and (jit or corpus) or vague", *words)
    found["selected"] = (project.folder / "searches.txt").read_text().splitlines()
    project.replace("test_a.py", "SIGN = -1.0", "SIGN = 1.0")
    found["mended"] = project.run("-k", "square")
    return found


def test_one_item_per_law(runs):
    """Each law is an item; in a class and under a decorator too."""
    assert list(runs["first"].outcomes) == [
        "test_square[adjoint]",
        "test_square[numeric]",
        "test_square[jit]",
        "TestMore::test_hazy[jit]",
        "TestMore::test_hazy[reference]",
        "test_body[structure]",
        "test_vague[jit]",
        "test_broken[structure]",
        "test_broken[numeric]",
        "test_buggy[structure]",
        "test_buggy[numeric]",
        "test_hiding[finite]",
    ]


def test_each_item_reports_its_own_law(runs):
    """Laws that hold pass, the violated one fails, one that does not apply or decided nothing is skipped."""
    assert list(runs["first"].outcomes.values()) == [
        "passed",
        "failure",
        "passed",
        "passed",
        "skipped",
        "passed",
        "skipped",
        *["failure"] * 4,
        "passed",
    ]


def test_items_of_a_target_share_one_search(runs):
    """A target is searched once, for the laws of the session, with the settings given or the profile's."""
    assert runs["searches"] == [
        "square adjoint numeric jit 0 2048",
        "hazy jit reference 0 2048",
        "test_body structure 5 7",
        "vague jit 0 2048",
        "broken structure numeric 0 2048",
        "buggy structure numeric 0 2048",
        "hiding finite 0 2048",
    ]


def test_deselected_laws_are_not_searched(runs):
    """Only the laws that the session selects are searched; seed and profile come from the command line."""
    assert runs["selected"] == ["square jit 3 512", "vague jit 3 512"]


def test_failure_is_the_report(runs):
    """The text of a failure is the finding's report, without a frame of autoprop, and names the saved case."""
    text = runs["first"].texts["test_square[numeric]"]
    (case,) = runs["cases"]
    assert (f"saved as {case}" in text, "autoprop replay" in text, "numeric: " in text, ".py:" in text) == (
        True,
        True,
        True,
        False,
    )


def test_skips_are_at_the_users_line(runs):
    """A skip gives its reason, and the line of the user's test."""
    line = 1 + next(at for at, text in enumerate(dedent(SOURCE).splitlines()) if "test_hazy" in text)
    assert runs["first"].lines(f"SKIPPED [1] test_a.py:{line}: not applicable: the target gives no reference")


def test_undecided_is_told(runs):
    """A law that decided nothing is a warning and stands in the summary with its reason, as does a partial one."""
    text = runs["first"].text
    assert "AutopropWarning: test_a.py::test_vague[jit]: jit decided nothing: too steep (3)" in text
    assert "  test_a.py::test_vague[jit]: jit decided nothing: too steep (3)" in text
    assert "  test_a.py::TestMore::test_hazy: jit 1 of 7: too steep (1)" in text


def test_remark_is_told(runs):
    """A law that holds with a remark passes; the summary has the remark, with the item, the leaf and the line."""
    lines = runs["first"].text.splitlines()
    (line,) = [line for line in lines if "hides a derivative" in line]
    assert lines[lines.index(line) - 1] == "held, with a remark (1):"
    assert line.startswith("  test_a.py::test_hiding[finite]: stop_gradient (")
    at = 1 + next(at for at, text in enumerate(SOURCE.splitlines()) if "jnp.sqrt" in text)
    assert f"test_a.py:{at}) hides" in line
    assert "the reverse derivative of x[0] is nan" in line


def test_search_that_fails_fails_every_item(runs):
    """What makes a target impossible to search is the text of each of its items."""
    texts = runs["first"].texts
    expected = "broken: the function raises ValueError at every input"
    actual = [expected in texts[f"test_broken[{law}]"] for law in ("structure", "numeric")]
    again = "the search of buggy raised RuntimeError: a fault of the search"
    assert (actual, set(texts["test_buggy[numeric]"].splitlines())) == ([True, True], {f"Failed: {again}", again})


def test_header_and_summary(runs):
    """The header tells versions and corpus; the summary versions, device, modes, tolerance and seed."""
    (header,) = runs["first"].lines("autoprop: jax ")
    assert header.endswith("corpus tests/corpus (0 cases), save on, seed 0")
    (line,) = runs["first"].lines("Python 3")
    for word in (
        "jax ",
        "jaxlib ",
        "numpy ",
        "cpu",
        "x64 off",
        "matmul precision default",
        "tolerance derived",
        "seed",
    ):
        assert word in line


def test_finding_is_saved_under_its_test(runs, module_project):
    """The case belongs to the test's id and holds the exact point."""
    (case,) = runs["cases"]
    stored = json.loads((module_project.folder / case).read_text())
    assert (stored["target"], stored["law"]) == ("test_a.py::test_square", "numeric")


def test_second_run_replays_first(runs):
    """The case is an item of its own that fails again; the law's own item knows it; two processes tell the same."""
    outcomes, text = runs["second"].outcomes, runs["second"].text
    replayed = {name: outcome for name, outcome in outcomes.items() if name.startswith(CASE)}
    assert (list(replayed.values()), len(outcomes)) == (["failure"], 5)
    assert "already in the corpus (1):" in text
    assert "test_vague[jit]: jit decided nothing: too steep (3)" in text


def test_mended_case_passes(runs):
    """After the fix the case passes, and the search goes on and finds nothing."""
    outcomes = runs["mended"].outcomes
    assert ([name.startswith(CASE) for name in outcomes], set(outcomes.values())) == (
        [True, False, False, False],
        {"passed"},
    )


def test_states_of_a_case(runs, module_project):
    """
    A known case is an expected failure; one that needs x64 is skipped; one that is refused, no longer matches or lost
    its test is stale and told.
    """
    project = module_project
    (name,) = runs["cases"]
    path = project.folder / name
    whole = json.loads(path.read_text())

    def write(stem, **changes):
        path.with_name(f"numeric-{stem}.json").write_text(json.dumps(whole | changes))

    project.replace("test_a.py", "SIGN = 1.0", "SIGN = -1.0")
    write("0000000a", xfail="known since May")
    write("0000000b", x64=True)
    write("0000000c", autoprop_case=99)
    write("0000000d", law="reference")
    write("0000000e", arguments=whole["arguments"] | {"primals": {"$": "tuple", "v": []}})
    gone = path.parents[1] / "gone.py-test_gone-00000000"
    gone.mkdir()
    (gone / path.name).write_text(json.dumps(whole | {"target": "gone.py::test_gone"}))
    path.write_text(json.dumps(whole | {"xfail": "tolerated"}))
    result = project.run("-k", "corpus-0 or numeric and square", "-rx")
    assert result.lines("XFAIL test_a.py::test_square[numeric] - tolerated")
    short = {
        name.removeprefix(CASE).removesuffix("]"): outcome
        for name, outcome in result.outcomes.items()
        if "corpus-0" in name
    }
    assert short == {
        "0000000a": "skipped",
        "0000000b": "skipped",
        "0000000c": "failure",
        "0000000d": "failure",
        "0000000e": "failure",
    }
    texts = [result.texts[f"{CASE}0000000{letter}]"] for letter in "abcde"]
    words = ["known since May", "jax_enable_x64", "has format 99", "does not apply", "stores 0 arguments"]
    assert [word in text for word, text in zip(words, texts, strict=True)] == [True] * 5
    assert ["stale case: " in text for text in texts] == [False, False, True, True, True]
    assert "stale cases (4):" in result.text


def test_warnings_as_errors(runs):
    """Where the user makes warnings errors, a law that decided nothing fails with the reason alone."""
    text = runs["selection"].texts["test_vague[jit]"]
    assert set(text.splitlines()) == {
        "Failed: test_a.py::test_vague[jit]: jit decided nothing: too steep (3)",
        "test_a.py::test_vague[jit]: jit decided nothing: too steep (3)",
    }


def test_without_the_plugin(runs, module_project):
    """With ``-p no:autoprop`` a `verify` test is one item that runs every law and raises the first finding."""
    assert runs["first"].status == 1
    module_project.write("test_a.py", SOURCE)
    result = module_project.run("-k", "square or hazy or hiding", plugin=False)
    assert (list(result.outcomes), list(result.outcomes.values())) == (
        ["test_square", "TestMore::test_hazy", "test_hiding"],
        ["failure", "passed", "passed"],
    )
    assert "AutopropWarning: hiding: finite holds, but stop_gradient (" in result.text
    assert "NumericFalsified" in result.texts["test_square"]
