"""Readers and checks of the documents of a user's own collection."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow.parquet as pq

from everycell.base.frames import check_columns
from everycell.base.parquet_limits import check_parquet_size
from everycell.base.text_files import text_lines
from everycell.base.untrusted import in_quotes, parse_json
from everycell.metrics.term_counts import parquet_errors
from everycell.metrics.word_lists import DOCUMENT

#: Keys of the id and the text of a JSON object: those of everycell, Pyserini and BEIR.
_ID_KEYS, _TEXT_KEYS = (DOCUMENT, "id", "_id"), ("text", "contents")

_WORD = re.compile(r"\w")

#: Ten consecutive letters of a script without spaces between words: longer than any single word.
_WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff]{10}"
)


def read_documents(path: Path | str) -> Iterator[tuple[str, str]]:
    """Yield the id and text of each document of a collection."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"The document file {path} does not exist: check the path.")
    extension = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if extension == "parquet":
        yield from _read_parquet(path)
    elif extension in ("jsonl", "tsv"):
        yield from _read_lines(path, _parse_json if extension == "jsonl" else _parse_tsv)
    else:
        raise ValueError(
            f"{path} has an unknown extension; give documents as .parquet, .jsonl, .tsv, .jsonl.gz "
            "or .tsv.gz."
        )


def _read_parquet(path: Path) -> Iterator[tuple[str, str]]:
    row = 0
    with parquet_errors(path):
        check_parquet_size(path)
        names = pq.read_schema(path).names
    check_columns(str(path), names, dict.fromkeys((DOCUMENT, "text", *names)))
    with (
        parquet_errors(path),
        # Dictionary encoding keeps a repeated text in memory only once.
        pq.ParquetFile(path, read_dictionary=[DOCUMENT, "text"]) as file,
    ):
        for batch in file.iter_batches(batch_size=10_000, columns=[DOCUMENT, "text"]):
            for scalars in zip(batch.column(DOCUMENT), batch.column("text"), strict=True):
                row += 1
                pair = tuple(scalar.as_py() for scalar in scalars)
                if not all(isinstance(value, str) for value in pair):
                    raise ValueError(
                        f"Row {row} of {path} has the id and text {in_quotes(pair)}; both must be "
                        "strings, so correct the row."
                    )
                yield pair


def _read_lines(
    path: Path, parse: Callable[[str, str], tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    for number, line in text_lines(path):
        if line:
            yield parse(line, f"Line {number} of {path}")


def _parse_tsv(line: str, location: str) -> tuple[str, str]:
    document, tab, text = line.partition("\t")
    if not tab:
        raise ValueError(f"{location} has no tab; write an id, a tab and a text.")
    return document, text


def _parse_json(line: str, location: str) -> tuple[str, str]:
    try:
        entry = parse_json(line)
    except ValueError as error:
        raise ValueError(f"{location} is not JSON ({error}); correct it.") from None
    values = []
    for field, keys in (("id", _ID_KEYS), ("text", _TEXT_KEYS)):
        present = [
            key for key in keys if isinstance(entry, dict) and isinstance(entry.get(key), str)
        ]
        if not present:
            raise ValueError(
                f"{location} has no {field}; write an object with a string under the key "
                f"{' or '.join(map(repr, keys))}."
            )
        values.append(entry[present[0]])
    return values[0], values[1]


def check_texts(
    documents: Iterable[tuple[str, str]],
    *,
    split_at_spaces: bool = True,
    allow_empty: bool = False,
) -> Iterator[tuple[str, str]]:
    """Yield the documents; raise an error at a text whose words would be miscounted."""
    for document, text in documents:
        if isinstance(text, str):
            if not allow_empty and not _WORD.search(text):
                raise ValueError(
                    f"Document {document!r} has no word: its text is {text!r:.40}; remove it, or "
                    "allow it with --allow-empty."
                )
            if split_at_spaces and not text.isascii() and (match := _WITHOUT_SPACES.search(text)):
                raise ValueError(
                    f"Document {document!r} contains {match[0]!r}, without spaces between words; "
                    "add spaces, or use --tokens standard."
                )
        yield document, text
