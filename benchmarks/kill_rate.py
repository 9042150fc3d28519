"""
The kill rate: how many wrong rules of ``tests/mutants`` a search catches, by kind, and which law caught them.

Run it with ``python benchmarks/kill_rate.py``; ``--help`` tells what can be chosen. Exit status 1 if a sound partner is
accused, or a mutant survives that is not known to.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import click

from autoprop import Settings, Target, UsageError, search
from autoprop.properties import LAWS

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # the mutants are test material

from mutants import MUTANTS, PARTNERS, Mutant, Partner
from zoo import FAULTS, SOUND


def look(entry: Mutant | Partner, settings: Settings) -> dict[str, Any]:
    """
    Search one function, and say which laws accused it.
    """
    start = time.perf_counter()
    target = Target(entry.fn, entry.spec, name=entry.name.replace(" ", "_"), **entry.contract)
    error, found = None, []
    try:
        found = [finding.property for finding in search(target, settings=settings).findings]
    except UsageError as refused:
        error = str(refused)
    return {"name": entry.name, "found": found, "seconds": round(time.perf_counter() - start, 2), "error": error}


def main(kind: str, seconds: float | None, examples: int, signatures: int, part: tuple[int, int], out: Any) -> int:
    """
    Search every chosen mutant and every sound partner, print the rates, and return the exit status.
    """
    settings = Settings(seconds=seconds, examples=None if seconds else examples, signatures=signatures)
    chosen = [mutant for mutant in MUTANTS if kind in mutant.name][part[0] :: part[1]]
    skipped = [mutant for mutant in chosen if not set(mutant.laws) & set(LAWS)]
    rows = []
    for mutant in [mutant for mutant in chosen if mutant not in skipped]:
        row = look(mutant, settings) | {"kind": mutant.kind, "laws": mutant.laws, "survives": mutant.survives}
        rows.append(row)
        _write(out, row)
        if not row["found"]:
            click.echo(f"survived: {mutant.name} ({row['error'] or mutant.survives or 'not explained'})")
    sound = []
    for partner in [partner for partner in PARTNERS if kind in partner.name][part[0] :: part[1]]:
        sound.append(look(partner, settings))
        _write(out, sound[-1])
        if sound[-1]["found"] or sound[-1]["error"]:
            click.echo(f"accused: {partner.name} by {', '.join(sound[-1]['found'])}{sound[-1]['error'] or ''}")
    report(rows, sound, skipped)
    return int(any(row["found"] or row["error"] for row in sound) or any(_unexplained(row) for row in rows))


def _write(out: Any, row: dict[str, Any]) -> None:
    if out:  # at once, so that a run that is interrupted leaves what it has seen
        print(json.dumps(row), file=out, flush=True)


def _unexplained(row: dict[str, Any]) -> bool:
    return not row["found"] and not row["survives"]


def report(rows: list[dict[str, Any]], sound: list[dict[str, Any]], skipped: list[Mutant]) -> None:
    """
    Print killed and survived by kind, and the law that was expected against the one that found.
    """
    total, killed = Counter(row["kind"] for row in rows), Counter(row["kind"] for row in rows if row["found"])
    click.echo(f"\n{'kind':44} killed")
    for kind, count in sorted(total.items()):
        click.echo(f"{kind:44} {killed[kind]:3} of {count}")
    _report_laws(rows)
    pairs = Counter((row["laws"][0], law) for row in rows for law in row["found"])
    click.echo(f"\n{'expected':16} found by")
    for (expected, law), count in sorted(pairs.items()):
        click.echo(f"{expected:16} {law:16} {count}")
    if skipped:
        missing = Counter(mutant.laws[0] for mutant in skipped)
        click.echo(f"\nSKIPPED {len(skipped)} mutants, whose laws do not exist yet: {dict(missing)}")
    accused = sum(bool(row["found"]) for row in sound)
    seconds = sum(row["seconds"] for row in rows)
    rate = 100 * sum(killed.values()) / max(len(rows), 1)
    click.echo(
        f"\n{sum(killed.values())} of {len(rows)} mutants killed ({rate:.1f} %), {accused} of {len(sound)} sound "
        f"functions accused, {seconds:.0f} s"
    )


def _report_laws(rows: list[dict[str, Any]]) -> None:
    """
    Print for each law how many mutants of this run name it as one that must see them and how many it found, beside the
    faults and the sound functions of ``tests/zoo`` that are its own.
    """
    named = Counter(law for row in rows for law in row["laws"])
    found = Counter(law for row in rows for law in row["found"])
    planted, sound = (Counter(entry.law for entry in table) for table in (FAULTS, SOUND))
    click.echo(f"\n{'law':16} named  found    zoo: faults  sound")
    for law in LAWS:
        click.echo(f"{law:16} {named[law]:5}  {found[law]:5}         {planted[law]:6}  {sound[law]:5}")


@click.command(help=__doc__)
@click.option("--kind", default="", help="Only mutants whose name (base: kind) contains this.")
@click.option("--seconds", type=float, default=None, help="Wall time for each function, instead of --examples.")
@click.option("--examples", default=512, show_default=True, help="Points screened for each function.")
@click.option(
    "--signatures", default=Settings().signatures, show_default=True, help="Shapes and dtypes for each function."
)
@click.option("--part", default=(0, 1), type=(int, int), show_default=True, help="Part I of N, to share the work.")
@click.option("--json", "out", type=click.File("w"), help="Write a line of JSON for each function there.")
def command(**options: Any) -> None:
    """Run it from a command line."""
    sys.exit(main(**options))


if __name__ == "__main__":
    command()
