"""The command line: words into calls, events to readers, results to exit statuses."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ._defaults import CORPUS
from ._errors import AutopropError, UsageError

if TYPE_CHECKING:
    from ._events import Event
    from .corpus.store import Store
    from .report import Reader, Summary

__all__ = ["main", "seconds"]

INTERRUPTED = 130

EPILOG = "Exit status: 0 nothing found, 1 findings, 2 usage, 3 nothing was decided."


def seconds(text: str) -> float:
    """
    Read a duration such as ``90``, ``90s``, ``10m`` or ``1h30m``.

    Raises:
        UsageError: the text is no duration, or is zero.
    """
    match = re.fullmatch(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?", text.strip().lower())
    found = (
        sum(float(part) * unit for part, unit in zip(match.groups(), (3600, 60, 1), strict=True) if part)
        if match
        else 0
    )
    if found <= 0:
        raise UsageError(f"--time={text!r} must be a duration above zero, such as 90, 90s, 10m or 1h30m")
    return found


class _WrongCall(click.ClickException):
    """
    A wrong call, shown as one line.
    """

    exit_code = 2


class _Commands(click.Group):
    """
    Shows a wrong call as one line, with exit status 2.
    """

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except AutopropError as error:
            raise _WrongCall(str(error)) from None


@click.group(
    cls=_Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="autoprop-jax", prog_name="autoprop")
def main() -> None:
    """
    Verify the derivatives of JAX functions by searching for a point at which a law of differentiation is broken.
    """


_corpus = click.option(
    "--corpus",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(CORPUS),
    show_default=True,
    help="The folder of stored cases.",
)


@main.command(epilog=EPILOG)
@click.argument("targets", nargs=-1, required=True)
@click.option(
    "--time", "time_", metavar="TIME", help="The whole budget: 90, 90s, 10m, 1h30m. Default: one search each."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of everything that is drawn."
)
@click.option("--property", "properties", metavar="LAW", multiple=True, help="Run this law only; may be repeated.")
@_corpus
@click.option("--no-save", is_flag=True, help="Do not store findings.")
@click.option(
    "--json", "json_", type=click.Path(path_type=Path, dir_okay=False), help="Write every event as a JSON line."
)
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Write JUnit XML.")
@click.option("--rows", type=click.IntRange(min=1), help="How many points one compiled program screens at once.")
@click.option(
    "--programs",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep compiled programs in this folder: the next run starts faster.",
)
@click.option("--epoch", type=click.IntRange(min=0), default=0, show_default=True, help="The first pool of signatures.")
def fuzz(
    targets: tuple[str, ...],
    time_: str | None,
    seed: int,
    properties: tuple[str, ...],
    corpus: Path,
    no_save: bool,
    json_: Path | None,
    junit: Path | None,
    rows: int | None,
    programs: Path | None,
    epoch: int,
) -> None:
    """
    Search TARGETS for broken laws: pkg.module:name, pkg.module, a file, a folder, or file.py::test_name.

    Stored cases of the targets are judged first. What is found is shrunk, shown and stored.
    """
    budget = None if time_ is None else seconds(time_)
    from ._discover import discover
    from ._programs import kept_in
    from ._settings import Settings
    from .campaign import Plan, run
    from .corpus.store import Store
    from .properties import get

    with _told():
        discovered = discover(targets)
    plan = Plan(
        targets=tuple(discovered),
        settings=Settings(seed=seed, epoch=epoch, **({} if rows is None else {"rows": rows})),
        seconds=budget,
        properties=tuple(get(law).name for law in properties) or None,
        store=Store(corpus),
        save=not no_save,
    )
    with kept_in(programs):
        shown = _show(run(plan), budget, _files(json_, junit))
    _finish(*shown)


@main.command(epilog=EPILOG)
@click.argument("ids", nargs=-1)
@_corpus
def replay(ids: tuple[str, ...], corpus: Path) -> None:
    """
    Judge stored cases again: those of IDS (the start of a hash, a file, a target), or all.

    A case is open (still violated), fixed, undecided, or stale (its target or arguments are gone).
    """
    from .corpus.replay import replay as judged
    from .corpus.store import Store

    store = Store(corpus)
    paths = _cases(store, ids)
    if not paths:
        raise UsageError(f"{corpus} holds no case; give the folder of the corpus as --corpus=DIR")
    _finish(*_show(judged(store, paths=paths), None, []))


@main.command()
@click.argument("name", required=False)
def laws(name: str | None) -> None:
    """
    List the laws, or tell what the law NAME says, catches and does not catch.
    """
    from .properties import LAWS, get
    from .report.listing import law_page, law_table

    _screen().print(law_table(LAWS) if name is None else law_page(get(name)), highlight=False)


@main.command()
@_corpus
def info(corpus: Path) -> None:
    """
    Tell versions, devices, numeric modes and the size of the corpus.
    """
    import jax

    from ._environment import Environment
    from .corpus.store import Store
    from .report.listing import environment_table

    cases = len(Store(corpus).cases())
    more = {
        "devices": ", ".join(str(device) for device in jax.devices()),
        "corpus": f"{corpus.as_posix()}: {cases} cases",
    }
    _screen().print(environment_table(Environment.current(), more), highlight=False)


def _screen() -> Any:
    from rich.console import Console

    return Console()


@contextmanager
def _told() -> Iterator[None]:
    """
    Show warnings as lines of their own, without the place in the source that a library gives them.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        click.echo(f"warning: {warning.message}", err=True)


