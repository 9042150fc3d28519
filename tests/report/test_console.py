"""What the screen shows."""

from __future__ import annotations

import io

import pytest
from rich.console import Console as Screen

from autoprop._environment import Environment
from autoprop._events import Checked, Counts, Event, Finished, Found, Started
from autoprop._finding import Finding
from autoprop._point import Point
from autoprop._settings import Settings
from autoprop._verdict import Mismatch
from autoprop.report.console import Console
from autoprop.report.progress import Progress
from autoprop.report.summary import Summary, worst_reason
from autoprop.report.words import duration

ENVIRONMENT = Environment(
    python="3.12.1", jax="0.11.2", jaxlib="0.11.2", numpy="2.5.5", hypothesis="6.170.17", autoprop="0.1.0",
    platform="Linux x86_64", device="cpu", x64=False, matmul_precision="default",
)  # fmt: skip
FINDING = Finding(
    property="jit",
    formula="jit(f)(x) = f(x)",
    target="examples/losses.py:td_loss",
    point=Point((2.0,)),
    mismatches=(Mismatch("value", (), (("jit", "1"), ("eager", "2")), 1.0, 0.0, "planted"),),
    environment=ENVIRONMENT,
    argnames=("x",),
    case="tests/corpus/x/jit-0123abcd.json",
)
TD = "examples/losses.py:td_loss"
BAD = "examples/a_long_folder_name/of_losses.py:contrastive_loss_with_a_long_name"
RUN: list[Event] = [
    Started((TD, BAD, "m:none"), Settings(), ENVIRONMENT),
    Found(FINDING, FINDING.case, "new"),
    Checked(
        TD,
        {
            "jit": Counts(holds=5, violated=1),
            "vmap": Counts(holds=12000),
            "numeric": Counts(undecided=9, reasons={"the step's error is too large": 6, "overflow": 3}),
            "finite": Counts(holds=3, remark="stop_gradient (m.py:3) hides a derivative that is not finite"),
            "live": Counts(not_applicable="no leaf is live"),
        },
        12000,
        3.25,
        True,
    ),
    Checked(BAD, {}, 0, 0.1, True, error="the function raises on every input: ValueError: no"),
    Finished((FINDING,), 12000, 4.0),
]


def shown(events: list[Event], width: int = 80, *, terminal: bool = False) -> str:
    """
    Return what a run prints.
    """
    file = io.StringIO()
    screen = Screen(file=file, width=width, force_terminal=terminal, color_system=None)
    with Console(screen) as console:
        for event in events:
            console.read(event)
    return file.getvalue()


def test_finding_is_shown_in_full() -> None:
    """
    The report of a finding is printed as it is, unbroken.
    """
    assert str(FINDING) in shown(RUN)


def test_closing_table_has_a_row_for_each_target() -> None:
    """
    The table counts laws held, findings, undecided laws with the worst reason, laws that do not apply, points, seconds.
    """
    lines = [" ".join(line.split()) for line in shown(RUN, width=160).splitlines()]
    assert f"{TD} 2 1 1 (numeric: the step's error is too large) 1 12,000 3.2" in lines
    assert f"{BAD} – 0 error – 0 0.1" in lines
    assert "m:none – – not reached – 0 0" in lines


def test_closing_lists_findings_with_their_command() -> None:
    """
    After the table come errors, remarks, findings with the command that replays them, and the total.
    """
    lines = [line.rstrip() for line in shown(RUN, width=160).splitlines()]
    assert lines[-7:] == [
        f"error: {BAD}: the function raises on every input: ValueError: no",
        "remarks:",
        f"  finite for {TD}: stop_gradient (m.py:3) hides a derivative that is not finite",
        "findings:",
        f"  jit fails for {TD} at value",
        "    autoprop replay 0123abcd",
        "1 finding, 2 targets, 12,000 points, 1 error, 4.0 s",
    ]


@pytest.mark.parametrize("width", [80, 120])
def test_lines_fit(width: int) -> None:
    """
    No line of the closing table is wider than the screen.
    """
    text = shown([event for event in RUN if not isinstance(event, Started)], width)
    assert max(map(len, text.splitlines())) <= width


