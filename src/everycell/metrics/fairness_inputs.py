"""Documents of a user's own collection, read from common kinds of file, and checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow.parquet as pq

from everycell.engine.frames import check_columns
from everycell.engine.parquet_limits import check_parquet_size
from everycell.engine.text_files import text_lines
from everycell.engine.untrusted import in_quotes, parse_json
from everycell.metrics.term_counts import parquet_errors
from everycell.metrics.word_lists import DOCUMENT

#: Keys of an id and of a text in a line of JSON: ours, Pyserini's and BEIR's.
_ID_KEYS, _TEXT_KEYS = (DOCUMENT, "id", "_id"), ("text", "contents")

_WORD = re.compile(r"\w")

#: Ten letters in a row in a script without blanks between words: longer than any single word.
_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff]{10}"
)


def read_documents(path: Path | str) -> Iterator[tuple[str, str]]:
    """Read the ids and texts of a collection one by one."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"The documents {path} do not exist: check the path.")
    kind = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if kind == "parquet":
        yield from _from_parquet(path)
    elif kind in ("jsonl", "tsv"):
        yield from _from_lines(path, _object if kind == "jsonl" else _row)
    else:
        raise ValueError(
            f"{path} has an unknown ending; give documents as .parquet, .jsonl or .tsv (the last "
            "two also with .gz)."
        )


def _from_parquet(path: Path) -> Iterator[tuple[str, str]]:
    row = 0
    with parquet_errors(path):
        check_parquet_size(path)
        names = pq.read_schema(path).names
    check_columns(str(path), names, dict.fromkeys((DOCUMENT, "text", *names)))
    with (
        parquet_errors(path),
        # A text that occurs in many rows is held once.
        pq.ParquetFile(path, read_dictionary=[DOCUMENT, "text"]) as file,
    ):
        for batch in file.iter_batches(batch_size=10_000, columns=[DOCUMENT, "text"]):
            for scalars in zip(batch.column(DOCUMENT), batch.column("text"), strict=True):
                row += 1
                pair = tuple(scalar.as_py() for scalar in scalars)
                if not all(isinstance(value, str) for value in pair):
                    raise ValueError(
                        f"Row {row} of {path} has the id and text {in_quotes(pair)}; both are "
                        "text, so correct it."
                    )
                yield pair


def _from_lines(
    path: Path, parse: Callable[[str, str], tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    for number, line in text_lines(path):
        if line:
            yield parse(line, f"Line {number} of {path}")


def _row(line: str, where: str) -> tuple[str, str]:
    document, tab, text = line.partition("\t")
    if not tab:
        raise ValueError(f"{where} has no tab; a line is an id, a tab and a text, so correct it.")
    return document, text


def _object(line: str, where: str) -> tuple[str, str]:
    try:
        entry = parse_json(line)
    except ValueError as error:
        raise ValueError(f"{where} is not JSON ({error}); correct it.") from None
    values = []
    for what, keys in (("id", _ID_KEYS), ("text", _TEXT_KEYS)):
        present = [
            key for key in keys if isinstance(entry, dict) and isinstance(entry.get(key), str)
        ]
        if not present:
            raise ValueError(
                f"{where} has no {what}: a line is an object with a string under "
                f"{' or '.join(map(repr, keys))}, so add it."
            )
        values.append(entry[present[0]])
    return values[0], values[1]


def check_texts(
    documents: Iterable[tuple[str, str]], *, by_blanks: bool = True, allow_empty: bool = False
) -> Iterator[tuple[str, str]]:
    """Pass documents on, and stop at one whose count would be silently wrong.

    Examples
    --------
    >>> list(check_texts([("d1", "она бежит"), ("d2", "她 跑")]))
    [('d1', 'она бежит'), ('d2', '她 跑')]
    >>> list(check_texts([("d3", "...")]))
    Traceback (most recent call last):
    ValueError: Document 'd3' has no word: its text is '...'; remove it, or count it as it is \
(--allow-empty).
    """
    for document, text in documents:
        if isinstance(text, str):
            if not allow_empty and not _WORD.search(text):
                raise ValueError(
                    f"Document {document!r} has no word: its text is {text!r:.40}; remove it, or "
                    "count it as it is (--allow-empty)."
                )
            if by_blanks and not text.isascii() and (run := _WITHOUT_BLANKS.search(text)):
                raise ValueError(
                    f"Document {document!r} has {run[0]!r} without spaces between words; add "
                    "spaces, or use --tokens standard."
                )
        yield document, text
