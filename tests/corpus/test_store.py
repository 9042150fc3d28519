"""Any number of writers share a corpus; each case is one file, whole or absent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from autoprop._environment import Environment
from autoprop._errors import CorpusError
from autoprop.corpus import Case, Store, from_arguments, store
from autoprop.corpus.record import fingerprint

ENVIRONMENT = Environment("3", "0", "0", "2", "6", "0", "Linux", "cpu", False, "default")


def case(n: Any = 1, target: str = "test_f") -> Case:
    """
    Return a small case.
    """
    return from_arguments(target, {"n": n}, error="AssertionError", environment=ENVIRONMENT)


def files(folder: Path) -> list[str]:
    """
    Return the files below a folder, hidden ones too.
    """
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_save_and_load(tmp_path: Path) -> None:
    """
    A case lies at ``<target>/<law>-<8 hex>.json`` and loads as it was saved; nothing else is left behind.
    """
    folder = tmp_path / "new" / "corpus"
    saved = Store(folder).save(case())
    assert saved.new
    assert files(folder) == [f"test_f/given-{fingerprint(case())[:8]}.json"]
    assert Store(folder).load(saved.path) == case()
    assert Store(folder).load(saved.path).name == str(saved.path)


def test_saving_twice_is_one_file(tmp_path: Path) -> None:
    """
    The same case is not written again, and a file that exists keeps what people added to it.
    """
    first = Store(tmp_path).save(case().replace(xfail="known"))
    second = Store(tmp_path).save(case())
    assert (second.path, second.new) == (first.path, False)
    assert Store(tmp_path).load(second.path).xfail == "known"


def test_files_can_be_shared(tmp_path: Path) -> None:
    """
    A file has the permissions that the user's mask gives to any new file.
    """
    plain = tmp_path / "plain"
    plain.touch()
    assert Store(tmp_path).save(case()).path.stat().st_mode == plain.stat().st_mode


def test_equal_starts_of_hashes_get_longer_names(tmp_path: Path) -> None:
    """
    Where another case has the same eight digits, the name is longer, and both are found again.
    """
    other = Store(tmp_path).save(case(2)).path
    taken = other.with_name(f"given-{fingerprint(case())[:8]}.json")
    other.rename(taken)
    saved = Store(tmp_path).save(case())
    assert (saved.path.name, saved.new) == (f"given-{fingerprint(case())[:12]}.json", True)
    assert Store(tmp_path).save(case()) == store.Saved(saved.path, new=False)
    assert Store(tmp_path).find(fingerprint(case())[:8]) == taken


def test_cases_are_listed_by_target(tmp_path: Path) -> None:
    """
    All cases, or those of one target, are listed in order; other files are not cases.
    """
    corpus = Store(tmp_path)
    assert corpus.cases() == []
    paths = sorted(corpus.save(case(n, target)).path for n in (1, 2) for target in ("test_f", "Test_F", "m:f"))
    (tmp_path / "README.md").touch()
    (tmp_path / "test_f" / ".given-1.part").touch()
    (tmp_path / "test_f" / "x.json").mkdir()
    assert corpus.cases() == paths
    assert corpus.cases("m:f") == [path for path in paths if path.parent.name.startswith("m-f")]
    assert corpus.cases("absent") == []


def test_listing_imports_no_jax(tmp_path: Path) -> None:
    """
    Collecting tests lists their cases without importing jax or numpy; loading one does not need them either.
    """
    Store(tmp_path).save(case())
    script = (
        "import sys; from autoprop.corpus.store import Store; s = Store(sys.argv[1]);"
        "s.load(s.cases('test_f')[0]); print([m for m in ('jax', 'numpy', 'hypothesis') if m in sys.modules])"
    )
    assert run(script, tmp_path).communicate(timeout=60)[0] == "[]\n"


def run(script: str, *arguments: object) -> subprocess.Popen[str]:
    """
    Start another Python on a script.
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


WRITER = """
import json, sys, time
from pathlib import Path
from autoprop._environment import Environment
from autoprop.corpus import Store, from_arguments
folder, go = Path(sys.argv[1]), Path(sys.argv[2])
here = Environment("3", "0", "0", "2", "6", "0", "Linux", "cpu", False, "default")
cases = [from_arguments("test_f", {"n": n}, error="AssertionError", environment=here) for n in range(100)]
go.with_name(f"ready-{sys.argv[3]}").touch()
while not go.exists():
    time.sleep(0.001)
print(json.dumps([n for n, case in enumerate(cases) if Store(folder).save(case).new]))
"""


