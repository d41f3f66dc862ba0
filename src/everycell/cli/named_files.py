"""Files named on the command line, which are checked before a command does anything else.

The annotation of a parameter declares what it names: `Input` an existing file of a kind, `Output` a
new one. `check_named_files` is the only place that tests them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo, OptionInfo

from everycell.base.file_kinds import KINDS, recognise_file
from everycell.base.files import describe_os_error
from everycell.records.cells import RecordError


@dataclass(frozen=True)
class Input:
    """An existing file of one of these kinds; with no kind, any file."""

    kinds: tuple[str, ...] = ()
    is_folder: bool = False
    #: Whether the tag of a run must not be the name of another run.
    has_tag: bool = False
    #: Flag with which the command writes the file.
    unless: str = ""


@dataclass(frozen=True)
class Output:
    """A file or folder to create, or several files with these suffixes."""

    suffixes: tuple[str, ...] = ("",)
    #: Whether an existing file is an earlier output of the command, which it replaces.
    is_replaced: Callable[[Path], bool] = lambda path: False


RUN = Input(("run",), has_tag=True)
QRELS = Input(("qrels",))
FOLDER = Input(is_folder=True)


@dataclass(frozen=True)
class _Named:
    """A file named by a parameter, and the kind of its content, if it is recognised."""

    parameter: str
    path: Path
    declared: Input
    kind: str | None
    #: Name of the system, if it is given as NAME=FILE.
    system: str | None


def path_and_name(text: str) -> tuple[Path, str | None]:
    """Path of a run, and the name of its system if given as NAME=FILE; both may contain `=`."""
    parts = text.split("=")
    pairs = [(Path("=".join(parts[cut:])), "=".join(parts[:cut])) for cut in range(1, len(parts))]
    if not pairs or Path(text).is_file():
        return Path(text), None
    return next((pair for pair in pairs if pair[0].is_file()), pairs[0])


def check_named_files(command: Callable[..., None], options: Mapping[str, Any]) -> list[Path]:
    """Refuse missing, unreadable and swapped inputs, and outputs that cannot be created.

    Returns the folders of outputs that do not exist; commands create them.
    """
    declarations = list(_declarations(command, options))
    inputs = [
        _read_named(parameter, value, declared)
        for parameter, value, declared in declarations
        if isinstance(declared, Input)
    ]
    for file in inputs:
        _check_kind(file, inputs)
    runs = [(file.path, file.system) for file in inputs if file.declared.has_tag]
    if len(runs) > 1:
        # Most commands read no runs and need not import this module.
        from everycell.trec.runs import check_tags

        check_tags(runs)
    missing: dict[Path, None] = {}
    for parameter, value, declared in declarations:
        if isinstance(declared, Output):
            if not value.parent.exists():
                missing[value.parent] = None
            paths = [value.with_name(value.name + suffix) for suffix in declared.suffixes]
            for path in paths:
                force = bool(options.get("force")) or declared.is_replaced(path)
                _check_output(parameter, path, inputs, force=force)
    return list(missing)


def _declarations(
    command: Callable[..., None], options: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Input | Output]]:
    """Name in messages, value and declaration of each declared file."""
    for name, hint in get_type_hints(command, include_extras=True).items():
        if get_origin(hint) is not Annotated or options.get(name) is None:
            continue
        for declared in get_args(hint)[1:]:
            if isinstance(declared, Output) or (
                isinstance(declared, Input) and not options.get(declared.unless)
            ):
                value = options[name]
                for item in value if isinstance(value, list | tuple) else [value]:
                    yield _name_of_parameter(name, hint), item, declared


def _name_of_parameter(name: str, hint: Any) -> str:
    """Name of a parameter on the command line, such as QRELS or --counts."""
    for info in get_args(hint)[1:]:
        if isinstance(info, ArgumentInfo):
            return str(info.metavar or name.upper()).strip("[].")
        if isinstance(info, OptionInfo) and info.param_decls:
            return str(info.param_decls[0])
    return "--" + name.replace("_", "-")


def _read_named(parameter: str, value: Path | str, declared: Input) -> _Named:
    path, system = path_and_name(value) if isinstance(value, str) else (value, None)
    noun = "folder" if declared.is_folder else "file"
    if declared.kinds:
        noun += f" ({KINDS[declared.kinds[0]]})"
    try:
        mode = path.stat().st_mode
        if not declared.is_folder and stat.S_ISREG(mode):
            path.open("rb").close()
    except (FileNotFoundError, NotADirectoryError):
        raise RecordError(
            f"{parameter}: {path} does not exist; give the path of a {noun}."
        ) from None
    except OSError as error:
        raise RecordError(f"{parameter}: {describe_os_error(error)}") from None
    if stat.S_ISDIR(mode) != declared.is_folder:
        what = "a folder" if stat.S_ISDIR(mode) else "not a folder"
        raise RecordError(f"{parameter}: {path} is {what}; give the path of a {noun}.")
    if not (stat.S_ISREG(mode) or declared.is_folder):
        raise RecordError(
            f"{parameter}: {path} is a pipe or device, such as a process substitution; write its "
            "content to a regular file first."
        )
    return _Named(
        parameter, path, declared, recognise_file(path) if declared.kinds else None, system
    )


def _check_kind(file: _Named, inputs: list[_Named]) -> None:
    """Refuse a file of another kind, and name the file with which it is swapped."""
    if file.kind is None or file.kind in file.declared.kinds:
        return
    expected = file.declared.kinds
    advice = "give another file"
    for other in inputs:
        if file.kind in other.declared.kinds and other.kind in expected:
            advice = f"it is swapped with {other.path} ({other.parameter}), so exchange them"
            break
    raise RecordError(
        f"{file.parameter}: {file.path} contains {KINDS[file.kind]}, expected "
        f"{' or '.join(KINDS[kind] for kind in expected)}; {advice}."
    )


def _check_output(parameter: str, path: Path, inputs: list[_Named], *, force: bool) -> None:
    """Refuse an output that exists, is also an input, or is in a folder that cannot be written."""
    for file in inputs:
        if path.exists() and path.samefile(file.path):
            raise RecordError(
                f"{parameter}: {path} is also the file of {file.parameter}; choose another name."
            )
    if path.is_dir():
        # A new folder is the output of some commands, so the advice fits both.
        advice = "choose the name of a file" if force else "choose a new name"
        raise RecordError(f"{parameter}: {path} is a folder; {advice}.")
    # /dev/stdout may be redirected to a regular file.
    is_stream = {"/dev", "/proc"} & {str(folder) for folder in path.absolute().parents}
    if is_stream or (path.exists() and not path.is_file()):
        raise RecordError(
            f"{parameter}: {path} is a pipe or device, expected a new file; choose the name of a "
            "file, or copy that file to the device afterwards."
        )
    if os.path.lexists(path) and not force:
        raise RecordError(f"{parameter}: {path} already exists; remove it, or choose another name.")
    parent = next(folder for folder in path.absolute().parents if os.path.lexists(folder))
    if not parent.is_dir():
        raise RecordError(f"{parameter}: {path} cannot be created, since {parent} is not a folder.")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise RecordError(
            f"{parameter}: {path} cannot be created, since the folder {parent} is not writable; "
            "choose another folder, or correct its permissions."
        )
