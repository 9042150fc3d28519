"""The table and the list that end a run on the screen."""

from __future__ import annotations

from collections import Counter

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autoprop._events import Checked, Found
from autoprop._render import replay_command
from autoprop._render import summary as one_line

from .summary import Summary, outcome, worst_reason
from .words import count, duration

__all__ = ["closing"]


def closing(summary: Summary, *, interrupted: bool = False) -> RenderableType:
    """
    Return what is shown at the end: a row for each target, remarks, then each finding with its replay command, then
    the total.
    """
    parts: list[RenderableType] = []
    if summary.rows:
        parts += [_table(summary), Text()]
    parts += [Text.assemble(("error: ", "bold red"), error) for error in summary.errors]
    if summary.remarks:
        parts.append(Text("remarks:", "bold"))
        parts += [Padding(Text(remark, "yellow"), (0, 0, 0, 2), expand=False) for remark in summary.remarks]
    found = summary.of_state("new", "open")
    if found:
        parts.append(Text("findings:", "bold"))
        parts += [_line(each) for each in found]
    parts.append(_total(summary, interrupted))
    return Group(*parts)


def _table(summary: Summary) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), expand=False)
    table.add_column("target", overflow="fold", ratio=3)
    table.add_column("laws\nheld", justify="right")
    table.add_column("find-\nings", justify="right")
    table.add_column("undecided\n(worst reason)", overflow="fold", ratio=2)
    table.add_column("not\nappl.", justify="right")
    table.add_column("points", justify="right")
    table.add_column("s", justify="right")
    for target in summary.targets or summary.rows:
        row = summary.rows.get(target)
        if row is None:
            table.add_row(Text(target), "–", "–", "not reached", "–", "0", "0")
        else:
            table.add_row(*_cells(row, summary))
    return table


def _cells(row: Checked, summary: Summary) -> tuple[RenderableType, ...]:
    laws = Counter(outcome(each) for each in row.counts.values())
    found = [each for each in summary.of_state("new", "open") if each.finding.target == row.target]
    findings = Text(str(len(found)), "bold red" if found else "")
    if row.error:
        return Text(row.target), "–", findings, Text("error", "bold red"), "–", f"{row.points:,}", f"{row.seconds:.1f}"
    reason = worst_reason(row)
    undecided = f"{laws['undecided']}" + (f" ({reason})" if reason else "")
    return (
        Text(row.target),
        str(laws["held"]),
        findings,
        Text(undecided, "yellow" if laws["undecided"] else ""),
        str(laws["not applicable"]),
        f"{row.points:,}",
        f"{row.seconds:.1f}",
    )


def _line(each: Found) -> RenderableType:
    lines: list[RenderableType] = [Text(one_line(each.finding), "red")]
    if each.case is None:
        lines.append(Padding(Text(f"not saved: {each.reason}", "yellow"), (0, 0, 0, 2)))
    else:
        lines.append(Padding(Text(replay_command(each.case), "green"), (0, 0, 0, 2)))
    return Padding(Group(*lines), (0, 0, 0, 2), expand=False)


def _total(summary: Summary, interrupted: bool) -> Text:
    states = Counter(each.state for each in summary.found)
    parts = []
    if summary.rows or states["new"]:
        parts.append(count(states["new"], "new finding" if states["open"] else "finding"))
    parts += [f"{states[state]} {state}" for state in ("open", "known", "stale", "undecided", "fixed") if states[state]]
    if summary.rows:
        parts += [count(len(summary.rows), "target"), count(summary.points, "point")]
    if summary.errors:
        parts.append(count(len(summary.errors), "error"))
    if summary.status == 3:
        parts.append("nothing was decided")
    parts.append(duration(summary.seconds))
    if interrupted:
        parts.append("interrupted")
    return Text(", ".join(parts), "bold green" if summary.status == 0 else "bold")
