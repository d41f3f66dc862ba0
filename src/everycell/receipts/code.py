"""Code that a script runs: its import closure and its hash."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

from everycell.receipts.imports import (
    NOTEBOOK,
    imported_names,
    names_after_option,
    sources_of,
)
from everycell.records.folders import PAPERS, WORKFLOW

#: Folder that contains the package: `src` of a checkout, or `site-packages`.
LIBRARY = Path(__file__).absolute().parents[2]
#: Packages of everycell in that folder.
PACKAGES = ("everycell", "snakemake_logger_plugin_everycell")
#: Folder of scripts in a repository and in the package.
SCRIPTS = "workflow/scripts"
#: Script of the package that calls a function of a chapter.
CALLING = "call_function.py"
#: Script of the package that runs a script of the authors.
RUNNING = "run_script.py"


def code_sha256(paths: Iterable[Path], root: Path) -> str:
    """Hash of the names and contents of source files; see `name_of_code` for the names."""
    digest = hashlib.sha256()
    for name, path in sorted((name_of_code(path, root), path) for path in paths):
        digest.update(f"{name}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def name_of_code(path: Path, root: Path) -> str:
    """Name of a source file, identical in all installations."""
    if path.is_relative_to(LIBRARY):
        return f"src/{path.relative_to(LIBRARY).as_posix()}"
    return path.relative_to(root).as_posix()


def roots_of_code(root: Path) -> tuple[Path, ...]:
    """Folders of a project's imports; its own copy of the package replaces the installed one."""
    sources = root / "src"
    has_copy = (sources / "everycell" / "__init__.py").exists()
    return (sources,) if has_copy else (LIBRARY, sources)


def source_file(name: str, root: Path) -> Path:
    """Source file with this name (see `name_of_code`), in the project if it has one."""
    path = root / name
    return path if path.exists() else roots_of_code(root)[0] / name.removeprefix("src/")


def script_files(script: str, root: Path) -> tuple[Path, ...]:
    """Files whose code a rule runs; the first is the script that Snakemake runs.

    ``KEY/chN:function`` is a function of a chapter, and ``KEY/NAME.py`` a script of the authors,
    which scripts of the package run. Other names are scripts: the package's, if any, so that a
    project cannot replace what judges it.
    """
    module, _, function = script.partition(":")
    shared = shared_scripts(root)
    if function:
        return shared / CALLING, chapter_file(module, root)
    if script.endswith(".py"):
        return shared / RUNNING, root / PAPERS / script
    file = shared / f"{script}.py"
    return (file if file.exists() else root / SCRIPTS / f"{script}.py",)


def chapter_file(module: str, root: Path) -> Path:
    """File of a module of a paper, ``KEY/chN``."""
    return root / PAPERS / f"{module}.py"


def shared_scripts(root: Path) -> Path:
    """Folder of the package's scripts, which all projects share."""
    return roots_of_code(root)[0] / "everycell" / SCRIPTS


def ignored_scripts(root: Path) -> list[Path]:
    """Scripts of a project that never run, since the package has scripts with the same names."""
    shared = shared_scripts(root)
    names = [path.relative_to(shared) for path in sorted(shared.rglob("*.py"))]
    return [root / SCRIPTS / name for name in names if (root / SCRIPTS / name).exists()]


def files_by_code(root: Path) -> dict[str, set[Path]]:
    """Files of the code that rules of a project can run, its scripts and chapters, by its hash."""
    shared = shared_scripts(root)
    scripts = {*(root / SCRIPTS).rglob("*.py"), *shared.rglob("*.py")} - {*ignored_scripts(root)}
    jobs = [[script] for script in scripts]
    modules = [*(root / PAPERS).rglob("*.py")]
    jobs += [[shared / script, module] for script in (CALLING, RUNNING) for module in modules]
    files = [files_of_sources(paths, root) for paths in jobs]
    return {code_sha256(paths, root): paths for paths in files}


def hash_of_sources(paths: Iterable[Path], root: Path) -> str:
    """Hash of source files and of everything that they import from project and package."""
    return code_sha256(files_of_sources(paths, root), root)


def files_of_sources(paths: Iterable[Path], root: Path) -> set[Path]:
    """Source files and everything that they import from project and package."""
    roots = (*roots_of_code(root), root / WORKFLOW)
    return {file for path in paths for file in imported_files(path, roots)}


#: A string in the text of a file, the longest path, and endings of the names of scripts.
STRING = re.compile(rb"""["']([^"'\n]+)["']""")
LONGEST = 200
CODE = (".py", NOTEBOOK, ".R", ".r", ".jl", ".sh")
#: Data files that do not count as code: released files are inputs in a receipt, so that a new
#: registry entry does not rerun results.
NOT_CODE = frozenset({"registry.yaml"})


