"""Which code a script runs: its import closure, and one hash over it."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

#: Folder that holds the package: `src` of a checkout, or that of all installed packages.
LIBRARY = Path(__file__).absolute().parents[2]
#: Where scripts are, below a repository and below the package.
SCRIPTS = "workflow/scripts"


def code_sha256(paths: Iterable[Path], root: Path) -> str:
    """One hash over source files: their names, sorted, and their bytes.

    Names are relative to `root`. Those of the package are as in a checkout, wherever it lies.
    """
    digest = hashlib.sha256()
    for name, path in sorted((name_of_code(path, root), path) for path in paths):
        digest.update(f"{name}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def name_of_code(path: Path, root: Path) -> str:
    """Name of a source file, the same in each installation.

    Examples
    --------
    >>> name_of_code(LIBRARY / "everycell" / "config.py", Path("/elsewhere"))
    'src/everycell/config.py'
    """
    if path.is_relative_to(LIBRARY):
        return f"src/{path.relative_to(LIBRARY).as_posix()}"
    return path.relative_to(root).as_posix()


def roots_of_code(root: Path) -> tuple[Path, ...]:
    """Folders in which a project's imports are found: its own package, else the installed one."""
    own = root / "src"
    return (own,) if (own / "everycell" / "__init__.py").exists() else (LIBRARY, own)


def source_file(name: str, root: Path) -> Path:
    """Source file of this name (see `name_of_code`) in a project, else in the package."""
    own = root / name
    return own if own.exists() else roots_of_code(root)[0] / name.removeprefix("src/")


def script_file(script: str, root: Path) -> Path:
    """File of a script: the one of the package, else the one of the project.

    What judges a result is the package's: a project cannot replace it by a script of that name.
    """
    shared = shared_scripts(root) / f"{script}.py"
    return shared if shared.exists() else root / SCRIPTS / f"{script}.py"


def shared_scripts(root: Path) -> Path:
    """Folder of the scripts that all projects share."""
    return roots_of_code(root)[0] / "everycell" / SCRIPTS


def ignored_scripts(root: Path) -> list[Path]:
    """Scripts of a project that are never run, since the package has scripts of these names."""
    shared = shared_scripts(root)
    names = [path.relative_to(shared) for path in sorted(shared.rglob("*.py"))]
    return [root / SCRIPTS / name for name in names if (root / SCRIPTS / name).exists()]


def hash_of_sources(paths: Iterable[Path], root: Path) -> str:
    """Hash of source files and of all that they import from the project and the package."""
    return code_sha256(files_of_sources(paths, root), root)


def files_of_sources(paths: Iterable[Path], root: Path) -> set[Path]:
    """Source files and all that they import from the project and the package."""
    roots = roots_of_code(root)
    return {file for path in paths for file in imported_files(path, roots)}


#: Data files beside a module that do not count as its code: a file of the registry is a separate
#: input in a receipt, so that a new entry does not rerun results.
NOT_CODE = frozenset({"registry.yaml"})


def imported_files(script: Path, roots: Iterable[Path]) -> set[Path]:
    r"""The project's files that a script runs: itself, its imports, their templates and data.

    Imports are followed as written, also inside functions, through the folders of `roots`; those of
    the script and its helper modules through its own folder too. Modules elsewhere (installed
    packages) are skipped. A module's data is any file in its folder whose name occurs in it as a
    string.
    """
    roots = tuple(roots)
    # A string: comparing paths would add a tenth to the time that all scripts of a project take.
    own, folder = (*roots, script.parent), f"{script.parent}/"
    files: set[Path] = set()
    beside: set[Path] = set()
    waiting = [script]
    while waiting:
        path = waiting.pop()
        if path not in files:
            files.add(path)
            modules, data = _needs(path, own if str(path).startswith(folder) else roots)
            waiting.extend(modules)
            beside |= data
    folders = {path.parent for path in files}
    return files | beside | {template for folder in folders for template in _templates(folder)}


#: An import statement. Faster than parsing all modules, which would take a third of a dry run;
#: words of a docstring that look like an import can only add a file.
IMPORT = re.compile(
    r"^[ \t]*(?:from[ ]+(?P<module>[\w.]+)[ ]+import[ ]+(?P<names>\([^)]*\)|[^\n#]+)"
    r"|import[ ]+(?P<modules>[^\n#]+))",
    re.MULTILINE,
)


def imported_names(text: str) -> list[str]:
    r"""Modules that a file imports, and the names it takes from them, each once."""
    names = []
    for match in IMPORT.finditer(text):
        names += _listed(match["modules"] or "")
        if match["module"]:
            module = match["module"]
            names += [module, *(f"{module}.{name}" for name in _listed(match["names"]))]
    return list(dict.fromkeys(names))


@cache
def _needs(path: Path, roots: tuple[Path, ...]) -> tuple[tuple[Path, ...], frozenset[Path]]:
    """Modules that a file imports, and the data files of its folder that it names."""
    text = path.read_text(encoding="utf-8")
    modules = [
        file
        for name in imported_names(text)
        for root in roots
        # The folder of the installed package has other packages too.
        if root != LIBRARY or name.partition(".")[0] == "everycell"
        # A file of that name beside a script does not replace it.
        if name.partition(".")[0] not in sys.stdlib_module_names
        for file in _files_of_module(root, name)
    ]
    # As a complete string, in quotation marks of either kind.
    texts = set(re.findall(r"""["']([^"'\n]+)["']""", text)) - NOT_CODE
    return tuple(modules), frozenset(file for file in _data_in(path.parent) if file.name in texts)


# Hundreds of files import the same modules, and a path costs more than what is read of it.


@cache
def _files_of_module(root: Path, name: str) -> tuple[Path, ...]:
    """Files below a root that an import of a module reads: its own, and its packages'."""
    package, _, _ = name.rpartition(".")
    module = root.joinpath(*name.split("."))
    above = _files_of_module(root, package) if package else ()
    # Most imports are of installed packages. A folder may be a package without a file of its own.
    if package and not above and not module.parent.is_dir():
        return ()
    own = (module.with_name(f"{module.name}.py"), module / "__init__.py")
    return above + tuple(file for file in own if file.exists())


@cache
def _data_in(folder: Path) -> tuple[Path, ...]:
    return tuple(file for file in folder.iterdir() if file.suffix != ".py" and file.is_file())


@cache
def _templates(folder: Path) -> tuple[Path, ...]:
    return tuple((folder / "templates").glob("*"))


def _listed(names: str) -> list[str]:
    """Names of an import statement, without their aliases."""
    # A list over several lines may have comments.
    listed = re.sub(r"#[^\n]*", "", names).strip("()\n ").split(",")
    return [name.split()[0] for name in listed if name.split()]