def test_terminal_is_given_back() -> None:
    """
    On a terminal the live line vanishes, and the cursor is shown again.
    """
    text = shown(RUN, terminal=True)
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")
    assert "1 finding, 2 targets" in text


@pytest.mark.parametrize(
    ("state", "reason", "line"),
    [
        ("fixed", "", f"fixed jit for {TD} (tests/corpus/x/jit-0123abcd.json)"),
        ("stale", "it is gone", f"stale jit for {TD} (tests/corpus/x/jit-0123abcd.json)\n  it is gone"),
        ("open", "", f"open: {FINDING}"),
    ],
)
def test_replayed_case_tells_its_state(state: str, reason: str, line: str) -> None:
    """
    A replayed case has its state, law, target, file and reason; an open one its whole report.
    """
    assert shown([Found(FINDING, FINDING.case, state, reason)]).strip() == line


def test_finding_that_was_not_saved_says_why() -> None:
    """
    The reason stands under the report.
    """
    text = shown([Found(FINDING.replace(case=None), None, "new", "saving is off")])
    assert text.rstrip().splitlines()[-1] == "  not saved: saving is off"


def test_progress_tells_how_far_the_run_is() -> None:
    """
    The live line has targets done, points, points per second, findings, time left and the current target.
    """
    clock = iter([0.0, 10.0])
    progress = Progress(60.0, lambda: next(clock))
    for event in RUN[:3]:
        progress.read(event)
    assert progress.line() == f"1/3 targets done · 12,000 points · 1,200/s · 1 finding · 50.0 s left · {TD}"


def test_progress_counts_targets_that_had_their_turn() -> None:
    """
    Where targets are searched in rounds, those before the current one count as done.
    """
    progress = Progress(60.0, lambda: 0.0)
    for event in (RUN[0], Checked(TD, {}, 5, 1.0, False), Checked("m:none", {}, 5, 1.0, False)):
        progress.read(event)
    assert progress.line().partition(" · ")[0] == "1/3 targets done"


@pytest.mark.parametrize(
    ("seconds", "expected"), [(3.24, "3.2 s"), (59.96, "1m00s"), (250.0, "4m10s"), (3720.0, "1h02m")]
)
def test_durations_are_short(seconds: float, expected: str) -> None:
    """
    Durations are written with two units at most.
    """
    assert duration(seconds) == expected


HELD, MUTE = Counts(holds=1), Counts(undecided=1, reasons={"overflow": 1})


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([Checked("a", {"jit": HELD}, 1, 1.0, True)], 0),
        ([Checked("a", {"jit": HELD}, 1, 1.0, True), Found(FINDING)], 1),
        ([Found(FINDING, state="open")], 1),
        ([Found(FINDING, state="stale")], 1),
        ([Found(FINDING, state="fixed")], 0),
        ([Found(FINDING, state="undecided")], 3),
        ([Checked("a", {}, 0, 1.0, True, error="no")], 2),
        ([Checked("a", {"jit": HELD}, 1, 1.0, True), Checked("b", {}, 0, 1.0, True, error="no")], 2),
        ([Checked("a", {}, 0, 1.0, True, error="no"), Found(FINDING)], 1),
        ([Checked("a", {"jit": MUTE, "live": Counts(not_applicable="no")}, 1, 1.0, True)], 3),
        ([], 3),
    ],
)
def test_exit_status(events: list[Event], status: int) -> None:
    """
    Findings and stale cases are 1, else targets that could not be searched are 2, else deciding nothing is 3.
    """
    summary = Summary()
    for event in events:
        summary.read(event)
    assert summary.status == status


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"jit": HELD}, ""),
        ({"jit": HELD, "numeric": Counts(holds=1, undecided=2, reasons={"overflow": 2})}, "numeric: overflow"),
        ({"jit": MUTE, "numeric": Counts(holds=1, undecided=9, reasons={"other": 9})}, "jit: overflow"),
        ({"jit": Counts()}, "jit: no point was judged"),
    ],
)
def test_worst_reason(counts: dict[str, Counts], expected: str) -> None:
    """
    A law that decided nothing comes before one that was undecided at more points.
    """
    assert worst_reason(Checked("a", counts, 1, 1.0, True)) == expected