def imported_files(script: Path, roots: Iterable[Path]) -> set[Path]:
    """Files of the project that a script runs: itself, its imports, their templates and data.

    All import statements count, including those inside functions. Modules are searched for in
    `roots` and, for the script and modules in its folder, in that folder. Installed packages are
    skipped. A file next to a module counts as its data if the module contains its name as a string,
    and so does a file in a folder of code whose path it contains.
    """
    roots = tuple(roots)
    # Comparing strings instead of paths saves a tenth of the time for all scripts of a project.
    script_roots, folder = (*roots, script.parent), f"{script.parent}/"
    files: set[Path] = set()
    data_files: set[Path] = set()
    pending = [script, *_parent_packages(script)]
    while pending:
        path = pending.pop()
        if path not in files:
            files.add(path)
            modules, data = _dependencies(
                path, script_roots if str(path).startswith(folder) else roots
            )
            pending.extend(modules)
            data_files |= data
            # A named script, in any language, may name more files.
            pending.extend(file for file in data if file.suffix in CODE)
    folders = {path.parent for path in files}
    return (
        files
        | data_files
        | {template for folder in folders for template in _template_files(folder)}
    )


def _parent_packages(path: Path) -> Iterator[Path]:
    """Files of the packages that a module is in, which run before it."""
    for folder in path.parents:
        if not (package := folder / "__init__.py").is_file():
            return
        yield package


@cache
def _dependencies(path: Path, roots: tuple[Path, ...]) -> tuple[tuple[Path, ...], frozenset[Path]]:
    """Modules that a file imports, and files with code or data whose paths it contains."""
    sources = sources_of(path)
    source = b"\n".join(sources)
    if path.suffix not in ("", ".py", NOTEBOOK):
        return (), _named_files(path, source, roots)
    modules = []
    for name in chain.from_iterable(map(imported_names, sources)):
        if name.startswith("."):
            module = name.lstrip(".")
            folder = path.parents[len(name) - len(module) - 1]
            modules += _files_of_module(folder, module) if module else ()
            continue
        package = name.partition(".")[0]
        # A script's folder cannot shadow the standard library.
        if package not in sys.stdlib_module_names:
            for root in roots:
                # `site-packages` contains other packages too.
                if root != LIBRARY or package in PACKAGES:
                    modules += _files_of_module(root, name)
    # Python looks for such a module in the working folder, too.
    folders = {*roots, *(root.parent for root in roots if root != LIBRARY)} - {LIBRARY}
    for name in names_after_option(source):
        if name.partition(".")[0] not in PACKAGES:
            modules += [file for root in sorted(folders) for file in _files_of_module(root, name)]
    return tuple(modules), _named_files(path, source, roots)


def _named_files(path: Path, source: bytes, roots: tuple[Path, ...]) -> frozenset[Path]:
    """Files that a file names: in its folder or, by their paths, in folders of a project's code.

    All other files that a script reads have to be inputs of its rule.
    """
    texts = {text.decode("utf-8", "replace") for text in STRING.findall(source)} - NOT_CODE
    # The name may be part of a longer string, such as one with a variable folder.
    files = {
        file
        for file in _data_in(path.parent)
        if file.name.encode() in source and file.name not in NOT_CODE and file.suffix != ".smk"
    }
    if not any(path.is_relative_to(root / "everycell") for root in roots):
        folders = (path.parent, *(root.parent for root in roots))
        paths = [
            os.path.normpath(f"{folder}/{text}")
            for text in texts
            if (text.endswith(CODE) or "/" in text) and len(text) < LONGEST
            for folder in folders
        ]
        files |= {
            Path(file)
            for file in paths
            if file.startswith(tuple(f"{root}/" for root in roots)) and os.path.isfile(file)
        } - {path}
    return frozenset(files)


def undeclared_file(code: Iterable[Path], inputs: Iterable[Path], root: Path) -> str | None:
    """Sentence about a file that the code of a project names, and that is neither input nor code.

    Pages of the documentation, which messages name, are none of a job's data.
    """
    code, declared = {root / path for path in code}, {root / path for path in inputs}
    for path in sorted(code):
        if "everycell" in path.parts and path.is_relative_to(roots_of_code(root)[0]):
            continue
        for text in sorted({*STRING.findall(b"\n".join(sources_of(path)))}):
            name = text.decode("utf-8", "replace")
            file = root / name
            if "/" not in name or len(name) > LONGEST or file.suffix == ".md" or file in code:
                continue
            if not Path(name).is_absolute() and os.path.isfile(file):
                if declared.isdisjoint({file, *file.parents}):
                    return (
                        f"{path.relative_to(root) if path.is_relative_to(root) else path} names "
                        f"{name}, which is not an input of the rule; declare it under `input:`, "
                        "so that a change makes the result again."
                    )
    return None


# Hundreds of files import the same modules, and checking paths takes most of the time.


@cache
def _files_of_module(root: Path, name: str) -> tuple[Path, ...]:
    """Files below a root that an import of a module reads, including its parent packages."""
    package, _, _ = name.rpartition(".")
    module = root.joinpath(*name.split("."))
    package_files = _files_of_module(root, package) if package else ()
    # A shortcut for installed packages; a namespace package has a folder but no files.
    if package and not package_files and not module.parent.is_dir():
        return ()
    candidates = (module.with_name(f"{module.name}.py"), module / "__init__.py")
    return package_files + tuple(file for file in candidates if file.exists())


@cache
def _data_in(folder: Path) -> tuple[Path, ...]:
    return tuple(file for file in folder.iterdir() if file.suffix != ".py" and file.is_file())


@cache
def _template_files(folder: Path) -> tuple[Path, ...]:
    return tuple(path for path in (folder / "templates").glob("*") if path.is_file())
