"""Lines of the test collections' files: records of SMART, blocks of TREC."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from everycell.collections.errors import CollectionError
from everycell.engine.text_files import check_regular
from everycell.engine.untrusted import in_quotes

_FIELD = re.compile(r"\.([A-Z])\s*")
_RECORD = re.compile(r"\.I\s+(\d+)\s*")


def smart_records(path: Path, allowed: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Place, number and fields of each ".I" record; a repeated field continues the earlier one."""
    record: dict[str, list[str]] | None = None
    field: list[str] | None = None
    record_start = number = ""
    for line_number, line in enumerate(read_text_lines(path), start=1):
        where = f"{path}, line {line_number}"
        if start := _RECORD.fullmatch(line):
            if record is not None:
                yield (
                    record_start,
                    number,
                    {key: single_blanks("\n".join(v)) for key, v in record.items()},
                )
            record, field, record_start, number = {}, None, where, start[1]
        elif (mark := _FIELD.fullmatch(line)) and record is not None and mark[1] in allowed:
            field = record.setdefault(mark[1], [])
        elif mark or (field is None and line.strip()):
            raise CollectionError(
                f"{where}: found {in_quotes(line.strip())} where a record (.I and a number) or a "
                "field "
                f"({', '.join('.' + key for key in allowed)}) begins; use the registry's file."
            )
        elif field is not None:
            field.append(line)
    if record is not None:
        yield record_start, number, {key: single_blanks("\n".join(v)) for key, v in record.items()}


def trec_blocks(path: Path, block: str, identifier: str) -> Iterator[tuple[str, str, str]]:
    """Place, id and text of each block, whose first line has the id; other tags are taken out."""
    first = re.compile(rf"<{identifier}>\s*(\S+)\s*</{identifier}>(.*)")
    block_id = block_start = ""
    text: list[str] | None = None
    for number, line in enumerate(read_text_lines(path), start=1):
        where = f"{path}, line {number}"
        stripped = line.strip()
        if text is None and stripped == f"<{block}>":
            block_id, text, block_start = "", [], where
        elif text is not None and not block_id and (match := first.fullmatch(stripped)):
            block_id, text = match[1], [match[2]]
        elif text is not None and block_id and stripped == f"</{block}>":
            yield block_start, block_id, single_blanks(re.sub(r"</?title>", " ", "\n".join(text)))
            text = None
        elif text is not None and block_id and stripped != f"<{block}>":
            text.append(line)
        elif stripped:
            raise CollectionError(
                f"{where}: found {stripped[:40]!r}, but a block is <{block}>, a line that begins "
                f"with <{identifier}>, text, </{block}>; use the registry's file."
            )
    if text is not None:
        raise CollectionError(
            f"{block_start}: this <{block}> has no </{block}> before the end of the file, which "
            "may have been cut; use the registry's file."
        )


def only_once(where_of: dict[str, str], where: str, what: str) -> None:
    """Refuse what was seen before; `where` is where it occurs now."""
    if what in where_of:
        raise CollectionError(
            f"{where}: {what} is in {where_of[what]} already; each occurs once, so remove one."
        )
    where_of[what] = where


def read_text_lines(path: Path) -> list[str]:
    """Lines of an ASCII file."""
    try:
        check_regular(path, CollectionError)
        return decoded_lines(path.read_bytes(), str(path))
    except OSError as error:
        raise unreadable(path, error) from error


def decoded_lines(content: bytes, where: str) -> list[str]:
    """Lines of ASCII bytes; `where` names them in an error."""
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CollectionError(
            f"{where}, line {line}: byte {content[error.start]:#04x} is not ASCII, and these "
            "collections hold nothing else; fetch it again."
        ) from error
    if not text.strip():
        raise CollectionError(f"{where} is empty; fetch it again.")
    return text.split("\n")


def unreadable(path: Path, error: OSError) -> CollectionError:
    """Error for a file that cannot be read."""
    return CollectionError(
        f"{path} cannot be read ({error.strerror or error}); fetch it, or correct its path."
    )


def single_blanks(text: str) -> str:
    """Text with each run of white space as one blank."""
    return " ".join(text.split())
