"""Text files of users: UTF-8, gzipped or not, with or without a byte order mark at the start."""

from __future__ import annotations

import gzip
import stat
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import cast

from everycell.engine.untrusted import max_unpacked_size

#: Byte order mark, which some editors and spreadsheets write before UTF-8 text.
MARK = b"\xef\xbb\xbf"
#: First bytes of files that are no UTF-8 text. Those of other encodings are no UTF-8.
_OTHER_KINDS = {
    b"\x1f\x8b": "packed with gzip, and its name does not say so: unpack it, or let its name end "
    "in .gz",
    b"\xfd7zXZ\x00": "packed with xz: unpack it, or pack it with gzip",
    b"PK\x03\x04": "a zip archive: unpack it",
    b"BZh91AY&SY": "packed with bzip2: unpack it, or pack it with gzip",
    b"\x28\xb5\x2f\xfd": "packed with zstd: unpack it, or pack it with gzip",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: unpack it",
    b"PAR1": "a Parquet file: give text",
    b"\xff\xfe": "UTF-16 text, or damaged: save it as UTF-8",
    b"\xfe\xff": "UTF-16 text, or damaged: save it as UTF-8",
}


def other_kind(start: bytes) -> str | None:
    r"""What a file with these first bytes is instead of text, and what to do.

    Examples
    --------
    >>> other_kind(b"PK\x03\x04")
    'a zip archive: unpack it'
    """
    return next((kind for magic, kind in _OTHER_KINDS.items() if start.startswith(magic)), None)


def check_regular(path: Path, error: type[Exception] = ValueError) -> None:
    """Refuse a pipe or device, which might never end, and can be read only once."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise error(
            f"{path} is a pipe or a device, such as a process substitution; write its content to a "
            "regular file first."
        )


def mark_within(where: object) -> str:
    """Sentence about a byte order mark that is not at the start of its file."""
    return (
        f"{where} has a byte order mark, which may only be at the start of a file: remove it "
        "(files that each begin with one were joined)."
    )


def text_lines(path: Path, error: type[Exception] = ValueError) -> Iterator[tuple[int, str]]:
    r"""Numbers from 1 and texts of a file's lines, one by one; only a line feed ends a line.

    A byte order mark at the start is skipped. At the start of another line it is an `error`, as is
    whatever makes the file no text. Within a line it is left to the caller: texts may have it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "words.txt"
    >>> _ = path.write_bytes(MARK + b"she,f\r\n" + MARK + b"he,m\n")
    >>> lines = text_lines(path)
    >>> next(lines)
    (1, 'she,f')
    >>> next(lines)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: Line 2 of ... has a byte order mark, which may only be at the start of a file: ...
    """
    check_regular(path, error)
    limit = max_unpacked_size(path)
    number = 0
    try:
        with (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rb") as file:
            # Before the first line is read: in a packed file it may be the whole content.
            if kind := other_kind(file.peek(8)):
                raise error(f"{path} is {kind}.")
            for number, raw in enumerate(iter(partial(file.readline, limit + 1), b""), 1):
                line = cast(bytes, raw)
                if number == 1:
                    line = line.removeprefix(MARK)
                if len(line) > limit:
                    raise error(
                        f"Line {number} of {path} has more than {limit:,} bytes: get it again."
                    )
                if line.startswith(MARK):
                    raise error(mark_within(f"Line {number} of {path}"))
                yield number, line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError:
        raise error(
            f"Line {number} of {path} is not UTF-8 text: convert the file to UTF-8."
        ) from None
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise error(
            f"{path} is damaged or not a gzip file: get it again, or leave .gz out of its name if "
            "it "
            "is not packed."
        ) from None


def whole_text(path: Path, error: type[Exception] = ValueError) -> str:
    """Text of a file, as `text_lines` reads it, with line feeds between its lines."""
    return "\n".join(line for _, line in text_lines(path, error))
