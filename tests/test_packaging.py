"""What an installation of autoprop holds."""

import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """
    Build the wheel as an installer does.
    """
    builders = pytest.importorskip("hatchling.builders.wheel", reason="hatchling builds the wheel under test")
    folder = tmp_path_factory.mktemp("wheel")
    (path,) = builders.WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return zipfile.ZipFile(path)


def test_top_level(wheel: zipfile.ZipFile) -> None:
    """The wheel holds the two packages and its own metadata, nothing else."""
    top = {name.partition("/")[0] for name in wheel.namelist()}
    assert top == {"autoprop", "hypothesis_jax", f"autoprop_jax-{project()['version']}.dist-info"}


@pytest.mark.parametrize("package", ["autoprop", "hypothesis_jax"])
def test_typed(wheel: zipfile.ZipFile, package: str) -> None:
    """Both packages tell type checkers that they are typed."""
    assert f"{package}/py.typed" in wheel.namelist()


@pytest.mark.parametrize(("package", "source"), [("autoprop", "src"), ("hypothesis_jax", "strategies")])
def test_complete(wheel: zipfile.ZipFile, package: str, source: str) -> None:
    """Every module of the source tree is in the wheel."""
    modules = {path.relative_to(ROOT / source).as_posix() for path in (ROOT / source / package).rglob("*.py")}
    assert modules == {name for name in wheel.namelist() if name.startswith(f"{package}/") and name.endswith(".py")}


def test_entry_points(wheel: zipfile.ZipFile) -> None:
    """The wheel installs the command and the pytest plugin."""
    (name,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert wheel.read(name).decode().split() == [
        *("[console_scripts]", "autoprop", "=", "autoprop.cli:main"),
        *("[pytest11]", "autoprop", "=", "autoprop.pytest_plugin"),
    ]


def test_license(wheel: zipfile.ZipFile) -> None:
    """The licence travels with the wheel."""
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())


def project() -> dict[str, object]:
    """
    Return the ``[project]`` table of pyproject.toml.
    """
    table: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table
