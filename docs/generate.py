"""Writes the pages that say what the laws are: `python docs/generate.py` after a docstring of a law has changed."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

from autoprop.properties import LAWS, Property

DOCS = Path(__file__).parent
sys.path.append(str(DOCS.parent / "tests"))  # where the planted faults are

from mutants import MUTANTS  # noqa: E402


def page(law: Property) -> str:
    """
    Return the page of one law: its formula, why it must hold, what it catches and what it does not.
    """
    formula, _, rest = inspect.cleandoc(law.doc).partition("\n")
    facts = [f"group {law.group}"]
    facts += ["judged where a target names it in `properties`"] if law.on_request else []
    facts += ["judged at one point of a signature: it is about the program"] if law.once else []
    facts += ["screened on many points at once"] if law.screen is not None else []
    facts += ["off where `intended=('custom_rules',)` is declared"] if law.numeric else []
    return f"# {law.name}\n\n> {formula}\n\n{rest.strip().replace('``', '`')}\n\n*{'; '.join(facts)}.*\n"


def index() -> str:
    """
    Return the table of all laws.
    """
    lines = [
        "# The laws",
        "",
        "Each is an item of `autoprop.verify`, a function in `autoprop.properties` and a word for `--property`.",
        "",
    ]
    for group in dict.fromkeys(law.group for law in LAWS.values()):
        lines += [f"## {group}", "", "| law | formula |", "|---|---|"]
        for law in LAWS.values():
            if law.group == group:
                formula = law.formula.replace("|", "\\|").replace("``", "`")
                lines.append(f"| [{law.name}]({law.name}.md) | {formula} |")
        lines.append("")
    return "\n".join(lines)


def not_caught() -> str:
    """
    Return what each law says that it does not catch.
    """
    lines = [
        "# What is not caught",
        "",
        "Every law says what it leaves to others or to nobody. No law sees a fault that shows at no point",
        "that is tried: one that needs a special value which no family of values holds, a size beyond those",
        "of the signatures, another device, or a later version of JAX. Automatic differentiation gives the",
        "derivative of the function as written, so a wrong formula with a right derivative passes, unless",
        "`reference=` or `expected_grad=` says what was meant.",
        "",
        "| law | does not catch |",
        "|---|---|",
    ]
    for law in LAWS.values():
        text = inspect.cleandoc(law.doc).partition("**Does not catch**")[2].partition("\n\n")[0]
        told = re.sub(r"\s+", " ", text).strip().replace("|", "\\|").replace("``", "`")
        lines.append(f"| [{law.name}](laws/{law.name}.md) | {told} |")
    lines += [
        "",
        "## Planted faults that survive",
        "",
        f"Of the {len(MUTANTS)} wrong rules in `tests/mutants` no law finds these; the tests hold that none does.",
        "",
        "| why | which |",
        "|---|---|",
    ]
    reasons = dict.fromkeys(mutant.survives for mutant in MUTANTS if mutant.survives)
    for reason in reasons:
        names = ", ".join(mutant.name for mutant in MUTANTS if mutant.survives == reason)
        lines.append(f"| {reason} | {names} |")
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """
    Return every generated page by its path in this folder.
    """
    found = {f"laws/{name}.md": page(law) for name, law in LAWS.items()}
    return {**found, "laws/README.md": index(), "not_caught.md": not_caught()}


if __name__ == "__main__":
    for path, text in pages().items():
        DOCS.joinpath(path).parent.mkdir(exist_ok=True)
        DOCS.joinpath(path).write_text(text, encoding="utf-8")
