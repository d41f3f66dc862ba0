"""Read and write files in TREC formats; errors point to the line."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from everycell.base.errors import DataError
from everycell.base.file_kinds import KINDS, recognise_text
from everycell.base.files import write_atomically
from everycell.base.text_files import (
    MARK,
    START,
    check_regular,
    detect_other_format,
    misplaced_mark,
)
from everycell.base.untrusted import unpack
from everycell.trec.frames import (
    Kind,
    Locate,
    check_frame,
    check_queries,
    check_ranks,
    check_scale,
)

Ranks = Literal["ignore", "error"]

# The delimiters that may remain in a field after splitting the text at spaces and line breaks.
_DELIMITER_BYTES = (b"\x00", b"\x0b", b"\x0c", b"\r")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", errors="backslashreplace")


def _describe_failure(
    data: bytes, kind: Kind, path: Path, locate: Locate, cause: Exception
) -> DataError:
    """Describe the first invalid line; slow, so only called after reading has failed."""
    other = recognise_text(data)
    if other is not None and other != kind.name:
        return DataError(
            path,
            fault=f"contains {KINDS[other]}",
            expected=KINDS[kind.name],
            fix="check the order of the files",
        )
    # All lines, or all fields of a line, may take many times the bytes of the file.
    for row, line in enumerate(io.BytesIO(data)):
        line = line.removesuffix(b"\n")
        fields = line.split(maxsplit=len(kind.fields))
        if len(fields) != len(kind.fields):
            number = sum(1 for _ in re.finditer(rb"\S+", line))
            return DataError(
                *locate(row),
                fault=f"has {number:,} fields",
                expected=f"{len(kind.fields)} ({' '.join(kind.fields)})",
                fix="remove the extra fields, or spaces within ids"
                if len(fields) > len(kind.fields)
                else "add the missing fields, or delete the line",
            )
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            fault, fix = "which is not UTF-8 text", "convert the file to UTF-8"
            return DataError(*locate(row), value=_text(line), fault=fault, fix=fix)
        if kind.number:
            number = fields[kind.fields.index(kind.number)]
            if not re.fullmatch(kind.pattern, number):
                value = _text(number)
                return DataError(*locate(row), kind.number, value, expected=kind.allowed)
    return DataError(path, fault=f"is not a {kind.name} file ({cause})", fix="correct it")


def read_lines(
    path: Path | str,
    kind: Kind,
    *,
    ranks: bool = False,
    queries: Iterable[str] | None = None,
    scale: tuple[int, int] | None = None,
) -> pd.DataFrame:
    """Read a file into a checked frame; `ranks` also compares ranks with scores."""
    path = Path(path)
    if path.exists():
        check_regular(path)
    try:
        # Check the first bytes before unpacking the file, which may be huge.
        with pa.input_stream(str(path), compression="detect") as stream:
            other_format = detect_other_format(stream.read(START))
        with pa.input_stream(str(path), compression="detect") as stream:
            is_plain = isinstance(stream, pa.OSFile)
            data = b"" if other_format else stream.read() if is_plain else unpack(stream, path)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"The {kind.name} file {path} does not exist: check the path, or create the file."
        ) from None
    except (OSError, ValueError) as error:
        rename = ", or remove .gz from its name if it is not compressed"
        raise DataError(
            path,
            fault=f"cannot be read or is damaged ({error})",
            fix=f"create it again{rename if path.suffix == '.gz' else ''}",
        ) from None
    if other_format:
        raise DataError(path, fault=f"is {other_format}")
    data = data.removeprefix(MARK)
    data, locate = _remove_comments(_normalise_space(data.rstrip()), path)
    if (position := data.find(MARK)) >= 0:
        raise misplaced_mark(*locate(data.count(b"\n", 0, position)))
    if not data:
        raise DataError(path, fault="is empty", expected="at least one line", fix="create it again")
    column_types = dict.fromkeys(("query", "document", "rank"), pa.string())
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(data),
            # Large blocks make parallel reading efficient.
            read_options=pa.csv.ReadOptions(column_names=kind.fields, block_size=1 << 22),
            parse_options=pa.csv.ParseOptions(
                delimiter=" ", quote_char=False, ignore_empty_lines=False
            ),
            convert_options=pa.csv.ConvertOptions(
                include_columns=kind.columns + (("rank",) if ranks else ()),
                column_types=column_types | ({kind.number: kind.type} if kind.number else {}),
                null_values=[],
            ),
        )
    except pa.ArrowInvalid as error:
        raise _describe_failure(data, kind, path, locate, error) from error
    frame = table.to_pandas()
    if kind.number and (is_infinite := np.isinf(frame[kind.number].to_numpy(dtype=float))).any():
        # Quote the file, since the number may be too large for 64 bits.
        row = int(np.argmax(is_infinite))
        field = data.split(b"\n", row + 1)[row].split(b" ")[kind.fields.index(kind.number)]
        raise DataError(*locate(row), kind.number, field.decode(), expected="a finite number")
    ids_are_valid = not any(byte in data for byte in _DELIMITER_BYTES)
    frame = check_frame(frame, kind, locate, ids_are_valid=ids_are_valid)
    if ranks:
        check_ranks(frame, table["rank"], locate)
    check_queries(frame, queries, locate)
    check_scale(frame, scale, locate)
    return frame


def _remove_comments(data: bytes, path: Path) -> tuple[bytes, Locate]:
    """Text without lines that begin with #, as in trec_eval 10, and a function that finds a row."""
    if not data.startswith(b"#") and b"\n#" not in data:
        return data, lambda row: (path, row + 1)

    def locate(row: int) -> tuple[Path, int]:
        lines = enumerate(io.BytesIO(data), 1)
        numbers = (number for number, line in lines if not line.startswith(b"#"))
        return path, next(itertools.islice(numbers, row, None))

    remainder = io.BytesIO()
    remainder.writelines(line for line in io.BytesIO(data) if not line.startswith(b"#"))
    return remainder.getvalue().removesuffix(b"\n"), locate


