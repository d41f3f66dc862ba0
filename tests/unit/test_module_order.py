"""Floors, from `base` to `cli`: each imports only from its own or a lower one."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from harness import published

import everycell

LIBRARY = Path(everycell.__file__).parent
#: Packages: each group may import from itself and from the groups before it. The first five are
#: the engine, the others the library.
ORDER = (
    ("records",),
    ("receipts",),
    ("verdicts",),
    ("render",),
    ("jobs",),
    ("sources", "trec"),
    ("collections",),
    ("statistics", "metrics"),
    ("text",),
    ("retrieval", "learning"),
    ("language_models",),
    ("rag", "fair_ranking", "explain"),
)
#: Packages on the top floor.
TOP = {"config", "cli", "public", "workflow"}
PLACE = {
    "base": 0,
    **{package: layer for layer, group in enumerate(ORDER, start=1) for package in group},
    **dict.fromkeys(TOP, len(ORDER) + 1),
}
#: Code of the papers: rules and functions of their chapters.
PAPERS = LIBRARY.parents[1] / "workflow" / "papers"
MODULES = sorted(path for path in LIBRARY.rglob("*.py") if path != LIBRARY / "__init__.py")


def name_of(path: Path) -> str:
    """Name of a module below `everycell`, without the package's own."""
    return ".".join(path.relative_to(LIBRARY).with_suffix("").parts).removesuffix(".__init__")


@cache
def imported(path: Path) -> set[str]:
    """Modules that a file imports, wherever in the file, in full ("everycell.config")."""
    result = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            result |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}, line {node.lineno}: name the module in full"
            result |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return result


def imported_here(path: Path) -> set[str]:
    """Modules of our own that a file imports, without the package's name."""
    names = {name.removeprefix("everycell.") for name in imported(path) if "everycell." in name}
    return {name for name in names if name.partition(".")[0] in PLACE}


def package_of(name: str) -> str:
    """Package (or module) right below `everycell` that a module belongs to."""
    return name.partition(".")[0]


def strings_of_code(path: Path) -> Iterator[str]:
    """Strings of a module that are no documentation."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            yield node.value


@pytest.fixture(scope="module")
def papers(repository):
    """Keys of the papers."""
    return list(published())


def test_packages_have_floor():
    assert {package_of(name_of(path)) for path in MODULES} <= set(PLACE)


def test_modules_import_from_lower_floors():
    faults = [
        f"{name_of(path)} imports {name}"
        for path in MODULES
        for name in imported_here(path)
        if PLACE[package_of(name)] > PLACE[package_of(name_of(path))]
    ]
    assert faults == []


def chapter_of(name: str) -> str:
    """Chapter of a module below `papers`, as KEY.ch2, or only its paper."""
    _, key, *module = name.split(".")
    chapter = re.match(r"ch[0-9A-Z]+", module[0]) if module else None
    return f"{key}.{chapter[0]}" if chapter else key


def other_chapters(name: str, imports: set[str], papers: Collection[str]) -> list[str]:
    """Modules that a module of a paper imports from another paper or chapter.

    The folder `shared` has what several papers use.
    """
    own = chapter_of(name)
    return sorted(
        other
        for other in imports
        if other.startswith("papers.")
        and other.split(".")[1] in papers
        and chapter_of(other) not in (own, own.partition(".")[0])
    )


@pytest.mark.parametrize("path", sorted(PAPERS.glob("*/*.py")), ids=lambda path: path.stem)
def test_chapters_import_no_other_chapter(path, papers):
    name = f"papers.{path.parent.name}.{path.stem}"
    assert other_chapters(name, imported(path), papers) == []


def test_other_chapters():
    imports = {
        "papers.toy2026.ch2_settings.BLOCKS",
        "papers.toy2026.counts",
        "papers.toy2026.ch3.mean",
        "papers.other2026.counts",
        "papers.shared.tables",
        "everycell.trec.runs",
    }
    papers = ("toy2026", "other2026")
    refused = ["papers.other2026.counts", "papers.toy2026.ch3.mean"]
    assert other_chapters("papers.toy2026.ch2", imports, papers) == refused
    # Code that the chapters of a paper share imports none of them.
    refused.insert(1, "papers.toy2026.ch2_settings.BLOCKS")
    assert other_chapters("papers.toy2026.counts", imports, papers) == refused


def test_modules_import_neither_papers_nor_snakemake():
    for path in MODULES:
        roots = {name.partition(".")[0] for name in imported(path)}
        assert not roots & {"papers", "snakemake"}, name_of(path)


def test_packages_without_cycle():
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        own = package_of(name_of(path))
        result = {package_of(name) for name in imported_here(path)}
        graph.setdefault(own, set()).update(result - {own})
    TopologicalSorter(graph).prepare()


def test_modules_name_no_paper(papers):
    papers = re.compile("|".join(map(re.escape, papers)))
    for path in MODULES:
        if package_of(name_of(path)) not in TOP:
            names = [text for text in strings_of_code(path) if papers.search(text)]
            assert not names, f"{name_of(path)} names a paper: {names}"


@pytest.mark.parametrize("package", ["records", "verdicts"])
def test_architecture_lists_modules(repository, package):
    text = (repository / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = "\n".join(re.findall(r"^\| `.*?\|", text, re.MULTILINE))
    modules = {path.stem for path in (LIBRARY / package).glob("[a-z]*.py")}
    assert set(re.findall(rf"`{package}\.(\w+)`", rows)) == modules


def test_imported_here_and_strings_of_code(tmp_path):
    """Imports inside functions, and strings that are no docstrings."""
    module = tmp_path / "module.py"
    module.write_text(
        '"""Of toy2026."""\n\nCHAPTER = f"toy2026/{1}"\n"""Its name."""\n\n'
        "def run():\n    from everycell.trec import runs\n"
    )
    assert "trec.runs" in imported_here(module)
    assert list(strings_of_code(module)) == ["toy2026/"]
