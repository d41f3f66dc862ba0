"""Records in SMART format and blocks in TREC format, from files of test collections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from everycell.base.errors import CollectionError
from everycell.base.text_files import check_regular
from everycell.base.untrusted import in_quotes

_FIELD = re.compile(r"\.([A-Z])\s*")
_RECORD = re.compile(r"\.I\s+(\d+)\s*")


def smart_records(path: Path, allowed: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Location, number and fields of each ".I" record; repeated fields are concatenated."""

    def join_lines(fields: dict[str, list[str]]) -> dict[str, str]:
        return {key: normalise_space("\n".join(lines)) for key, lines in fields.items()}

    record: dict[str, list[str]] | None = None
    field: list[str] | None = None
    record_start = number = ""
    for line_number, line in enumerate(read_text_lines(path), start=1):
        location = f"{path}, line {line_number}"
        if start := _RECORD.fullmatch(line):
            if record is not None:
                yield record_start, number, join_lines(record)
            record, field, record_start, number = {}, None, location, start[1]
        elif (mark := _FIELD.fullmatch(line)) and record is not None and mark[1] in allowed:
            field = record.setdefault(mark[1], [])
        elif mark or (field is None and line.strip()):
            raise CollectionError(
                f"{location}: got {in_quotes(line.strip())}, expected a record (.I and a number) "
                f"or a field ({', '.join('.' + key for key in allowed)}); use the registered file."
            )
        elif field is not None:
            field.append(line)
    if record is not None:
        yield record_start, number, join_lines(record)


def trec_blocks(path: Path, block: str, identifier: str) -> Iterator[tuple[str, str, str]]:
    """Location, id and text of each block; the id is on its first line."""
    id_line = re.compile(rf"<{identifier}>\s*(\S+)\s*</{identifier}>(.*)")
    block_id = block_start = ""
    text: list[str] | None = None
    for number, line in enumerate(read_text_lines(path), start=1):
        location = f"{path}, line {number}"
        stripped = line.strip()
        if text is None and stripped == f"<{block}>":
            block_id, text, block_start = "", [], location
        elif text is not None and not block_id and (match := id_line.fullmatch(stripped)):
            block_id, text = match[1], [match[2]]
        elif text is not None and block_id and stripped == f"</{block}>":
            yield block_start, block_id, normalise_space(re.sub(r"</?title>", " ", "\n".join(text)))
            text = None
        elif text is not None and block_id and stripped != f"<{block}>":
            text.append(line)
        elif stripped:
            raise CollectionError(
                f"{location}: got {stripped[:40]!r}, but a block must consist of <{block}>, a "
                f"line that begins with <{identifier}>, text, </{block}>; use the registered file."
            )
    if text is not None:
        raise CollectionError(
            f"{block_start}: this <{block}> has no </{block}>, so the file may be truncated; use "
            "the registered file."
        )


def check_unique(locations: dict[str, str], location: str, item: str) -> None:
    """Add an item to `locations`, or raise an error if it is already there."""
    if item in locations:
        raise CollectionError(
            f"{location}: {item} is already in {locations[item]}; remove one of the two."
        )
    locations[item] = location


def read_text_lines(path: Path) -> list[str]:
    """Read the lines of an ASCII file."""
    try:
        check_regular(path, CollectionError)
        return decode_lines(path.read_bytes(), str(path))
    except OSError as error:
        raise unreadable_file_error(path, error) from error


def decode_lines(content: bytes, location: str) -> list[str]:
    """Decode lines of ASCII text; `location` is for messages."""
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CollectionError(
            f"{location}, line {line}: byte {content[error.start]:#04x} is not ASCII; fetch the "
            "file again."
        ) from error
    if not text.strip():
        raise CollectionError(f"{location} is empty; fetch it again.")
    return text.split("\n")


def unreadable_file_error(path: Path, error: OSError) -> CollectionError:
    """Error for a file that cannot be read."""
    return CollectionError(
        f"{path} cannot be read ({error.strerror or error}); fetch it, or correct its path."
    )


def normalise_space(text: str) -> str:
    """Text with every run of white space replaced by a single space."""
    return " ".join(text.split())
