"""The survey of JAX's public functions: complete, and every row can be called."""

import sys
from pathlib import Path

import pytest

from autoprop import Settings
from autoprop._search.signatures import slots

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
try:
    import public_functions
finally:
    sys.path.pop(0)

MODULES = {prefix: rest for prefix, *rest in public_functions.MODULES}
TARGETS = {target.name: target for target in public_functions.TARGETS}


def functions(module: object) -> set[str]:
    """
    Return the names of a module's public functions: what can be called and is no type.
    """
    public = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    return {name for name, value in public.items() if callable(value) and not isinstance(value, type)}


def methods(module: object) -> set[str]:
    """
    Return the functions of a module and of its public submodules, those by dotted names.
    """
    inner = {name for name in dir(module) if not name.startswith("_") and type(getattr(module, name)) is type(sys)}
    return functions(module) | {f"{name}.{each}" for name in inner for each in functions(getattr(module, name))}


@pytest.mark.parametrize("prefix", MODULES)
def test_every_public_function_has_a_place(prefix: str) -> None:
    """Each public function is in the table, or is left out for a reason."""
    module, table, left_out, _ = MODULES[prefix]
    known = {*table, *" ".join(left_out.values()).split()}
    public = methods(module) if prefix == "jax.scipy.stats" else functions(module)
    assert sorted(public - known) == []


@pytest.mark.parametrize("prefix", MODULES)
def test_no_function_has_two_places(prefix: str) -> None:
    """Names left out are each there once, and not in the table."""
    _, table, left_out, _ = MODULES[prefix]
    names = [*table, *" ".join(left_out.values()).split()]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_the_survey_is_wide() -> None:
    """Several hundred functions are surveyed, each under a name of its own."""
    assert (len(TARGETS) >= 500, len(TARGETS)) == (True, len(public_functions.TARGETS))


@pytest.mark.parametrize("prefix", MODULES)
def test_every_row_can_be_traced(prefix: str) -> None:
    """Each function takes what the table gives it; an argument is differentiated, and an output can be."""
    useless = []
    for name in [name for name in TARGETS if name.rpartition(".")[0].startswith(prefix)]:
        subject = slots(TARGETS[name], Settings(signatures=1))[0].subject
        if not (subject.moved_paths and subject.inexact_outputs):
            useless.append(name)
    assert useless == []
