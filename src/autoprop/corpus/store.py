"""The corpus on disk: where cases lie, and how any number of writers share it without a lock."""

from __future__ import annotations

import os
import re
import uuid
from pathlib import Path

import attrs

from autoprop._errors import CorpusError

from .record import Case, dumps, fingerprint, loads
from .slug import slug

__all__ = ["Saved", "Store"]

_LARGEST = 1 << 26
_SHORT = 8
_REMEDY = "choose a folder that can be written to, or do not save"


@attrs.frozen
class Saved:
    """
    Where a case lies.

    Attributes:
        path: its file.
        new: whether this call created the file; False if the same case was there already.
    """

    path: Path
    new: bool


@attrs.frozen
class Store:
    """
    A folder of cases: ``<folder>/<target>/<law>-<8 hex>.json``.

    Attributes:
        folder: the folder; it need not exist until something is saved.
    """

    folder: Path = attrs.field(converter=Path)

    def cases(self, target: str | None = None) -> list[Path]:
        """
        Return the files of all cases, or those of one target, sorted. Reads no file and imports no jax.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise CorpusError(f"{self.folder}: is a file, but a corpus is a folder")
        pattern = "*/*.json" if target is None else f"{slug(target)}/*.json"
        found = (path for path in self.folder.glob(pattern) if not path.name.startswith("."))
        return sorted(path for path in found if path.is_file())

    def load(self, path: str | os.PathLike[str]) -> Case:
        """
        Return the case of a file.

        Raises:
            CorpusError: the file cannot be read, is not a case, or lies in the folder of another target.
        """
        path = Path(path)
        try:
            if path.stat().st_size > _LARGEST:
                raise CorpusError(f"{path}: larger than {_LARGEST >> 20} MiB, too large for a case")
            case = loads(path.read_text("utf-8"), name=str(path))
        except UnicodeDecodeError as error:
            raise CorpusError(f"{path}: not UTF-8 text: {error}") from None
        except OSError as error:
            raise CorpusError(f"{path}: cannot be read: {error.strerror or error}") from None
        if path.parent.parent == self.folder and path.parent.name != slug(case.target):
            raise CorpusError(
                f"{path}: is a case of {case.target!r} and would not be found here; move it to {slug(case.target)}/"
            )
        return case

    def save(self, case: Case) -> Saved:
        """
        Write a case to its file, unless that case is there already; never change a file that exists.

        Raises:
            CorpusError: the folder cannot be written to.
        """
        folder, digest, content = self.folder / slug(case.target), fingerprint(case), dumps(case)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CorpusError(f"{folder}: cannot be made: {error.strerror or error}; {_REMEDY}") from None
        for length in range(_SHORT, len(digest) + 1, 4):
            path = folder / f"{slug(case.law)}-{digest[:length]}.json"
            try:
                if not path.exists() and _create(path, content):
                    return Saved(path, new=True)
            except OSError as error:
                raise CorpusError(f"{path}: cannot be written: {error.strerror or error}; {_REMEDY}") from None
            if fingerprint(self.load(path)) == digest:
                return Saved(path, new=False)
        raise CorpusError(f"{path}: holds another case than its name says; remove it")

    def find(self, id: str) -> Path:  # noqa: A002 - the word that users see
        """
        Return the file of one case.

        Args:
            id: the start of its hash (``1f3a``), its file's name (``adjoint-1f3a9c02``), or that with its folder.

        Raises:
            CorpusError: no case, or more than one, has this id; the message lists which there are.
        """
        wanted = id.removesuffix(".json").replace("\\", "/")
        paths = self.cases()
        names = {path: (f"{path.parent.name}/{path.stem}", path.stem, path.stem.rpartition("-")[2]) for path in paths}
        found = [path for path in paths if wanted in names[path]]
        if not found and re.fullmatch(r"[0-9a-f]+", wanted):
            found = [path for path in paths if names[path][2].startswith(wanted)]
        if len(found) == 1:
            return found[0]
        shown = [names[path][0] for path in found or paths]
        listing = ", ".join(shown[:10]) + (f" and {len(shown) - 10} more" if len(shown) > 10 else "")
        if found:
            raise CorpusError(f"{self.folder}: {id!r} is the id of {len(found)} cases; give one of {listing}")
        raise CorpusError(f"{self.folder}: no case has the id {id!r}; there are {listing or 'none at all'}")


def _create(path: Path, content: str) -> bool:
    """
    Create a file in one step; return False if it exists. The text is written beside it first, so no reader sees half.

    Where the file system has no hard links the last of two writers wins, and both count the case as new.
    """
    part = path.with_name(f".{path.stem}-{uuid.uuid4().hex}.part")
    try:
        with part.open("x", encoding="utf-8", newline="\n") as file:
            file.write(content)
        try:
            os.link(part, path)
        except FileExistsError:
            return False
        except (OSError, AttributeError, NotImplementedError):
            part.replace(path)
        return True
    finally:
        part.unlink(missing_ok=True)
