"""Python processes that the code of a job starts, which its hash must cover."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, wraps
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

from everycell.receipts.code import LIBRARY, roots_of_code
from everycell.records.folders import WORKFLOW

_POPEN = "self args bufsize executable stdin stdout stderr preexec_fn close_fds shell"
#: Functions that start a process, with the names of their first arguments. An audit hook would see
#: all of them, but doubles the time of copies, since `id` calls it, too.
FUNCTIONS: tuple[tuple[Any, str, str], ...] = (
    (subprocess.Popen, "__init__", _POPEN),
    (os, "system", "command"),
    (os, "execv", "path argv"),
    (os, "execve", "path argv"),
    (os, "posix_spawn", "path argv"),
    (os, "posix_spawnp", "path argv"),
)
PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
SHELLS = frozenset({"sh", "bash", "dash", "ksh", "zsh"})
#: Programs and words of a shell that run the command after them.
WRAPPERS = frozenset(
    "env nice nohup time timeout exec command if elif then else while until do ! {".split()
)
#: What may be between a wrapper and its command: options, variables and numbers.
BETWEEN = re.compile(r"-.*|\w+=.*|[\d.]+[smhd]?", re.DOTALL)
REDIRECTION = re.compile(r"&?[<>]+[&|]?")
#: Options of Python after which it only prints its version or help.
PRINTING = re.compile(r"-[BEIOPRSbdiqsuvx]*[Vh?].*|--version|--help.*")
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
    for owner, name, parameters in FUNCTIONS:
        setattr(owner, name, _checked(getattr(owner, name), parameters.split()))


def _checked(function: Callable[..., Any], parameters: list[str]) -> Callable[..., Any]:
    @wraps(function)
    def start(*arguments: Any, **options: Any) -> Any:
        if _covered and not _is_installed(sys._getframe(1)):
            # Some of these functions have more arguments than named here.
            _refuse_uncovered({**dict(zip(parameters, arguments, strict=False)), **options})
        return function(*arguments, **options)

    return start


def _refuse_uncovered(arguments: Mapping[str, Any]) -> None:
    command = next(
        (arguments[name] for name in ("command", "args", "argv") if name in arguments), ()
    )
    parts = [command] if isinstance(command, str | bytes | os.PathLike) else command or ()
    words = [os.fsdecode(part) for part in parts]
    if arguments.get("shell") or "command" in arguments:
        commands = [*_commands_of_shell("".join(words[:1]))]
    else:
        program = arguments.get("executable") or arguments.get("path")
        is_named = isinstance(program, str | bytes | os.PathLike)
        commands = [[os.fsdecode(program), *words[1:]] if is_named else words]
    for uncovered in filter(_is_uncovered, commands):
        raise UncoveredProcessError(
            f"The command `{' '.join(uncovered)[:80]}` runs Python code that the hash of this "
            "job's code does not cover; import the module instead, or name it after `-m`."
        )


def _commands_of_shell(text: str) -> Iterator[list[str]]:
    """Words of each command in a text that a shell runs, without redirections."""
    text = text.replace("\\\n", " ").replace("\n", ";")
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        for token in lexer:
            if REDIRECTION.fullmatch(token):
                next(lexer, None)
            elif set(token) <= set("();<>|&"):
                yield words
                words = []
            else:
                words.append(token)
    except ValueError:
        # A quotation mark without its partner, such as an apostrophe in a here-document.
        words += text.split()
    yield words


def _is_uncovered(words: list[str]) -> bool:
    """Whether a command runs Python with code that is neither the job's nor installed."""
    words = _without_wrappers(words)
    if not words:
        return False
    name, file = os.path.basename(words[0]), shutil.which(words[0])
    if name in SHELLS:
        flags = [index for index, word in enumerate(words) if re.fullmatch(r"-\w*c\w*", word)]
        texts = [word for word in words[flags[0] + 1 :] if word[:1] != "-"] if flags else []
        return any(map(_is_uncovered, _commands_of_shell("".join(texts[:1]))))
    names = {name, os.path.basename(os.path.realpath(file or name))}
    if any(map(PYTHON.fullmatch, names)):
        return not _is_covered(words[1:])
    interpreter = _interpreter(Path(file)) if file else []
    return bool(interpreter) and _is_uncovered([*interpreter, str(file), *words[1:]])


def _without_wrappers(words: list[str]) -> list[str]:
    """The command that words such as `env A=1 nice -n 5` run."""
    is_wrapped = False
    while words:
        if is_wrapped and words[0] in ("-u", "-C"):
            words = words[2:]
        elif is_wrapped and words[0] == "-S":
            words = [*" ".join(words[1:2]).split(), *words[2:]]
        elif os.path.basename(words[0]) in WRAPPERS:
            words, is_wrapped = words[1:], True
        elif BETWEEN.fullmatch(words[0]) if is_wrapped else re.match(r"\w+=", words[0]):
            words = words[1:]
        else:
            break
    return words


def _interpreter(file: Path) -> list[str]:
    """Words after `#!` in the first line of a script; none for installed programs."""
    if str(file.absolute().parent) in (*os.get_exec_path(), sysconfig.get_path("scripts")):
        return []
    try:
        with file.open("rb") as script:
            line = script.readline(200)
    except OSError:
        return []
    return os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []


def _is_installed(frame: FrameType | None) -> bool:
    """Whether an installed package starts the process, and not the project or the library."""
    standard = f"{sysconfig.get_path('stdlib')}/"
    while frame is not None:
        path = os.path.abspath(frame.f_code.co_filename)
        is_standard = path.startswith(standard) and "/site-packages/" not in path
        # A command in a notebook is the notebook's.
        is_standard = is_standard or "/site-packages/IPython/" in path
        if not is_standard and not path.startswith("<") and "<frozen" not in path:
            # The project may have an environment, or be in a folder with this name.
            below = path.removeprefix(os.getcwd())
            return "/site-packages/" in below and not path.startswith(f"{LIBRARY}/everycell/")
        frame = frame.f_back
    return False


def _is_covered(words: list[str]) -> bool:
    """Whether the arguments of Python name a file of this job, or an installed module."""
    while words and words[0].startswith("-") and words[0] != "-":
        option, words = words[0], words[1:]
        if PRINTING.fullmatch(option):
            return True
        # Flags may be joined, the last one with its value, as in `-Im json.tool` and `-Wignore`.
        match = re.fullmatch(r"-[BEIOPRSbdiqsuvx]*?([cmWX])(.*)", option, re.DOTALL)
        flag, value = match.groups() if match else ("", "")
        if flag in ("c", "m"):
            return flag == "m" and _is_covered_module(value or "".join(words[:1]))
        if option == "--check-hash-based-pycs" or (flag and not value):
            words = words[1:]
    return bool(words) and words[0] != "-" and Path(words[0]).resolve() in _covered


def _is_covered_module(module: str) -> bool:
    name, root = module.replace(".", "/"), Path().resolve()
    for folder in (root, *roots_of_code(root), root / WORKFLOW):
        for file in (folder / f"{name}.py", folder / name / "__main__.py"):
            if file.is_file():
                return file.resolve() in _covered
    package = module.partition(".")[0]
    return bool(package) and find_spec(package) is not None
