"""The commit of a project, and the code in its folder that differs from it."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import TypedDict

from everycell.base.files import files_below, open_regular
from everycell.receipts.code import code_sha256, name_of_code

#: Folders with code. Rules and settings count by their effect: the parameters and inputs of a
#: receipt.
FOLDERS = ("src", "workflow")
#: Mode of a submodule in a tree of Git.
SUBMODULE = "160000"


class Checkout(TypedDict):
    """Commit of a project folder and its files that differ from it, or None if unknown."""

    commit: str | None
    changed: list[str] | None


def read_checkout(root: Path) -> Checkout:
    """Look up the commit and the changed files once, for all jobs of a run."""
    commit = commit_of(root)
    changed = changed_since(commit, root) if commit else None
    return {"commit": commit, "changed": None if changed is None else sorted(changed)}


def commit_of(root: Path) -> str | None:
    """Commit checked out in a project folder; None without Git, or if Git refuses the folder."""
    commit = git_output(root, "rev-parse", "HEAD")
    return (commit or "").strip() or None


def changed_since(commit: str, root: Path, paths: Sequence[str] = FOLDERS) -> set[str] | None:
    """Files below `paths` that a commit does not contain as they are; None if it is unknown.

    Ignored files count too, since a job may import them, and so do links, whose targets may be
    anywhere. Only names and hashes come from Git: its index, filters and settings could hide edits.
    The files of a submodule are compared with the commit that its repository is at in this one.
    """
    # For a path in a submodule, Git would list nothing.
    listed = git_output(root, "ls-tree", "-r", "-z", f"{commit}^{{commit}}", "--", ".")
    if listed is None:
        return None
    hashes, submodules = {}, {}
    for line in filter(None, listed.split("\0")):
        facts, _, name = line.partition("\t")
        mode, _, digest = facts.split(" ")
        if mode == SUBMODULE:
            submodules[name] = digest
        elif _is_below(name, paths):
            hashes[name] = digest
    files = (
        file
        for path in map(root.joinpath, paths)
        for file in ([path] if os.path.lexists(path) and not path.is_dir() else files_below(path))
        # Python and numba write compiled code there, of which jobs have a folder of their own.
        if file.parent.name != "__pycache__" or file.suffix == ".py"
    )
    existing = {file.relative_to(root).as_posix(): file for file in files}
    changed: set[str] = set()
    for folder, digest in submodules.items():
        own = [name for name in existing if _is_below(name, [folder])]
        if _is_below(folder, paths) or any(_is_below(path, [folder]) for path in paths):
            below = _changed_in_submodule(digest, root / folder)
            names = [folder, *own] if below is None else [f"{folder}/{name}" for name in below]
            changed |= {name for name in names if _is_below(name, paths)}
        for name in own:
            del existing[name]
    changed |= {name for name in hashes if name not in existing}
    for name, path in existing.items():
        if name not in hashes or path.is_symlink() or _blob(path, hashes[name]) != hashes[name]:
            changed.add(name)
    return changed


def _is_below(name: str, paths: Sequence[str]) -> bool:
    return any(PurePosixPath(name).is_relative_to(path) for path in paths)


def _changed_in_submodule(commit: str, folder: Path) -> set[str] | None:
    """Files of a submodule that its commit does not contain as they are; None if unknown."""
    if folder.is_symlink() or not folder.is_dir():
        return None
    changed = changed_since(commit, folder, ["."])
    # Git keeps its own files there, which no job can import.
    return changed and {name for name in changed if name.partition("/")[0] != ".git"}


def _blob(path: Path, like: str) -> str | None:
    """Git's hash of a file, by the algorithm of another hash; None if it is no regular file."""
    try:
        with open_regular(path) as file:
            content = file.read()
    except OSError:
        return None
    algorithm = "sha1" if len(like) == 40 else "sha256"
    header = b"blob %d\0" % len(content)
    return hashlib.new(algorithm, header + content, usedforsecurity=False).hexdigest()


def state_of_code(
    files: Iterable[Path], changed: Collection[str] | None, root: Path
) -> dict[str, bool | str | None]:
    """Whether files that a job runs differ from the commit, or None, and the hash of those."""
    if changed is None:
        return {"dirty": None}
    different = [path for path in files if name_of_code(path, root) in changed]
    if not different:
        return {"dirty": False}
    return {"dirty": True, "difference": code_sha256(different, root)}


def is_shallow(root: Path) -> bool:
    """Whether a repository lacks older commits, as clones of CI services do."""
    return (git_output(root, "rev-parse", "--is-shallow-repository") or "").strip() == "true"


def git_output(root: Path, *arguments: str) -> str | None:
    """Output of a Git command, which runs no hook and writes nothing; None if it fails."""
    # By such variables, the caller, such as a Git hook, would make Git look at another repository.
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith("GIT_CONFIG")
    }
    try:
        completed = subprocess.run(
            ["git", "--no-replace-objects", *arguments],
            cwd=root,
            env=environment | {"GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True,
            check=True,
        )
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None
    # Names of files may be in any encoding.
    return os.fsdecode(completed.stdout)
