"""What the command line and the ini-file ask of the plugin."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from autoprop._defaults import CORPUS

if TYPE_CHECKING:
    from autoprop._settings import Settings

__all__ = ["CAPTURES", "Options", "add", "configure", "header"]

CAPTURES = ("jax", "all", "off")
PROFILES = ("dev", "ci", "deep")


@dataclass(frozen=True)
class Options:
    """
    What the command line and the ini-file ask for.

    Attributes:
        root: pytest's root directory, which files are shown relative to.
        folder: the corpus.
        save: whether findings are saved.
        replay_only: whether only stored cases run.
        profile: name of the settings' profile, or None.
        seed: the seed of every search, or None for the settings' own.
        capture: which of the user's own ``@given`` tests are captured.
        listing: the cases that the controller of a distributed run saw; None outside of one.
    """

    root: Path
    folder: Path
    save: bool
    replay_only: bool
    profile: str | None
    seed: int | None
    capture: str
    listing: frozenset[str] | None

    @classmethod
    def of(cls, config: pytest.Config) -> Options:
        """
        Return the options of a session.
        """
        return config.stash[KEY]

    def show(self, path: Path) -> str:
        """
        Return a path as text, relative to the root where it lies below it.
        """
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.as_posix()

    def names(self) -> list[str]:
        """
        Return every case in the corpus as ``folder/file``; reads no file and imports nothing.
        """
        found = (path for path in self.folder.glob("*/*.json") if not path.name.startswith("."))
        return sorted(f"{path.parent.name}/{path.name}" for path in found)

    def cases(self, target: str | None = None) -> list[Path]:
        """
        Return the files of a target's cases, or of all. In a distributed run every process gets the same ones.
        """
        if not self.folder.is_dir():
            return []
        from autoprop.corpus.store import Store

        found = Store(self.folder).cases(target)
        if self.listing is None:
            return found
        return [path for path in found if f"{path.parent.name}/{path.name}" in self.listing]

    def settings(self, given: Settings | None) -> Settings:
        """
        Return the settings of a search: those given to ``verify``, else the profile's; the seed of the command line.
        """
        import attrs

        from autoprop._settings import PROFILES

        settings = given or PROFILES[self.profile or "ci"]
        return settings if self.seed is None else attrs.evolve(settings, seed=self.seed)


KEY: pytest.StashKey[Options] = pytest.StashKey()


def _natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def add(parser: pytest.Parser) -> None:
    """
    Declare the options.
    """
    group = parser.getgroup("autoprop", "verification of JAX derivatives (autoprop)")
    group.addoption(
        "--autoprop-profile",
        choices=PROFILES,
        help="how widely autoprop.verify looks: dev is quick, ci (the default) thorough, deep slow",
    )
    group.addoption(
        "--autoprop-corpus",
        metavar="DIR",
        help=f"folder of the stored cases (ini: autoprop_corpus; default: {CORPUS} below the root directory)",
    )
    group.addoption("--autoprop-no-save", action="store_true", help="do not save new findings in the corpus")
    group.addoption("--autoprop-replay-only", action="store_true", help="run the stored cases and nothing else")
    group.addoption("--autoprop-seed", type=_natural, metavar="N", help="seed of the searches of autoprop.verify")
    parser.addini("autoprop_corpus", "folder of the stored cases, relative to the root directory", default=CORPUS)
    parser.addini(
        "autoprop_capture",
        "whose shrunk counterexamples are saved: jax (@given tests with an array or key argument), all, or off",
        default="jax",
    )


def configure(config: pytest.Config) -> None:
    """
    Read the options of a session, register the marker.
    """
    config.addinivalue_line(
        "markers", "autoprop_corpus: a stored case, replayed before anything new is drawn (added by autoprop)"
    )
    capture = config.getini("autoprop_capture")
    if capture not in CAPTURES:
        raise pytest.UsageError(f"autoprop_capture={capture!r} must be one of {', '.join(CAPTURES)}")
    sent: dict[str, Any] = getattr(config, "workerinput", {})
    chosen = config.getoption("autoprop_corpus")
    base = config.invocation_params.dir if chosen else config.rootpath
    folder = Path(os.path.normpath(base / (chosen or config.getini("autoprop_corpus"))))
    folder = Path(sent.get("autoprop_folder", folder))
    if folder.exists() and not folder.is_dir():
        raise pytest.UsageError(f"the corpus {folder} is a file, but must be a folder; choose it by --autoprop-corpus")
    config.stash[KEY] = Options(
        root=config.rootpath,
        folder=folder,
        save=not config.getoption("autoprop_no_save"),
        replay_only=config.getoption("autoprop_replay_only"),
        profile=config.getoption("autoprop_profile"),
        seed=config.getoption("autoprop_seed"),
        capture=capture,
        listing=frozenset(sent["autoprop_cases"]) if "autoprop_cases" in sent else None,
    )


def header(config: pytest.Config) -> str:
    """
    Return the line of the report's header; imports no jax.
    """
    from autoprop._environment import versions

    options = Options.of(config)
    count = len(options.names())
    libraries = ", ".join(f"{name} {version}" for name, version in versions("jax", "jaxlib").items())
    corpus = f"corpus {options.show(options.folder)} ({count} {'case' if count == 1 else 'cases'})"
    profile = f", profile {options.profile}" if options.profile else ""
    save = "on" if options.save else "off"
    return f"autoprop: {libraries}; {corpus}, save {save}, seed {options.seed or 0}{profile}"
