"""Atomic writes, hashes and modification times of files."""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
import shlex
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

#: Errors of a full disk, an exceeded quota and an exceeded size limit.
NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
#: These, and errors of a folder that cannot be written.
CANNOT_WRITE = NO_SPACE | {errno.EROFS, errno.EACCES, errno.EPERM}
#: Errors of a disk or of a network file system, which may pass.
STORAGE = {
    *(errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN),
    *(errno.EHOSTDOWN, errno.EREMOTEIO),
}
#: Error of a pipe, a device or a file of the kernel under the name of a file.
NOT_REGULAR = "it is not a regular file; replace it with one"
_ADVICE = {
    **dict.fromkeys(STORAGE, "check the disk or the network file system"),
    **dict.fromkeys(NO_SPACE, "free some space, or raise the size limit (ulimit -f, quota)"),
    errno.EROFS: "choose a folder that is not read-only",
    errno.EACCES: "correct the permissions, or choose another path",
    errno.EPERM: "correct the permissions, or choose another path",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path",
    errno.EISDIR: "give a file",
}


#: What the loader says of a compiled module for which there is no memory.
_NO_MEMORY = ("failed to map segment", "annot allocate memory", "cannot create shared object")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, also while a compiled module was loaded."""
    current: BaseException | None = error
    while current is not None:
        if isinstance(current, MemoryError) or (
            isinstance(current, ImportError | OSError)
            and any(text in str(current) for text in _NO_MEMORY)
        ):
            return True
        current = current.__cause__ or current.__context__
    return False


def describe_os_error(error: OSError) -> str:
    """Describe an error of the operating system: file, reason and remedy."""
    if error.errno is None:
        return str(error)
    file = "" if error.filename is None else f"{os.fspath(error.filename)}: "
    advice = _ADVICE.get(error.errno)
    return f"{file}{error.strerror or os.strerror(error.errno)}{f'; {advice}' * bool(advice)}."


@contextmanager
def naming(path: Path, draft: Path | None = None) -> Iterator[None]:
    """Name `path` in errors about its draft, and of a full disk, which name no open file."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            is_about_path = error.errno in NO_SPACE
        else:
            file = Path(os.fsdecode(error.filename))
            is_about_path = draft is not None and file.is_relative_to(draft)
        if not is_about_path or error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error


def write_atomically(path: Path, content: bytes | str) -> Path:
    """Write a file completely or not at all."""
    with atomic_path(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def write_json(path: Path, content: Any) -> None:
    """Write JSON atomically."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(path, text + "\n")


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path, and move what is written there to `path` if no error occurs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path, path.parent):
        parent = tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.")
    with parent as folder, naming(path, Path(folder)):
        draft = Path(folder, path.name)
        yield draft
        os.replace(draft, path)


def sha256(path: Path) -> str:
    """SHA-256 hash of a file."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading; refuse pipes and devices, which might never end."""
    # Without O_NONBLOCK, opening a pipe blocks until another process opens it for writing.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    # The kernel's files, such as /proc/self/mem, look regular but have no end.
    is_of_kernel = os.path.realpath(path).startswith(("/proc/", "/sys/", "/dev/fd/"))
    if is_of_kernel or not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise OSError(errno.EINVAL, NOT_REGULAR, str(path))
    return os.fdopen(descriptor, "rb")


#: Written by Snakemake into a folder that a job made, after the job.
TIMESTAMP = ".snakemake_timestamp"


def file_hashes(path: Path) -> dict[str, str]:
    """Hashes of a folder's files by relative path, or of a file under the name ""."""
    if not path.is_dir():
        return {"": sha256(path)}
    return {
        file.relative_to(path).as_posix(): sha256(file)
        for file in files_below(path)
        if file.name != TIMESTAMP and file.is_file()
    }


def quoted(paths: Iterable[object]) -> str:
    """Paths as words of a shell command; a final ``.*`` stays a pattern."""
    words = map(str, paths)
    return " ".join(
        f"{shlex.quote(word.removesuffix('.*'))}{'.*' * word.endswith('.*')}" for word in words
    )


def files_below(path: Path) -> Iterator[Path]:
    """Files of a folder and its subfolders, also those behind links."""
    # Snakemake's output cache gives a folder whose entries are links, also those to folders.
    ancestors: dict[str, frozenset[str]] = {os.fspath(path): frozenset()}
    for folder, folders, names in os.walk(path, followlinks=True):
        # A link to a folder that it is in would have no end.
        known = ancestors.pop(folder) | {os.path.realpath(folder)}
        folders[:] = [
            name for name in folders if os.path.realpath(os.path.join(folder, name)) not in known
        ]
        ancestors |= {os.path.join(folder, name): known for name in folders}
        yield from (Path(folder, name) for name in names)


def folder_fingerprint(hashes: Mapping[str, str]) -> str:
    """Hash of a folder, from the hashes of its files."""
    digest = hashlib.sha256()
    for name in sorted(hashes, key=lambda name: name.split("/")):
        digest.update(f"{name}\0{hashes[name]}\n".encode())
    return digest.hexdigest()


def fingerprint(path: Path) -> str:
    """Hash of a file, or of the names and contents of a folder's files."""
    return folder_fingerprint(file_hashes(path)) if path.is_dir() else sha256(path)


def has_fingerprint(path: Path, digest: str) -> bool:
    """Whether a path is a file or folder with this fingerprint."""
    return (path.is_file() or path.is_dir()) and fingerprint(path) == digest


def reset_future_times(folders: Iterable[Path]) -> int:
    """Move modification times in the future to just before now; return the number of files.

    The order of these times is kept.
    """
    now, future = time.time_ns(), {}
    for folder, _, names in itertools.chain.from_iterable(map(os.walk, folders)):
        for path in (Path(folder, name) for name in names):
            # Another process may remove its temporary files meanwhile.
            with suppress(OSError):
                # A link may lead to files outside the project, such as a mirror's.
                if (mtime := path.lstat().st_mtime_ns) > now and not path.is_symlink():
                    future[path] = mtime
    # One microsecond apart, since not all file systems have a finer resolution.
    order = {
        mtime: now - 1000 * age for age, mtime in enumerate(sorted({*future.values()})[::-1], 1)
    }
    changed = 0
    for path, mtime in future.items():
        with suppress(OSError):
            os.utime(path, ns=(order[mtime], order[mtime]))
            changed += 1
    return changed
