"""Full docstrings belong to the public library; all else has a summary line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from inspect import getdoc, isfunction
from pathlib import Path

import everycell
from everycell.public import public_modules

SOURCE = Path(everycell.__file__).parents[1]
SECTION = re.compile(r"^(Parameters|Returns|Yields|Raises|Warns|See Also)\n-{3,}$", re.MULTILINE)


def documented(tree: ast.Module) -> Iterator[tuple[str, bool, str]]:
    """Name, whether it is public, and docstring of each function and class of a module."""

    def walk(node: ast.AST, public: bool) -> Iterator[tuple[str, bool, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                open_here = public and (child.name[:1] != "_" or child.name.endswith("__"))
                yield child.name, open_here, ast.get_docstring(child) or ""
                yield from walk(child, open_here and isinstance(child, ast.ClassDef))
            else:
                yield from walk(child, public)

    return walk(tree, True)


def test_only_the_public_library_documents_parameters():
    public = {SOURCE / f"{name.replace('.', '/')}.py" for name in public_modules()}
    wrong = [
        f"{path.relative_to(SOURCE)}: {name}"
        for path in SOURCE.rglob("*.py")
        for name, is_public, text in documented(ast.parse(path.read_text(encoding="utf-8")))
        if SECTION.search(text) and not (is_public and path in public)
    ]
    assert wrong == []


def test_every_function_that_the_package_offers_documents_parameters():
    functions = [name for name in everycell.__dir__() if isfunction(getattr(everycell, name))]
    offered = [name for name in functions if not name.startswith("_")]
    assert len(offered) > 20
    for name in offered:
        assert SECTION.search(getdoc(getattr(everycell, name)) or ""), name