def _files(json_: Path | None, junit: Path | None) -> list[Reader]:
    from .report.jsonl import JsonLines
    from .report.junit import JUnit

    readers: list[Reader] = []
    if json_ is not None:
        readers.append(JsonLines(json_))
    if junit is not None:
        readers.append(JUnit(junit))
    return readers


def _cases(store: Store, ids: Sequence[str]) -> list[Path]:
    """
    Return the files that words mean: all, one by its hash or name, those of a target or of a folder.
    """
    if not ids:
        return store.cases()
    found: dict[Path, None] = {}
    for word in ids:
        path = Path(word)
        if path.is_file() and path.suffix == ".json":
            found[path] = None
        else:
            found.update(dict.fromkeys(_of_target(store, word) or [store.find(word)]))
    return list(found)


def _of_target(store: Store, word: str) -> list[Path]:
    cases = store.cases(word)
    if cases or Path(word).suffix == ".json":
        return cases
    return [path for path in store.cases() if store.folder in path.parents and _belongs(store, path, word)]


def _belongs(store: Store, path: Path, word: str) -> bool:
    try:
        target = store.load(path).target
    except AutopropError:
        return False
    return target == word or target.startswith((f"{word}:", f"{word.rstrip('/')}/"))


def _show(events: Iterable[Event], budget: float | None, files: list[Reader]) -> tuple[Summary, bool]:
    """
    Give every event to every reader; an interruption ends the run as if it were over, with what was found.
    """
    from ._events import Finished
    from .report import Summary
    from .report.console import Console

    summary, interrupted = Summary(), False
    with Console(_screen(), seconds=budget) as console:
        readers: list[Reader] = [summary, console, *files]
        try:
            for event in events:
                for reader in readers:
                    reader.read(event)
        except KeyboardInterrupt:
            interrupted = True
            findings = tuple(each.finding for each in summary.of_state("new", "open"))
            last = Finished(findings, summary.points, summary.elapsed(), (*summary.errors, "interrupted"))
            for reader in readers:
                reader.read(last)
        finally:
            for reader in readers:
                reader.close()
    return summary, interrupted


def _finish(summary: Summary, interrupted: bool) -> None:
    status = summary.status
    raise SystemExit(INTERRUPTED if interrupted and status != 1 else status)