def _normalise_space(data: bytes) -> bytes:
    """Text with a single space between fields, and none at the start or end of a line.

    trec_eval accepts any white space, but the CSV reader does not. Most files need no change, so
    this is tested first.
    """
    blank = np.frombuffer(data, dtype=np.uint8) <= ord(" ")
    if blank[:1].any() or (blank[1:] & blank[:-1]).any() or b"\t" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\t", b" ")
        # A regular expression would take many times the bytes of the file.
        codes = np.frombuffer(data, dtype=np.uint8)
        is_space = codes == ord(" ")
        follows_blank = np.r_[True, (is_space | (codes == ord("\n")))[:-1]]
        codes = codes[~(is_space & follows_blank)]
        precedes_end = np.r_[codes[1:] == ord("\n"), True]
        data = codes[~((codes == ord(" ")) & precedes_end)].tobytes()
    return data


def write_lines(fields: Iterable[object], path: Path | str) -> None:
    """Write one line per row; `fields` are columns or constants, with the query ids first."""
    fields = list(fields)
    if fields[0].str.startswith("#").any():  # type: ignore[attr-defined]
        raise DataError(
            path,
            column="query",
            fault="has an id that begins with '#', as comments do in trec_eval 10",
            fix="rename the query",
        )
    # pyarrow's CSV writer rejects ids with quotation marks.
    columns = [
        pa.scalar(field, pa.large_string())
        if isinstance(field, str)
        else pc.cast(pa.array(field), pa.large_string())
        for field in fields
    ]
    lines = pc.binary_join_element_wise(*columns, pa.scalar(" ", pa.large_string())).to_pylist()
    write_atomically(Path(path), "\n".join(lines) + "\n")
