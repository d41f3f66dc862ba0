"""The commit of a project, and the code in its folder that differs from it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TypedDict

from everycell.receipts.code import code_sha256, name_of_code

#: Folders with code. Rules and settings count by their effect: the parameters and inputs of a
#: receipt.
FOLDERS = ("src", "workflow")
#: Variables by which the caller, such as a Git hook, would make Git look at another repository.
FOREIGN = ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE")


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
    commit = _git(root, "rev-parse", "HEAD")
    return commit and commit.strip()


def changed_since(commit: str, root: Path) -> set[str] | None:
    """Files with code that a commit does not contain as they are; None if it is unknown.

    Ignored files count too, since a job may import them.
    """
    changed = _git(root, "diff", "--name-only", "--relative", "-z", commit, "--", *FOLDERS)
    new = _git(root, "ls-files", "--others", "-z", "--", *FOLDERS)
    marked = _git(root, "ls-files", "-v", "-z", "--", *FOLDERS)
    if changed is None or new is None or marked is None:
        return None
    # Git does not look at files that are marked as unchanged: a lower-case letter, or S.
    hidden = [line[2:] for line in marked.split("\0") if line[:1] == "S" or line[:1].islower()]
    names = [*(changed + new).split("\0"), *hidden]
    return {name for name in names if name and "__pycache__" not in name}


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


def ignored_files(names: Sequence[str], root: Path) -> set[str]:
    """Files that Git ignores; empty without Git."""
    # Without a pathspec, Git lists every ignored file of the project.
    if not names:
        return set()
    options = ("--others", "--ignored", "--exclude-standard", "-z")
    ignored = _git(root, "--literal-pathspecs", "ls-files", *options, "--", *names)
    return set((ignored or "").split("\0"))


def is_shallow(root: Path) -> bool:
    """Whether a repository lacks older commits, as clones of CI services do."""
    return (_git(root, "rev-parse", "--is-shallow-repository") or "").strip() == "true"


def _git(root: Path, *arguments: str) -> str | None:
    """Output of a Git command, which runs no hook and writes nothing; None if it fails."""
    environment = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    try:
        completed = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", *arguments],
            cwd=root,
            env=environment | {"GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True,
            check=True,
        )
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None
    # Names of files may be in any encoding.
    return os.fsdecode(completed.stdout)
