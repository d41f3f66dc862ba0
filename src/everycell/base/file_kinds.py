"""Kinds of users' files, recognised by their first lines, so that swapped files are noticed.

A file is recognised only if its content fits one kind. All other files, also damaged ones, are left
to the reader of the expected kind, which points to the line.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from everycell.base.text_files import MARK
from everycell.base.untrusted import parse_json

#: Kind -> its description in messages.
KINDS = {
    "run": "a run",
    "qrels": "relevance judgements (qrels)",
    "features": "judged features (LETOR)",
    "forest": "a LightGBM model",
    "counts": "counts of group terms",
    "documents": "documents in Parquet",
    "texts": "texts in JSON lines",
    "answers": "answers in JSON lines",
    "correct answers": "correct answers in JSON lines",
    "predictions": "predictions in JSON lines",
    "neutralities": "neutralities of documents",
    "verdicts": "expected verdicts",
    "values": "a table of values",
    # These are not recognised, since too many files look like them.
    "words": "a word list",
    "settings": "settings (YAML)",
}
#: Bytes and lines that are read to recognise a file.
_BYTES, _LINES = 1 << 16, 20
_NUMBER = r"[-+]?(\d++\.?\d*|\.\d+)([eE][-+]?\d+)?"
#: Kind -> pattern of each of its lines.
_LINE_PATTERNS = {
    "run": rf"\S+\s+\S+\s+\S+\s+\d+\s+(?:{_NUMBER}|-?(?i:nan|inf|infinity))\s+\S+",
    "qrels": r"\S+\s+\S+\s+\S+\s+-?\d{1,9}",
    "features": rf"{_NUMBER}\s+qid:\S+(\s+\d+:\S+)*(\s+#.*)?",
}
#: Kind -> columns of a Parquet file, keys of a JSON object, or columns of a CSV file.
_PARQUET_COLUMNS = {"counts": {"document_id", "length"}, "documents": {"document_id", "text"}}
_JSON_KEYS: dict[str, Sequence[set[str]]] = {
    "answers": (
        {"question", "answer", "documents"},
        {"question", "statements", "documents"},
    ),
    "predictions": ({"satisfied", "predicted"},),
    "texts": ({"id", "text"}, {"id", "contents"}, {"_id", "text"}, {"document_id", "text"}),
    "correct answers": ({"question", "answers"}, {"id", "answers"}, {"question", "answer"}),
}
_CSV_COLUMNS = {
    "neutralities": {"document", "neutrality"},
    "verdicts": {"tier", "artefact", "key", "verdict"},
    "values": {"value"},
}


def recognise_file(path: Path) -> str | None:
    """Kind of a file, by its first lines; None if it fits no kind."""
    try:
        with path.open("rb") as file:
            start = file.read(_BYTES)
        if start.startswith(b"PAR1"):
            return _recognise_parquet(path)
        if start.startswith(b"\x1f\x8b"):
            with gzip.open(path, "rb") as file:
                start = file.read(_BYTES)
    except (OSError, EOFError, zlib.error):
        return None
    return recognise_text(start)


def recognise_text(start: bytes) -> str | None:
    """Kind of a text file with this start; None if it fits no kind."""
    try:
        # The last line may be incomplete.
        start = start[:_BYTES]
        cut = start if len(start) < _BYTES else start[: start.rfind(b"\n") + 1]
        text = cut.removeprefix(MARK).decode("utf-8")
    except UnicodeDecodeError:
        return None
    lines = [line.strip() for line in text.split("\n")]
    lines = [line for line in lines if line and not line.startswith("#")][:_LINES]
    if not lines:
        return None
    if lines[0] == "tree":
        return "forest"
    for kind, pattern in _LINE_PATTERNS.items():
        if all(re.fullmatch(pattern, line) for line in lines):
            return kind
    if lines[0].startswith("{"):
        return _recognise_json(lines[0])
    columns = {column.strip(' "') for column in lines[0].split(",")}
    return next((kind for kind, names in _CSV_COLUMNS.items() if names <= columns), None)


def _recognise_json(line: str) -> str | None:
    try:
        value: Any = parse_json(line)
    except ValueError:
        return None
    keys = set(value) if isinstance(value, dict) else set()
    return next(
        (kind for kind, sets in _JSON_KEYS.items() if any(names <= keys for names in sets)), None
    )


def _recognise_parquet(path: Path) -> str | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        columns = set(pq.read_schema(path).names)
    except (pa.ArrowException, OSError):
        return None
    return next((kind for kind, names in _PARQUET_COLUMNS.items() if names <= columns), None)
