"""Full docstrings belong to what docs/ offers to users; all else has a summary line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from inspect import getdoc, isfunction
from pathlib import Path

import everycell
from everycell.public import NAMES, public_modules

SOURCE = Path(everycell.__file__).parents[1]
SECTION = re.compile(r"^(Parameters|Returns|Yields|Raises|Warns|See Also)\n-{3,}$", re.MULTILINE)


def definitions(module: Path) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    """Functions and classes of a module by name."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    return {
        node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def docstrings(node: ast.AST) -> Iterator[str]:
    """Docstrings of a function or class and of all within it."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.ClassDef):
            yield ast.get_docstring(inner) or ""


def documented_names(repository: Path) -> set[str]:
    """Names that docs/ offers to users, and the names that their docstrings mention."""
    library = (repository / "docs/library.md").read_text(encoding="utf-8")
    pages = [*repository.glob("docs/*.md"), *repository.glob("docs/notebooks/*.ipynb")]
    imports = re.findall(
        r"from (everycell[\w.]+) import ([\w, ]+)",
        "\n".join(page.read_text(encoding="utf-8") for page in pages),
    )
    files = {name: SOURCE / f"{name.replace('.', '/')}.py" for name in public_modules()}
    nodes = {name: node for file in files.values() for name, node in definitions(file).items()}
    names = {name for _, name in NAMES.values()}
    for module, imported in imports:
        names |= set(imported.split(", ")) if module in files else set()
    # Modules that the page names as a whole.
    for module, file in files.items():
        names |= set(definitions(file)) if module in library else set()
    remaining = set(names)
    while remaining:
        texts = [text for name in remaining & nodes.keys() for text in docstrings(nodes[name])]
        mentioned = set(re.findall(r"`(?:[\w.~]*\.)?(\w+)`", "\n".join(texts)))
        remaining = mentioned & nodes.keys() - names
        names |= remaining
    return names


def test_sections_only_in_public_library(repository):
    public = {SOURCE / f"{name.replace('.', '/')}.py" for name in public_modules()}
    names = documented_names(repository)
    assert {"rbo", "rank_weights", "exposure_error", "t_tests"} < names and "anova" not in names
    wrong = [
        f"{path.relative_to(SOURCE)}: {name}"
        for path in SOURCE.rglob("*.py")
        for name, node in definitions(path).items()
        if any(map(SECTION.search, docstrings(node))) and not (name in names and path in public)
    ]
    assert wrong == []


def test_sections_of_public_functions():
    functions = [name for name in everycell.__dir__() if isfunction(getattr(everycell, name))]
    offered = [name for name in functions if not name.startswith("_")]
    assert len(offered) > 20
    for name in offered:
        assert SECTION.search(getdoc(getattr(everycell, name)) or ""), name
