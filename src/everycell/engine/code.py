"""Which code a script runs: its import closure, and one hash over it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path


def code_sha256(paths: Iterable[Path], root: Path) -> str:
    """One hash over source files: their names relative to `root`, sorted, and their bytes.

    Examples
    --------
    >>> import tempfile
    >>> root = Path(tempfile.mkdtemp())
    >>> files = [root / "b.py", root / "a.py"]
    >>> for file in files:
    ...     _ = file.write_text("pass")
    >>> code_sha256(files, root) == code_sha256(reversed(files), root)
    True
    """
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


#: #: Data files beside a module that do not count as its code: a file of the registry is a separate
#: input in a receipt, so that a new entry does not rerun results.
NOT_CODE = frozenset({"registry.yaml"})


def imported_files(script: Path, roots: Iterable[Path]) -> set[Path]:
    r"""The project's files that a script runs: itself, its imports, their templates and data.

    Imports are followed as written, also inside functions, through the folders of `roots`; modules
    elsewhere (installed packages) are skipped. A module's data is any file in its folder whose name
    occurs in it as a string.

    Examples
    --------
    >>> import tempfile
    >>> root = Path(tempfile.mkdtemp())
    >>> _ = (root / "a.py").write_text("import json\nfrom b import c")
    >>> _ = (root / "b.py").write_text("c = open('words.yaml')")
    >>> _ = (root / "words.yaml").write_text("he: she")
    >>> sorted(path.name for path in imported_files(root / "a.py", [root]))
    ['a.py', 'b.py', 'words.yaml']
    """
    roots = tuple(roots)
    found: set[Path] = set()
    beside: set[Path] = set()
    waiting = [script]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            modules, data = _needs(path, roots)
            waiting.extend(modules)
            beside |= data
    templates = {
        template
        for folder in {path.parent / "templates" for path in found}
        for template in folder.glob("*")
    }
    return found | beside | templates


#: #: An import statement. Faster than parsing all modules, which would take a third of a dry run;
#: words of a docstring that look like an import can only add a file.
IMPORT = re.compile(
    r"^[ \t]*(?:from[ ]+(?P<module>[\w.]+)[ ]+import[ ]+(?P<names>\([^)]*\)|[^\n#]+)"
    r"|import[ ]+(?P<modules>[^\n#]+))",
    re.MULTILINE,
)


def imported_names(text: str) -> list[str]:
    r"""Modules that a file imports, and the names it takes from them, each once.

    Examples
    --------
    >>> imported_names("import json\nfrom a.b import c as d")
    ['json', 'a.b', 'a.b.c']
    """
    names = []
    for match in IMPORT.finditer(text):
        names += _listed(match["modules"] or "")
        if match["module"]:
            module = match["module"]
            names += [module, *(f"{module}.{name}" for name in _listed(match["names"]))]
    return list(dict.fromkeys(names))


@cache
def _needs(path: Path, roots: tuple[Path, ...]) -> tuple[tuple[Path, ...], frozenset[Path]]:
    """Modules that a file imports, and the data files beside it that it names."""
    text = path.read_text(encoding="utf-8")
    found = []
    for name in imported_names(text):
        parts = name.split(".")
        for root in roots:
            # Most imports are of installed packages.
            if not _is_ours(root / parts[0]):
                continue
            for depth in range(1, len(parts) + 1):
                module = root.joinpath(*parts[:depth])
                files = (module.with_name(f"{module.name}.py"), module / "__init__.py")
                found += [file for file in files if file.exists()]
    data = (file for file in path.parent.iterdir() if file.suffix != ".py" and file.is_file())
    # As a complete string, in quotation marks of either kind.
    texts = set(re.findall(r"""["']([^"'\n]+)["']""", text)) - NOT_CODE
    return tuple(found), frozenset(file for file in data if file.name in texts)


def _listed(names: str) -> list[str]:
    """Names of an import statement, without their aliases."""
    # A list over several lines may have comments.
    listed = re.sub(r"#[^\n]*", "", names).strip("()\n ").split(",")
    return [name.split()[0] for name in listed if name.split()]


@cache
def _is_ours(module: Path) -> bool:
    return module.is_dir() or module.with_name(f"{module.name}.py").is_file()
