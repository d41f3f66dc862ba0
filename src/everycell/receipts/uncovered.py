"""Code that ran in a job although neither the hash of its code nor a package version covers it."""

from __future__ import annotations

import base64
import os
import re
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from importlib.machinery import all_suffixes
from pathlib import Path

from everycell.base.files import has_fingerprint, sha256
from everycell.receipts.checkout import changed_since, commit_of
from everycell.receipts.code import LIBRARY, PACKAGES, files_by_code, name_of_code

#: Files that Python runs at its start if they are in a folder of packages.
AT_START = ("*.pth", "sitecustomize.py", "usercustomize.py")
#: Folders below `workflow`, which are no modules of others.
FOLDERS_OF_WORKFLOW = ("papers", "rules", "schemas", "scripts")
#: Variables with libraries that the system's loader adds.
ADDED_BY_LOADER = ("LD_PRELOAD", "LD_AUDIT")
#: Written by virtualenv and uv into a new environment, which imports one of their modules.
VIRTUALENV = ("_virtualenv.pth", b"import _virtualenv")


def uncovered_code(covered: Iterable[Path], root: Path) -> dict[str, str]:
    """Hashes of files with code that this process ran, except for `covered` ones and packages."""
    root = root.absolute()
    folders = site.getsitepackages()
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    names = {name_of_code(root / path, root) for path in covered}
    hashes = {path.as_posix(): sha256(path) for path in _files_run_at_start(map(Path, folders))}
    # These run before a module could be found in `sys.modules`, and may remove themselves from it.
    hashes |= {path.as_posix(): sha256(path) for path in _preloaded_files()}
    for path in map(_file_or_archive, _loaded_files(folders)):
        is_named = any(path.is_relative_to(folder) for folder in (root, LIBRARY / "everycell"))
        name = name_of_code(path, root) if is_named else path.as_posix()
        # An input may be a folder.
        is_covered = not names.isdisjoint([name, *map(str, Path(name).parents)])
        if not is_covered and path.is_file():
            hashes[name] = sha256(path)
    return dict(sorted(hashes.items()))


def _loaded_files(folders: Iterable[str]) -> Iterator[Path]:
    """Files of modules that come neither from Python nor from a folder of installed packages."""
    python = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
    installed = tuple(f"{folder}/" for folder in (*python, *folders))
    files = [
        getattr(module, "__file__", None)
        for name, module in list(sys.modules.items())
        if name not in ("__main__", "__mp_main__")
    ]
    # Jobs note these (`job_start.py`).
    files += getattr(sys.modules["_frozen_importlib_external"], "noted_files", ())
    for path in {os.path.abspath(file) for file in files if isinstance(file, str)}:
        if path.startswith(f"{LIBRARY}/everycell/") or not path.startswith(installed):
            yield Path(path)


def _files_run_at_start(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        files = [file for pattern in AT_START for file in sorted(folder.glob(pattern))]
        records = [path.read_bytes() for path in folder.glob("*.dist-info/RECORD") if files]
        for file in files:
            digest = base64.urlsafe_b64encode(bytes.fromhex(sha256(file))).rstrip(b"=")
            entry = b"%s,sha256=%s," % (file.name.encode(), digest)
            is_of_virtualenv = (file.name, file.read_bytes().strip()) == VIRTUALENV
            if not is_of_virtualenv and not any(entry in record for record in records):
                yield file


def _preloaded_files() -> Iterator[Path]:
    """Libraries that the system's loader adds, and modules that Python runs from its path."""
    for variable in ADDED_BY_LOADER:
        for name in re.split(r"[ :]+", os.environ.get(variable, "")):
            if name and (path := Path(name).absolute()).is_file():
                yield path
            elif name:
                # The loader searches for names without a folder, and replaces `$LIB` and `$ORIGIN`.
                # What it finds may be a link to a file with a longer version.
                start = f"{Path(name).name.partition('.so')[0]}.so"
                yield from (path for path in _mapped_files() if path.name.startswith(start))
    # A `.pth` file, such as that of a checkout, adds folders to the path too.
    installed = {*site.getsitepackages(), *map(sysconfig.get_path, ("stdlib", "platstdlib"))}
    for folder in {*os.environ.get("PYTHONPATH", "").split(os.pathsep), *sys.path} - installed:
        for name in AT_START[1:]:
            if folder and (path := Path(folder).absolute() / name).is_file():
                yield path


def _mapped_files() -> set[Path]:
    """Libraries and other files in the memory of this process; empty where no system lists them."""
    try:
        lines = Path("/proc/self/maps").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return set()
    paths = {Path(line[line.index("/") :]) for line in lines if "/" in line}
    return {path for path in paths if path.is_file()}


def uncommitted_modules(root: Path) -> list[str]:
    """Modules that all jobs could import, but that no commit has as they are; sorted.

    Such a module can replace one of an installed package, and remove itself from `sys.modules`.
    Modules that a script imports are part of the hash of its code.
    """
    commit = commit_of(root)
    changed = (changed_since(commit, root) or ()) if commit else ()
    names = []
    for path in map(Path, changed):
        is_own = not {*path.parts[1:2]}.isdisjoint((*PACKAGES, *FOLDERS_OF_WORKFLOW))
        if not is_own and path.suffix in all_suffixes() and (root / path).is_file():
            names.append(path.as_posix())
    if names:
        hashed = {
            name_of_code(file, root.resolve())
            for files in files_by_code(root.resolve()).values()
            for file in files
        }
        names = [name for name in names if name not in hashed]
    return sorted(names)


def _file_or_archive(path: Path) -> Path:
    """A file, or the archive that contains it."""
    return next((parent for parent in (path, *path.parents) if parent.exists()), path)


def faults_of_uncovered_code(hashes: Mapping[str, str], subject: str, root: Path) -> list[str]:
    """Sentences about uncovered code that is not part of the project, or changed since it ran.

    `subject` begins each sentence; code that a clone of the project has, too, is no fault.
    """
    faults = []
    own = [name for name in hashes if not Path(name).is_absolute()]
    commit = commit_of(root) if own else None
    uncommitted = (changed_since(commit, root, own) or ()) if commit else ()
    for name, digest in hashes.items():
        if Path(name).is_absolute():
            faults.append(
                f"{subject} with {name}, which neither the project nor an installed package "
                "contains; remove that file or install it, and make the result again."
            )
        elif not has_fingerprint(root / name, digest):
            faults.append(
                f"{subject} with {name}, which has changed since and which no hash covers; declare "
                "data under `input:`, or remove the result, and run snakemake again."
            )
        elif name in uncommitted:
            faults.append(
                f"{subject} with {name}, which is not in Git as it is, so that no clone of this "
                "project has it; commit it, or declare data under `input:`, and make the result "
                "again."
            )
    return faults
