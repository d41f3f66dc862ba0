"""The library's modules import only from the left: the order is data flow, and has no cycles."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import everycell

LIBRARY = Path(everycell.__file__).parent
#: Each group may import from itself and from the groups before it.
ORDER = (
    ("config", "artefacts", "foreign"),
    ("sources",),
    ("collections",),
    ("statistics", "metrics"),
    ("text",),
    ("retrieval", "learning"),
    ("dialogue", "rag", "fair_ranking", "explain"),
    ("render",),
    ("verdicts", "conclusions", "receipts", "lineage", "audits", "results", "differences", "crate"),
    ("cli",),
)
PLACE = {part: place for place, group in enumerate(ORDER) for part in group}
MODULES = sorted(path for path in LIBRARY.rglob("*.py") if path != LIBRARY / "__init__.py")


def imported(path: Path) -> set[str]:
    """Modules that a file imports, wherever in the file, in full ("everycell.config")."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}, line {node.lineno}: name the module in full"
            found.add(node.module)
            if node.module == "everycell":
                found |= {f"everycell.{alias.name}" for alias in node.names}
    return found


def parts(path: Path) -> set[str]:
    """Parts of the library ("config", "statistics") that a file imports."""
    own = {name.split(".")[1] for name in imported(path) if name.startswith("everycell.")}
    return own & {module.stem for module in LIBRARY.iterdir()}


def part_of(path: Path) -> str:
    """Part of the library that a file belongs to."""
    return Path(path.relative_to(LIBRARY).parts[0]).stem


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(LIBRARY).as_posix())
def test_a_module_imports_only_from_the_left(path):
    place = PLACE[part_of(path)]
    late = {part: PLACE[part] for part in parts(path) if PLACE[part] > place}
    assert not late, f"{path.name} imports {sorted(late)}, which stand right of it"


def test_parts_import_each_other_in_no_cycle():
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        graph.setdefault(part_of(path), set()).update(parts(path) - {part_of(path)})
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(LIBRARY).as_posix())
def test_the_library_knows_no_snakemake(path):
    assert not {name for name in imported(path) if name.split(".")[0] == "snakemake"}


def test_the_check_sees_imports_inside_functions():
    """`cli` draws the page, and imports what that takes only when it is asked to."""
    assert {"render", "results", "config"} <= parts(LIBRARY / "cli.py")
