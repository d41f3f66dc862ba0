"""Documents of a user's collection: a Parquet, JSON Lines or TSV file with ids and texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq

from everycell.base.errors import DataError
from everycell.base.frames import (
    check_columns,
    check_parquet_size,
    check_types,
    parquet_errors,
    too_long_texts,
)
from everycell.base.text_files import text_lines
from everycell.base.untrusted import max_unpacked_size, parse_json
from everycell.metrics.word_lists import DOCUMENT

#: Keys of the id and the text of a JSON object: those of everycell, Pyserini and BEIR.
_ID_KEYS, _TEXT_KEYS = (DOCUMENT, "id", "_id"), ("text", "contents")


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
        raise DataError(
            path,
            column="extension",
            value=extension,
            expected=".parquet, .jsonl, .tsv, .jsonl.gz or .tsv.gz",
        )


def _read_parquet(path: Path) -> Iterator[tuple[str, str]]:
    row, size, limit = 0, 0, max_unpacked_size(path)
    with parquet_errors(path):
        check_parquet_size(path)
        schema = pq.read_schema(path)
    check_columns(str(path), schema.names, dict.fromkeys((DOCUMENT, "text", *schema.names)))
    check_types(path, schema, (DOCUMENT, "text"))
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
                    raise DataError(
                        path, f"row {row}", "id and text", pair, expected="two strings",
                        fix="correct the row",
                    )  # fmt: skip
                size += sum(map(len, pair))
                if size > limit:
                    raise too_long_texts(path, limit)
                yield pair


def _read_lines(
    path: Path, parse: Callable[[Path, int, str], tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    for number, line in text_lines(path):
        if line:
            yield parse(path, number, line)


def _parse_tsv(path: Path, number: int, line: str) -> tuple[str, str]:
    document, tab, text = line.partition("\t")
    if not tab:
        raise DataError(path, number, fault="has no tab", fix="write an id, a tab and a text")
    return document, text


def _parse_json(path: Path, number: int, line: str) -> tuple[str, str]:
    try:
        entry = parse_json(line)
    except ValueError as error:
        raise DataError(
            path, number, fault=f"is not JSON ({error})", fix="correct the line"
        ) from None
    values = []
    for field, keys in (("id", _ID_KEYS), ("text", _TEXT_KEYS)):
        present = [
            key for key in keys if isinstance(entry, dict) and isinstance(entry.get(key), str)
        ]
        if not present:
            raise DataError(
                path,
                number,
                fault=f"has no {field}",
                expected=f"an object with a string under the key {' or '.join(map(repr, keys))}",
            )
        values.append(entry[present[0]])
    return values[0], values[1]