def test_many_writers(tmp_path: Path) -> None:
    """
    Four processes that save the same hundred cases at once make a hundred files, each new to exactly one of them.
    """
    folder, go = tmp_path / "corpus", tmp_path / "go"
    writers = [run(WRITER, folder, go, at) for at in range(4)]
    while len(list(tmp_path.glob("ready-*"))) < 4 and all(writer.poll() is None for writer in writers):
        time.sleep(0.01)
    go.touch()
    new = Counter(n for writer in writers for n in json.loads(writer.communicate(timeout=120)[0]))
    assert new == Counter(range(100))
    paths = Store(folder).cases("test_f")
    assert files(folder) == [path.relative_to(folder).as_posix() for path in paths]
    assert sorted(Store(folder).load(path).values()["n"] for path in paths) == list(range(100))


def test_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    On a file system without hard links the case is renamed into place.
    """

    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    saved = Store(tmp_path).save(case())
    assert files(tmp_path) == [saved.path.relative_to(tmp_path).as_posix()]
    assert not Store(tmp_path).save(case()).new


def test_a_writer_that_comes_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    A writer that saw no file but loses the race reports the other's file as not new.
    """
    Store(tmp_path).save(case())
    monkeypatch.setattr(Path, "exists", lambda _: False)
    assert not Store(tmp_path).save(case()).new
    assert len(files(tmp_path)) == 1


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """
    A corpus that cannot be written to is an error that names the folder and the remedy.
    """
    blocked = tmp_path / "file"
    blocked.touch()
    with pytest.raises(CorpusError, match=r"file.*cannot be made.*choose a folder that can be written to"):
        Store(blocked).save(case())
    with pytest.raises(CorpusError, match="is a file, but a corpus is a folder"):
        Store(blocked).cases()


def test_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    A write that fails half way is an error and leaves nothing.
    """

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(CorpusError, match="cannot be written: No space left on device"):
        Store(tmp_path).save(case())
    assert files(tmp_path) == []


def test_case_in_the_wrong_folder(tmp_path: Path) -> None:
    """
    A file moved to another target's folder would never be replayed there, so it is refused.
    """
    path = Store(tmp_path).save(case()).path
    moved = tmp_path / "other" / path.name
    moved.parent.mkdir()
    path.rename(moved)
    with pytest.raises(CorpusError, match="is a case of 'test_f' and would not be found here; move it to test_f/"):
        Store(tmp_path).load(moved)


def test_absent_file(tmp_path: Path) -> None:
    """
    Loading a file that is not there names it.
    """
    with pytest.raises(CorpusError, match=r"absent\.json: cannot be read: No such file"):
        Store(tmp_path).load(tmp_path / "absent.json")


def test_find(tmp_path: Path) -> None:
    """
    A case is found by the start of its hash, by its file's name, and by that with its folder.
    """
    corpus = Store(tmp_path)
    path = corpus.save(case()).path
    corpus.save(case(2))
    digest = path.stem.removeprefix("given-")
    for id_ in (digest[:4], digest, path.stem, path.name, f"test_f/{path.stem}"):
        assert corpus.find(id_) == path


@pytest.mark.parametrize("id_", ["absent", "", "ffffffff", "given"])
def test_find_nothing(tmp_path: Path, id_: str) -> None:
    """
    An id that names no case is an error that lists the cases there are.
    """
    path = Store(tmp_path).save(case()).path
    with pytest.raises(CorpusError, match=f"no case has the id '{id_}'; there are test_f/{path.stem}"):
        Store(tmp_path).find(id_)


def test_find_more_than_one(tmp_path: Path) -> None:
    """
    An id that names several cases is an error that lists them, in a form that tells them apart.
    """
    path = Store(tmp_path).save(case()).path
    twin = tmp_path / "other" / path.name
    twin.parent.mkdir()
    twin.write_bytes(path.read_bytes())
    with pytest.raises(CorpusError, match=f"is the id of 2 cases; give one of other/{path.stem}, test_f/{path.stem}"):
        Store(tmp_path).find(path.stem)
