"""How what was found gets into the corpus, or why it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from autoprop._errors import CorpusError

from . import given, methods, notices
from .items import Case, parameter, target_id
from .options import Options

if TYPE_CHECKING:
    from autoprop._finding import Finding
    from autoprop.corpus import Case as Stored

__all__ = ["save_finding", "save_given"]

NOT_SAVED = "--autoprop-no-save is set"


def save_finding(item: pytest.Item, test: str, finding: Finding) -> tuple[Finding, str | None]:
    """
    Save a finding of a ``verify`` test as a case of that test.

    Returns:
        The finding with the name of its file, and why that case is tolerated (its ``xfail``), or None.
    """
    from autoprop.corpus import from_finding

    options = Options.of(item.config)
    if not options.save:
        notices.notify(item, "unsaved", f"{test} [{finding.property}]: {NOT_SAVED}")
        return finding, None
    try:
        path, reason = _save(item, from_finding(finding.replace(target=test)))
    except CorpusError as error:
        notices.notify(item, "unsaved", f"{test} [{finding.property}]: {error}")
        return finding, None
    return finding.replace(case=path), reason


def _save(item: pytest.Item, case: Stored) -> tuple[str, str | None]:
    """
    Save a case; return its file, and why it is tolerated if it was there already and is.
    """
    from autoprop.corpus import Store

    store, options = Store(Options.of(item.config).folder), Options.of(item.config)
    saved = store.save(case)
    path = options.show(saved.path)
    item_id = "" if methods.function_of(item) else f"[corpus-{saved.path.stem.rpartition('-')[2]}]"
    notices.notify(item, "saved" if saved.new else "known", f'{path}   pytest "{case.target}{item_id}"')
    return path, None if saved.new else store.load(saved.path).xfail


def save_given(item: pytest.Item, error: BaseException | None, report: pytest.TestReport) -> None:
    """
    Save the shrunk counterexamples of a user's own ``@given`` test that failed. Never an error of the run.
    """
    if isinstance(parameter(item), Case):
        return
    options = Options.of(item.config)
    before = len(item.user_properties)
    lines: list[str] = []
    for cause, arguments, flaky in given.tagged(error):
        if options.capture == "off" or (options.capture == "jax" and not given.holds_array(arguments)):
            continue
        lines.append(_save_given(item, cause, arguments, flaky=flaky))
    report.user_properties += item.user_properties[before:]
    if lines:
        report.sections.append(("autoprop", "\n".join(lines)))


def _save_given(item: pytest.Item, cause: BaseException, arguments: dict[str, Any], *, flaky: bool) -> str:
    """
    Save one counterexample; return the line that says so.
    """
    test, options = target_id(item), Options.of(item.config)
    what = _headline(cause)
    if flaky:
        notices.notify(item, "flaky", f"{test}: {what}")
        return f"not saved, because the failure is flaky: {what}"
    if not options.save:
        notices.notify(item, "unsaved", f"{test}: {NOT_SAVED}")
        return f"not saved ({NOT_SAVED}): {what}"
    try:
        from autoprop.corpus import from_arguments

        path, _ = _save(item, from_arguments(test, arguments, error=what))
    except CorpusError as error:
        notices.notify(item, "unsaved", f"{test}: {error}")
        return f"could not be saved: {error}"
    notices.describe_environment(item)
    return f"saved as {path}: {what}"


def _headline(error: BaseException) -> str:
    """
    Return an exception in one line.
    """
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:200]}" if text else type(error).__name__
