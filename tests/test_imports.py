"""What importing autoprop costs, and which names it makes public."""

import subprocess
import sys

import pytest

import autoprop

HEAVY = ("hypothesis", "jax", "jaxlib", "numpy")


def loaded_by(statement: str) -> list[str]:
    """
    Return which of the heavy libraries a fresh interpreter has loaded after a statement.
    """
    code = f"import sys\n{statement}\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize(
    "module", ["autoprop", "autoprop.pytest_plugin", "autoprop.cli", "autoprop._settings", "autoprop._target"]
)
def test_import_is_light(module: str) -> None:
    """Importing the package, the plugin or the command line loads no heavy library."""
    assert loaded_by(f"import {module}") == []


@pytest.mark.parametrize("name", ["Target", "Settings", "UsageError", "verify"])
def test_declaring_is_light(name: str) -> None:
    """The names that a test module needs to declare its targets load no heavy library."""
    assert loaded_by(f"import autoprop; autoprop.{name}") == []


def test_the_check_can_fail() -> None:
    """The check reports a heavy library that a statement does load."""
    assert loaded_by("import numpy") == ["numpy"]


@pytest.mark.parametrize("name", autoprop.__all__)
def test_public_name_exists(name: str) -> None:
    """Each name of ``__all__`` can be read."""
    assert getattr(autoprop, name) is not None


def test_public_names_are_listed() -> None:
    """``dir`` lists the public names and nothing else."""
    assert dir(autoprop) == sorted(autoprop.__all__)


def test_documented_names() -> None:
    """The public names are the documented ones."""
    assert sorted(autoprop.__all__) == [
        *("AutopropError", "AutopropWarning", "Checked", "CorpusError", "Counts", "Falsified", "Finding", "Finished"),
        *("Found", "Holds", "Mismatch", "Outcome", "Point", "Property", "Settings", "Started", "Target", "Undecided"),
        *("UsageError", "Violated", "check", "law", "properties", "replay", "search", "verify"),
    ]


def test_unknown_name() -> None:
    """A name that does not exist is refused by name."""
    with pytest.raises(AttributeError, match="module 'autoprop' has no attribute 'serach'"):
        autoprop.serach  # noqa: B018


def test_one_copy_of_the_strategies() -> None:
    """The strategies are imported under one name: the folder strategies/ is no package."""
    import hypothesis_jax

    assert (hypothesis_jax.__name__, "strategies" in sys.modules) == ("hypothesis_jax", False)
