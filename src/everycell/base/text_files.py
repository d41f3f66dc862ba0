"""Reading of users' text files: UTF-8, optionally gzipped or with a byte order mark; JSON lines."""

from __future__ import annotations

import gzip
import stat
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from pydantic import BaseModel, ValidationError

from everycell.base.errors import DataError
from everycell.base.untrusted import UNPACKED, max_unpacked_size, parse_json

#: Byte order mark, which some editors and spreadsheet programs write before UTF-8 text.
MARK = b"\xef\xbb\xbf"
#: First bytes of files that are not UTF-8 text, with a description and a remedy.
_OTHER_FORMATS = {
    b"\x1f\x8b": "compressed with gzip: unpack it",
    b"\xfd7zXZ\x00": "compressed with xz: unpack it, or compress it with gzip",
    b"PK\x03\x04": "a zip archive: unpack it",
    b"BZh91AY&SY": "compressed with bzip2: unpack it, or compress it with gzip",
    b"\x28\xb5\x2f\xfd": "compressed with zstd: unpack it, or compress it with gzip",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: unpack it",
    b"PAR1": "a Parquet file: convert it to text",
    b"\xff\xfe": "UTF-16 text, or damaged: save it as UTF-8",
    b"\xfe\xff": "UTF-16 text, or damaged: save it as UTF-8",
}


#: Number of first bytes by which formats are recognised; a tar archive has its name at byte 257.
START = 512


def detect_other_format(start: bytes) -> str | None:
    """Describe the format of a file that is not text, by its first bytes; None for text."""
    if start[257:262] == b"ustar":
        return "a tar archive: unpack it"
    for magic, description in _OTHER_FORMATS.items():
        if start.startswith(magic):
            return description
    return "a binary file: replace it with a text file" if b"\x00" in start else None


def refuse_other_format(start: bytes, path: Path, error: type[Exception] | None = None) -> None:
    """Refuse a file that is not text, by its first bytes."""
    if description := detect_other_format(start):
        raise _as(error, DataError(path, fault=f"is {description}"))


def check_regular(path: Path, error: type[Exception] | None = None) -> None:
    """Refuse pipes and devices, which might never end and can be read only once."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        fault = DataError(
            path,
            fault="is a pipe or device, such as a process substitution",
            fix="write its content to a regular file first",
        )
        raise _as(error, fault)


def _as(error: type[Exception] | None, fault: DataError) -> Exception:
    """The error itself, or another class with its sentence."""
    return error(str(fault)) if error else fault


def misplaced_mark(path: object, row: int | str) -> DataError:
    """Error for a byte order mark that is not at the start of a file."""
    return DataError(
        path,
        row,
        fault="has a byte order mark, which may only be at the start of a file",
        fix="remove it; several files that begin with one were probably joined",
    )


def text_lines(path: Path, error: type[Exception] | None = None) -> Iterator[tuple[int, str]]:
    """Iterate over the lines of a file with their numbers; only a line feed ends a line.

    A byte order mark at the start of the file is skipped. At the start of another line it is an
    error; within a line, where it may be part of the text, it is kept. Errors are a `DataError`, or
    have the class `error`.
    """
    check_regular(path, error)
    limit = max_unpacked_size(path)
    is_packed = path.suffix.lower() == ".gz"
    # The fields and values of a line take many times its bytes.
    longest = UNPACKED if is_packed else limit
    number, size = 0, 0
    try:
        with (gzip.open if is_packed else open)(path, "rb") as file:
            # Check before reading a line: in a binary file, that may be the complete content.
            refuse_other_format(file.peek(START)[:START], path, error)
            for number, raw in enumerate(iter(partial(file.readline, longest + 1), b""), 1):
                line = cast(bytes, raw)
                size += len(line)
                if number == 1:
                    line = line.removeprefix(MARK)
                if len(line) > longest:
                    text = f"has more than {longest:,} bytes"
                    raise _as(error, DataError(path, number, fault=text, fix="replace the file"))
                if size > limit:
                    text = f"unpacks to more than {limit:,} bytes, too many for text"
                    raise _as(error, DataError(path, fault=text, fix="replace the file"))
                if line.startswith(MARK):
                    raise _as(error, misplaced_mark(path, number))
                yield number, line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError:
        fault = DataError(path, number, fault="is not UTF-8 text", fix="convert the file to UTF-8")
        raise _as(error, fault) from None
    except (gzip.BadGzipFile, zlib.error, EOFError):
        fault = DataError(
            path,
            fault="is damaged or not a gzip file",
            fix="replace it, or remove .gz from its name if it is not compressed",
        )
        raise _as(error, fault) from None


def read_text_file(path: Path, error: type[Exception] | None = None) -> str:
    """Read a text file with the checks of `text_lines`; lines are separated by line feeds."""
    return "\n".join(line for _, line in text_lines(path, error))


def read_lines(path: Path, fix: str = "check the path") -> Iterator[tuple[int, str]]:
    """Iterate over lines as `text_lines`; `fix` says what to do if the file cannot be read."""
    try:
        yield from text_lines(path)
    except OSError as error:
        raise DataError(path, fault=f"cannot be read ({error.strerror})", fix=fix) from None


Line = TypeVar("Line", bound=BaseModel)


def read_json_lines(path: Path, model: type[Line], guide: str) -> Iterator[tuple[int, Line]]:
    """Read the objects of a file with their line numbers; skip empty lines."""
    count = 0
    for number, line in text_lines(path):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except ValueError as error:
            raise ValueError(
                f"{path}, line {number} is not JSON ({error}): write one JSON object per line."
            ) from None
        try:
            yield number, model.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the line"
            raise ValueError(
                f"{path}, line {number}: {where}: {first['msg']}; expected the fields "
                f"{', '.join(model.model_fields)} (see {guide})."
            ) from None
        count += 1
    if not count:
        raise ValueError(f"{path} is empty: write one JSON object per line.")
