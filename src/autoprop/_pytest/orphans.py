"""Stored cases whose test is gone: renamed, moved or deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .items import seen
from .options import Options

__all__ = ["report"]


def report(session: pytest.Session) -> None:
    """
    Tell the summary which cases match no test, as far as this session collected the modules they name.
    """
    config = session.config
    options = Options.of(config)
    if not options.names():
        return
    found = _orphans(options, seen(config))
    output = getattr(config, "workeroutput", None)
    if output is not None:
        output["autoprop_stale"] = found
        return
    summary: Any = config.pluginmanager.get_plugin("autoprop-summary")
    for text in found:
        summary.add("stale", text)


def _orphans(options: Options, tests: set[str]) -> list[str]:
    """
    Return a line for each folder of the corpus that belongs to no test.
    """
    from autoprop._errors import CorpusError
    from autoprop.corpus import Store
    from autoprop.corpus.slug import slug

    claimed = {slug(test) for test in tests}
    folders: dict[str, list[Path]] = {}
    for path in options.cases():
        if path.parent.name not in claimed:
            folders.setdefault(path.parent.name, []).append(path)
    lines = []
    for paths in folders.values():
        try:
            test = Store(options.folder).load(paths[0]).target
        except CorpusError as error:
            lines.append(str(error).replace(str(options.folder), options.show(options.folder)))
            continue
        why = _why(test, options.root, tests)
        if why:
            remedy = "rename the test back, or record the cases anew and remove these"
            lines.append(f"{options.show(paths[0].parent)} ({len(paths)}): {test}: {why}; {remedy}")
    return lines


def _why(test: str, root: Path, tests: set[str]) -> str | None:
    """
    Return why a case's target is no test, or None where that is not known: it is not pytest's, or was not collected.
    """
    file, separator, name = test.partition("::")
    if not separator:
        return None
    if not (root / file).exists():
        return f"{file} is gone"
    scope = test.rpartition("::")[0] + "::"
    if "::" in name and not any(other.startswith(scope) for other in tests):
        return None
    if any(other.startswith(file + "::") for other in tests):
        return "there is no such test"
    return None
