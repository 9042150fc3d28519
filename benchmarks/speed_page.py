"""The records of `benchmarks/speed.py` as a page and a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["medians", "merged", "page", "picture", "zoo_lines"]

LABELS = {
    "check_grads": "Hypothesis + check_grads",
    "chex": "Hypothesis + chex",
    "autoprop": "autoprop, 3 laws",
    "autoprop all": "autoprop, all laws",
}
COLOURS = {"check_grads": "#9a9a9a", "chex": "#c9c9c9", "autoprop": "#5b8fd6", "autoprop all": "#1f4e9c"}
ORDER = ("small", "medium", "scan", "block", "million")
HEAD = """# Speed

The same functions, verified by Hypothesis with `jax.test_util.check_grads` (first order, both modes), by
`chex.assert_numerical_grads` under `@given`, and by a search of autoprop, with the laws `numeric`, `adjoint` and
`finite` and with all default laws. Sizes vary for all of them where the function allows it. Each figure is the median
of processes of its own that took turns; compilation is included. Written by `benchmarks/speed.py draw` from
`benchmarks/speed.json`"""


def merged(data: Mapping[str, Any], key: str, record: Mapping[str, Any], environment: Mapping[str, str]) -> Any:
    """
    Return the records with one more, or one anew; an environment that differs is noted beside the first.
    """
    seen = list(data.get("environments", []))
    if dict(environment) not in seen:
        seen.append(dict(environment))
    record = {**record, "environment": seen.index(dict(environment))}
    return {"environments": seen, "records": {**data.get("records", {}), key: record}}


def medians(data: Mapping[str, Any], kind: str, field: str) -> dict[tuple[str, str], float]:
    """
    Return the median of a field over repeats, by function and contender; ``rate`` is points over seconds.
    """
    values: dict[tuple[str, str], list[float]] = {}
    for record in data.get("records", {}).values():
        if record["kind"] != kind or "error" in record:
            continue
        value = record["points"] / record["seconds"] if field == "rate" else record[field]
        values.setdefault((record["work"], record["contender"]), []).append(value)
    return {pair: float(np.median(found)) for pair, found in values.items()}


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def _table(data: Mapping[str, Any], kind: str, columns: Mapping[str, str]) -> list[str]:
    """
    Return a table with a row for each function and contender that was measured.
    """
    found = {field: medians(data, kind, field) for field in columns}
    head = ["function", "contender", *columns.values()]
    lines = ["", f"| {' | '.join(head)} |", "|---|---|" + "---:|" * len(columns)]
    tried = {(record["work"], record["contender"]) for record in data["records"].values() if record["kind"] == kind}
    for pair in sorted(tried, key=lambda pair: (ORDER.index(pair[0]), list(LABELS).index(pair[1]))):
        cells = [_number(found[field].get(pair)) for field in columns]
        lines.append(f"| {pair[0]} | {LABELS[pair[1]]} | {' | '.join(cells)} |")
    return lines if tried else ["", "Not measured."]


def zoo_lines(data: Mapping[str, Any]) -> list[str]:
    """
    Return what was found first by whom, how long it took, and the ratio where `check_grads` finds the fault too.
    """
    times: dict[tuple[str, str], list[float]] = {}
    alarms: set[str] = set()
    tried: dict[str, set[str]] = {}
    for record in data.get("records", {}).values():
        if record["kind"] != "first":
            continue
        slug, _, version = record["work"].partition(":")
        if version:
            alarms |= {slug} if record.get("found") else set()
            continue
        tried.setdefault(record["contender"], set()).add(slug)
        if record.get("found"):
            times.setdefault((slug, record["contender"]), []).append(record["seconds"])
    middle = {pair: float(np.median(found)) for pair, found in times.items()}
    ours = {slug: spent for (slug, name), spent in middle.items() if name == "autoprop all"}
    theirs = {slug: spent for (slug, name), spent in middle.items() if name == "check_grads" and slug not in alarms}
    both = sorted(set(ours) & set(theirs))
    lines = []
    for name, found in (("autoprop all", ours), ("check_grads", theirs)):
        if name in tried:
            spent = f", median {np.median(list(found.values())):.2f} s" if found else ""
            lines.append(f"- {LABELS[name]}: {len(found)} of {len(tried[name])} faults found{spent}")
    if alarms:
        lines.append(f"- not counted: {len(alarms)} that check_grads accuses in their sound version too")
    if both:
        ratio = float(np.median([theirs[slug] / ours[slug] for slug in both]))
        pair = [np.median([found[slug] for slug in both]) for found in (ours, theirs)]
        lines.append(
            f"- of the {len(both)} that both find: median {pair[0]:.2f} s against {pair[1]:.2f} s; autoprop is "
            f"{ratio:.2f} times as fast (median of the ratios)"
        )
    return lines


def page(data: Mapping[str, Any]) -> str:
    """
    Return the page, in Markdown.
    """
    where = "; ".join(", ".join(f"{name} {text}" for name, text in one.items()) for one in data["environments"])
    limits = sorted({record["limit"] for record in data["records"].values() if record["kind"] == "rate"})
    lines = [f"{HEAD} ({where}).", "", "![Points verified a second](speed.svg)", "", "## Points a second"]
    lines += ["", f"Searches of {', '.join(f'{limit:g}' for limit in limits) or 'no'} seconds."]
    rate = {"rate": "points a second", "points": "points", "programs": "programs", "memory": "peak memory, MiB"}
    lines += _table(data, "rate", rate | {"accused": "accused"})
    lines += [
        "",
        "Peak memory includes about 180 MiB for Python and the libraries. All functions are sound: a point, or",
    ]
    lines += ["for autoprop a law, that is accused is a false alarm.", "", "## Screening"]
    lines += [
        "",
        "Microseconds for each point in batches, compiled, beside those of the function's own jitted, vmapped",
    ]
    lines += ["`value_and_grad` at the same rows."]
    screen = {"steady": "screening, µs", "own": "value and gradient, µs", "ratio": "ratio", "drawing": "drawing, µs"}
    lines += _table(data, "screen", screen | {"cold": "first batch, s"})
    default = {"seconds": "seconds", "programs": "programs", "memory": "peak memory, MiB"}
    lines += ["", "## The default search", "", "What `search` and `verify` do if nothing is said, all laws, cold."]
    lines += _table(data, "default", default)
    lines += ["", "The same with a compilation cache on disk that a process before it has filled."]
    lines += _table(data, "warm", default | {"from_cache": "from the cache"})
    found = zoo_lines(data)
    if found:
        lines += [
            "",
            "## Time to the first finding",
            "",
            "The first finding of autoprop is confirmed and shrunk, that of",
        ]
        lines += [
            "`check_grads` is the first point that it accuses. Both start with the libraries imported.",
            "",
            *found,
        ]
    errors = [(key, record) for key, record in data["records"].items() if "error" in record]
    if errors:
        lines += ["", "## Not measured", "", *(f"- `{key}`: {record['error']}" for key, record in errors)]
    return "\n".join(lines) + "\n"


def picture(data: Mapping[str, Any], files: list[Path]) -> None:
    """
    Draw points a second, programs and peak memory by function and contender.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.hashsalt": "autoprop", "font.size": 9})
    from matplotlib import pyplot as plt

    panels = (
        ("rate", "points verified a second"),
        ("programs", "XLA programs compiled"),
        ("memory", "peak memory, MiB"),
    )
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.6))
    for axis, (field, title) in zip(axes, panels, strict=True):
        found = medians(data, "rate", field)
        works = [work for work in ORDER if any(pair[0] == work for pair in found)]
        names = [name for name in LABELS if any(pair[1] == name for pair in found)]
        width = 0.8 / max(len(names), 1)
        for j, name in enumerate(names):
            heights = [found.get((work, name), np.nan) for work in works]
            places = np.arange(len(works)) + (j - (len(names) - 1) / 2) * width
            axis.bar(places, heights, width, color=COLOURS[name], label=LABELS[name])
        axis.set_xticks(range(len(works)), works)
        axis.set_yscale("log")
        axis.set_title(title, fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="y", alpha=0.3)
        axis.set_axisbelow(True)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    for file in files:
        metadata = {"Date": None} if file.suffix == ".svg" else None
        figure.savefig(file, dpi=130, metadata=metadata)
    plt.close(figure)
