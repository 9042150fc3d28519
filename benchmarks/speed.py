"""
How fast autoprop is, against Hypothesis with `check_grads` and against chex, each measurement in a process of its own.

``run`` measures points a second, programs, memory, the cost of screening, and default searches cold and warm; ``first``
measures the time to the first finding over a zoo of faulty functions; ``draw`` writes the picture and the page. What
stands in the JSON file already is not measured again. Give nothing else to do to the machine meanwhile.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import click
from speed_page import merged, page, picture, zoo_lines

HERE = Path(__file__).parent
RECORDS = HERE / "speed.json"
DOCS = HERE.parent / "docs"
WORKS = ("small", "medium", "scan", "block", "million")
CONTENDERS = {
    "rate": ("check_grads", "chex", "autoprop", "autoprop all"),
    "screen": ("autoprop", "autoprop all"),
    "default": ("autoprop all",),
    "warm": ("autoprop all",),
}
KINDS = tuple(CONTENDERS)
CACHE = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
NO_TARGETS = {"run_all", "score", "__init__"}  # files of a zoo that are no function


def child(task: dict[str, Any], limit: float, cache: str | None = None) -> dict[str, Any]:
    """
    Measure in a new process, and return its record; one with ``error`` if there is none.
    """
    environment = {name: text for name, text in os.environ.items() if not name.startswith("JAX_COMPILATION_CACHE")}
    if cache is not None:
        environment |= CACHE | {"JAX_COMPILATION_CACHE_DIR": cache}
    command = [sys.executable, "-W", "ignore", str(HERE / "speed_child.py"), json.dumps(task)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment, check=False)
        record: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"error": f"not ready after {limit:.0f} s", "timeout": True}
    except (IndexError, ValueError):
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return {"error": last[:300]}
    return record


class Book:
    """
    The records of a JSON file, written after each measurement.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        self.failed = 0

    def measure(self, task: dict[str, Any], repeat: int, limit: float) -> dict[str, Any]:
        """
        Return the record of a task, measured unless it is there.
        """
        key = "/".join(str(task[name]) for name in ("kind", "work", "contender", "seconds")) + f"/{repeat}"
        known = self.data.get("records", {}).get(key)
        if known is not None and ("error" not in known or known.get("timeout")):
            return dict(known)
        if task["kind"] == "warm":
            with tempfile.TemporaryDirectory() as cache:
                record = child(task, limit, cache)
                record = record if "error" in record else child(task, limit, cache)
        else:
            record = child(task, limit)
        self.failed += "error" in record
        named = {"kind": task["kind"], "work": task["work"], "contender": task["contender"], "repeat": repeat}
        self.data = merged(self.data, key, named | {"limit": task["seconds"]} | record, environment())
        self.file.write_text(json.dumps(self.data, indent=1) + "\n", encoding="utf-8")
        shown = " ".join(
            f"{name}={value}" for name, value in record.items() if name not in ("complaint", "trouble", "laws")
        )
        click.echo(f"{key}: {shown[:160]}")
        return record


def environment() -> dict[str, str]:
    """
    Return what the figures depend on.
    """
    versions = {name: importlib.metadata.version(name) for name in ("jax", "numpy", "hypothesis")}
    if importlib.util.find_spec("chex"):
        versions["chex"] = importlib.metadata.version("chex")
    return {"python": platform.python_version(), "machine": f"{platform.machine()}, {os.cpu_count()} cores"} | versions


def _chosen(kind: str) -> list[str]:
    names = list(CONTENDERS[kind])
    if "chex" in names and importlib.util.find_spec("chex") is None:
        click.secho("SKIPPED chex: not installed (pip install autoprop-jax[bench])", fg="red", err=True)
        names.remove("chex")
    return names


@click.group(help=__doc__)
@click.option("--json", "file", type=click.Path(path_type=Path), default=RECORDS, help="Where the records are kept.")
@click.pass_context
def main(context: click.Context, file: Path) -> None:
    """Open the file of records."""
    context.obj = Book(file)


@main.command()
@click.option("--seconds", default=10.0, show_default=True, help="Wall time of each search that is compared.")
@click.option("--repeats", default=3, show_default=True, help="How often everything is measured.")
@click.option("--limit", default=600.0, show_default=True, help="Wall time after which a process is ended.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only this; can be repeated.")
@click.option("--work", "works", multiple=True, type=click.Choice(WORKS), help="Only this; can be repeated.")
@click.pass_obj
def run(book: Book, seconds: float, repeats: int, limit: float, kinds: tuple[str, ...], works: tuple[str, ...]) -> None:
    """Measure every contender on every function, in turns."""
    contenders = {kind: _chosen(kind) for kind in kinds or KINDS}
    for repeat in range(repeats):
        for kind, names in contenders.items():
            for work in works or WORKS:
                for name in names[repeat % len(names) :] + names[: repeat % len(names)]:
                    time = seconds if kind == "rate" else 0.0
                    book.measure({"kind": kind, "work": work, "contender": name, "seconds": time}, repeat, limit)
    sys.exit(int(book.failed > 0))


def _slugs(zoo: Path | None) -> list[str]:
    if zoo is not None:
        names = sorted(path.stem for path in zoo.glob("*.py"))
        return [name for name in names if name not in NO_TARGETS and not name.startswith("ok_")]
    sys.path.append(str(HERE.parent / "tests"))
    from zoo import FAULTS

    return [f"{i}-{entry.name.replace(' ', '_').replace('/', '_')}" for i, entry in enumerate(FAULTS)]


@main.command()
@click.option("--zoo", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of modules, each "
              "with fn, args() and fixed; without it, the faults of tests/zoo.")  # fmt: skip
@click.option("--seconds", default=20.0, show_default=True, help="Wall time that each contender gets for a fault.")
@click.option("--repeats", default=1, show_default=True, help="How often everything is measured.")
@click.option("--match", default="", help="Only faults whose name contains this.")
@click.pass_obj
def first(book: Book, zoo: Path | None, seconds: float, repeats: int, match: str) -> None:
    """Measure the time to the first finding, autoprop against Hypothesis with `check_grads`."""
    where = str(zoo.resolve()) if zoo else ""
    limit, slugs = seconds + 120, [slug for slug in _slugs(zoo) if match in slug]
    for repeat in range(repeats):
        for slug in slugs:
            task = {"kind": "first", "work": slug, "seconds": seconds, "zoo": where}
            book.measure(task | {"contender": "autoprop all"}, repeat, limit)
            other = book.measure(task | {"contender": "check_grads"}, repeat, limit)
            if zoo and other.get("found"):  # an accusation of the sound version too is no finding of this fault
                book.measure(task | {"contender": "check_grads", "work": f"{slug}:fixed"}, repeat, limit)
    click.echo("\n".join(zoo_lines(book.data)))
    sys.exit(int(book.failed > 0))


@main.command()
@click.option("--out", type=click.Path(path_type=Path), default=DOCS, help="Folder for speed.svg and speed.md.")
@click.option("--png", type=click.Path(path_type=Path), help="Write the picture there too, as PNG.")
@click.pass_obj
def draw(book: Book, out: Path, png: Path | None) -> None:
    """Write the picture and the page from the records."""
    if not book.data.get("records"):
        raise click.ClickException(f"{book.file} holds no records; measure with `run` first")
    picture(book.data, [out / "speed.svg", *([png] if png else [])])
    (out / "speed.md").write_text(page(book.data), encoding="utf-8")


if __name__ == "__main__":
    main()
