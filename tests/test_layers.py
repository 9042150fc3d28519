"""The import rules of ARCHITECTURE.md, checked on the source text."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Lowest first. A module may import its own layer and those listed before it.
LAYERS = [
    {"_defaults", "_errors", "_trees", "_dtypes", "_equations", "_jaxprs", "_origin"},
    {
        *("_environment", "_events", "_finding", "_numerals", "_pairing", "_point", "_render"),
        *("_settings", "_source", "_subject", "_target", "_tolerance", "_compile", "_programs", "_verdict"),
    },
    {"oracles"},
    {"properties"},
    {"_search", "explain", "corpus", "_discover", "_importing"},
    {"campaign", "report"},
    {"cli", "pytest_plugin", "_pytest", "_verify", "__main__", "__init__"},
]

# Packages that only the named modules may import.
PLUGIN = {"pytest_plugin", "_pytest", "_verify"}
ONLY = {
    "_pytest": set(),
    "cattrs": {"corpus"},
    "click": {"cli"},
    "hypothesis": {"_search", *PLUGIN},
    "hypothesis_jax": {"_search", *PLUGIN},
    "pytest": PLUGIN,
    "rich": {"cli", "report"},
}


def level(name: str) -> int:
    """
    Return the layer of a top-level module of autoprop, counted from the bottom.
    """
    for i, names in enumerate(LAYERS):
        if name in names:
            return i
    raise ValueError(f"autoprop.{name} has no layer; add it to LAYERS and to ARCHITECTURE.md")


def running(node: ast.AST) -> Iterator[ast.AST]:
    """
    Yield the nodes below ``node`` that run: all but the bodies of ``if TYPE_CHECKING``.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from running(child)


def imports(path: Path, source: Path) -> Iterator[str]:
    """
    Yield the absolute dotted name of everything ``path`` imports, lazily or not.
    """
    parts = path.relative_to(source).with_suffix("").parts
    for node in running(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = parts[: len(parts) - node.level] if node.level else ()
            dotted = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{dotted}.{alias.name}" for alias in node.names)


def faults(path: Path, source: Path) -> list[str]:
    """
    Return each broken rule of one module of autoprop below ``source``.
    """
    here = path.relative_to(source / "autoprop").with_suffix("").parts[0]
    found = []
    for name in imports(path, source):
        top, _, rest = name.partition(".")
        there = rest.partition(".")[0]
        if top == "autoprop" and there and level(there) > level(here):
            found.append(f"{here} imports {name}, a layer above it")
        if top in ONLY and here not in ONLY[top]:
            found.append(f"{here} imports {top}; only {', '.join(sorted(ONLY[top])) or 'nothing'} may")
    return found


SOURCE = ROOT / "src"
MODULES = sorted((SOURCE / "autoprop").rglob("*.py"))
OURS = [*MODULES, *sorted((ROOT / "strategies").rglob("*.py"))]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    """No module imports from a layer above its own, nor a library that is another module's business."""
    assert faults(path, SOURCE) == []


def test_strategies_stand_alone() -> None:
    """Nothing in strategies/ imports autoprop."""
    importers = [
        path
        for path in sorted((ROOT / "strategies").rglob("*.py"))
        if any(name.partition(".")[0] == "autoprop" for name in imports(path, ROOT / "strategies"))
    ]
    assert importers == []


def test_second_source_root_is_no_package() -> None:
    """strategies/ has no __init__.py: it would be importable a second time under another name."""
    assert not (ROOT / "strategies" / "__init__.py").exists()


@pytest.mark.parametrize("path", OURS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_short(path: Path) -> None:
    """No file has more than 300 lines: one file, one reason to change."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize(
    ("module", "text", "expected"),
    [
        ("_target", "from ._search import search", ["_target imports autoprop._search.search, a layer above it"]),
        ("_point", "def f():\n    from autoprop import cli", ["_point imports autoprop.cli, a layer above it"]),
        (
            "oracles/paired",
            "from ..corpus.store import Store",
            ["oracles imports autoprop.corpus.store.Store, a layer above it"],
        ),
        ("cli", "import pytest", ["cli imports pytest; only _pytest, _verify, pytest_plugin may"]),
        ("_errors", "if TYPE_CHECKING:\n    from ._search import search", []),
        ("_search/shrink", "from hypothesis import given\nfrom .._point import Point", []),
    ],
)
def test_the_check_can_fail(module: str, text: str, expected: list[str], tmp_path: Path) -> None:
    """A planted import is reported where it breaks a rule, and only there."""
    path = tmp_path / "autoprop" / f"{module}.py"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert faults(path, tmp_path) == expected
