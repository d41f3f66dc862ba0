"""Python processes that the code of a job starts, which its hash must cover."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable
from functools import cache, wraps
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

from everycell.receipts.code import LIBRARY, roots_of_code
from everycell.records.folders import WORKFLOW

#: Functions that start a process, with the position of the command in their arguments. An audit
#: hook would see all of them, but doubles the time of copies, since `id` calls it, too.
FUNCTIONS: tuple[tuple[Any, str, int], ...] = (
    (subprocess.Popen, "__init__", 1),
    (os, "system", 0),
    (os, "execv", 1),
    (os, "execve", 1),
    (os, "posix_spawn", 1),
    (os, "posix_spawnp", 1),
)
PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)[\d.]*")
#: Files of the running job that may run in other processes: its code and inputs.
_covered: set[Path] = set()


class UncoveredProcessError(Exception):
    """A job starts Python with code that no receipt would name."""


def allow_processes(covered: Iterable[Path]) -> None:
    """Refuse Python processes that run other files than these or installed ones.

    Without files, outside of a job, all are allowed.
    """
    _check_functions()
    _covered.clear()
    _covered.update(path.resolve() for path in covered)


@cache
def _check_functions() -> None:
    for owner, name, position in FUNCTIONS:
        setattr(owner, name, _checked(getattr(owner, name), position))


def _checked(function: Callable[..., Any], position: int) -> Callable[..., Any]:
    @wraps(function)
    def start(*arguments: Any, **options: Any) -> Any:
        command = arguments[position] if len(arguments) > position else options.get("args")
        if _covered and not _is_installed(sys._getframe(1)):
            _refuse_uncovered(command)
        return function(*arguments, **options)

    return start


def _refuse_uncovered(command: Any) -> None:
    parts = [command] if isinstance(command, str | bytes | os.PathLike) else list(command or ())
    words = [word for part in parts for word in os.fsdecode(part).split()]
    start = next((index for index, word in enumerate(words) if PYTHON.fullmatch(word)), None)
    if start is not None and not _is_covered(words[start + 1 :]):
        raise UncoveredProcessError(
            f"The command `{' '.join(words[start:])[:80]}` runs Python code that the hash of this "
            "job's code does not cover; import the module instead, or name it after `-m`."
        )


def _is_installed(frame: FrameType | None) -> bool:
    """Whether an installed package starts the process, and not the project or the library."""
    standard = f"{sysconfig.get_path('stdlib')}/"
    while frame is not None:
        path = os.path.abspath(frame.f_code.co_filename)
        is_standard = path.startswith(standard) and "/site-packages/" not in path
        if not is_standard and not path.startswith("<") and "<frozen" not in path:
            return "/site-packages/" in path and not path.startswith(f"{LIBRARY}/everycell/")
        frame = frame.f_back
    return False


def _is_covered(words: list[str]) -> bool:
    """Whether the arguments of Python name a file of this job, or an installed module."""
    while words and words[0].startswith("-") and words[0] not in ("-m", "-c", "-"):
        words = words[2:] if words[0] in ("-X", "-W") else words[1:]
    if not words or words[0] in ("-c", "-"):
        return False
    if words[0] != "-m":
        return Path(words[0]).resolve() in _covered
    module = words[1] if len(words) > 1 else ""
    name, root = module.replace(".", "/"), Path().resolve()
    for folder in (root, *roots_of_code(root), root / WORKFLOW):
        for file in (folder / f"{name}.py", folder / name / "__main__.py"):
            if file.is_file():
                return file.resolve() in _covered
    return find_spec(module.partition(".")[0]) is not None
