"""Counts of group-representative terms in the documents of a collection, in a Parquet file.

Documents are read from a user's file or passed by the caller.

The file has one row per document: ``document_id``, ``length`` (tokens) and one column per group
with the number of its terms. Documents are read one by one and written in batches, so memory does
not grow with the collection. One core of the development machine counts about 60,000 passages of
60 words per second (``bench/term_fairness.py``), so the 8.8 million passages of MS MARCO would take
two and a half minutes, excluding the time to read them. The process uses 240 MiB for 20,000
passages and 244 MiB for 100,000.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq

from everycell.base.errors import DataError, require
from everycell.base.files import atomic_path
from everycell.base.frames import (
    check_columns,
    check_parquet_size,
    check_text_size,
    check_types,
    parquet_errors,
)
from everycell.metrics.word_lists import DOCUMENT, LENGTH, Words, groups_of_terms, normalise_text

_WORD = re.compile(r"\w")

#: Ten consecutive letters of a script without spaces between words: longer than any single word.
_WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff]{10}"
)

#: Characters of a batch of documents from which it ends. Tokens take some 20 bytes each.
_CHARACTERS = 2**26

Tokeniser = Callable[[Sequence[str]], list[list[str]]]


def blank_tokens(texts: Sequence[str]) -> list[list[str]]:
    """Lower-case texts and split them at white space, with punctuation attached to the words.

    Source: CPJKU/FairnessRetrievalResults, measurement. That code expects tokenised passages, so it
    splits only at spaces (U+0020). It keeps empty tokens, which would add to the length; NFaiRR
    does not use the length. `everycell.text.tokenise` compares this with the other tokenisations.
    """
    return [text.lower().split() for text in texts]


def _check_reachable(terms: Iterable[str], tokenise: Tokeniser) -> None:
    """Reject a term that is not a single token of the tokeniser: it would never be counted."""
    terms = list(terms)
    for term, tokens in zip(terms, tokenise(terms), strict=True):
        if tokens != [term]:
            raise DataError(
                column="term",
                value=term,
                fault=f"which becomes {tokens} when it is tokenised and is never counted",
                fix="use a term that is a single token, or a different tokeniser",
            )


def _batches(documents: Iterable[tuple[str, str]], size: int) -> Iterator[list[tuple[str, str]]]:
    """Batches of `size` documents, or of fewer long ones, whose tokens take much memory."""
    batch: list[tuple[str, str]] = []
    characters = 0
    for document, text in documents:
        batch.append((document, text))
        characters += len(text) if isinstance(text, str) else 0
        if len(batch) == size or characters >= _CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _count(
    batch: list[tuple[str, str]],
    first: int,
    group_of: Mapping[str, int],
    groups: int,
    tokenise: Tokeniser,
    matched_terms: set[str],
) -> list[object]:
    """Columns of a batch: ids, lengths, then the counts of each group."""
    for number, (document, text) in enumerate(batch, first):
        if not isinstance(document, str) or not isinstance(text, str) or not document:
            raise DataError(
                row=f"document {number} (counted from 0)",
                column="id and text",
                value=(document, text),
                expected="two strings, of which only the text may be empty",
            )
    texts = tokenise([normalise_text(text) for _, text in batch])
    counts = np.zeros((groups, len(batch)), dtype=np.int32)
    terms = frozenset(group_of)
    for column, tokens in enumerate(texts):
        # Most documents have no group term, and this check needs no loop.
        if not terms.isdisjoint(tokens):
            for token in tokens:
                if token in group_of:
                    matched_terms.add(token)
                    counts[group_of[token], column] += 1
    lengths = np.fromiter(map(len, texts), dtype=np.int32, count=len(texts))
    return [[document for document, _ in batch], lengths, *counts]


def count_terms(
    documents: Iterable[tuple[str, str]],
    words: Words,
    path: Path | str,
    *,
    tokenise: Tokeniser = blank_tokens,
    batch: int = 10_000,
    matched_terms: set[str] | None = None,
) -> int:
    """Count each group's terms in every document, and write the counts in batches.

    Parameters
    ----------
    documents : iterable of (document id, text)
        Read once, in order, `batch` at a time; may be a generator.
    words
        Group -> terms, in any case. A single group is allowed, but the measures need two.
    path
        Parquet file to write. It is written completely or not at all, and replaces an existing
        file.
    tokenise
        Function that maps n texts to n lists of lower-case tokens. By default, texts are split at
        white space. The tokenisers of `everycell.text` work too. Texts are first normalised to NFC,
        without invisible characters such as soft hyphens; zero-width spaces split words.
    batch
        Number of documents in memory at a time, and of rows in a row group; 1 or more.
    matched_terms
        Set to which every term that occurs is added.

    Returns
    -------
    int
        Number of documents written. Columns: ``document_id`` (string), ``length`` (int32, tokens)
        and one per group (int32), in the order of `words`. An empty text has the length 0.

    Raises
    ------
    ValueError
        An empty word list or group, a term in two groups, a term that the tokeniser splits or
        changes (such as a phrase), an id or text that is not a string, or no document. Nothing is
        written.
    OSError
        No space or no permission; an existing file at `path` does not change.

    Notes
    -----
    `read_counts` detects duplicate documents; detecting them here would take memory that grows with
    the collection.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "counts.parquet"
    >>> words = {"female": ["she", "Mary"], "male": ["he"]}
    >>> count_terms([("d1", "Mary said she saw"), ("d2", "")], words, path)
    2
    >>> read_counts(path).to_dict("index")
    {'d1': {'length': 4, 'female': 2, 'male': 0}, 'd2': {'length': 0, 'female': 0, 'male': 0}}
    """
    require(batch >= 1, "batch", batch, "1 document or more")
    path = Path(path)
    matched_terms = set() if matched_terms is None else matched_terms
    group_of = groups_of_terms(words)
    _check_reachable(group_of, tokenise)
    schema = pa.schema(
        [(DOCUMENT, pa.string()), (LENGTH, pa.int32()), *((group, pa.int32()) for group in words)]
    )
    document_count = 0
    with atomic_path(path) as temporary_path:
        with pq.ParquetWriter(temporary_path, schema) as writer:
            for rows in _batches(documents, batch):
                columns = _count(
                    rows, document_count, group_of, len(words), tokenise, matched_terms
                )
                writer.write_table(pa.table(columns, schema=schema))
                document_count += len(rows)
        if not document_count:
            raise DataError(path, fault="would have no documents", fix="give one or more")
    return document_count


def read_counts(path: Path | str, documents: Iterable[str] | None = None) -> pd.DataFrame:
    """Read a counts file, or the rows of some of its documents.

    Parameters
    ----------
    path
        File written by `count_terms`, or any Parquet file with the same columns.
    documents : iterable of str, optional
        Documents to read; only their rows take memory. Documents that the file lacks are ignored.

    Returns
    -------
    pandas.DataFrame
        Index ``document_id``; columns ``length`` and one per group, in the order of the file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        A file that is not Parquet, lacks a column or has no group, a duplicate document, or counts
        that `check_counts` rejects.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "counts.parquet"
    >>> _ = count_terms([("d1", "she"), ("d2", "he")], {"f": ["she"], "m": ["he"]}, path)
    >>> read_counts(path, ["d2", "d9"]).to_dict("index")
    {'d2': {'length': 1, 'f': 0, 'm': 1}}
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"The counts file {path} does not exist: check the path, or create it with count_terms."
        )
    with parquet_errors(path):
        check_counts_file(path)
        table = pyarrow.dataset.dataset(path, format="parquet")
        document_filter = (
            None
            if documents is None
            else pyarrow.dataset.field(DOCUMENT).isin(pa.array(list(documents), pa.string()))
        )
        # What pandas writes into a file about its index may be anything in one from elsewhere.
        rows = table.to_table(filter=document_filter).replace_schema_metadata(None).to_pandas()
    return check_counts(rows.set_index(DOCUMENT), path)


def check_counts_file(path: Path) -> None:
    """Check columns and unpacked size of a counts file before it is read."""
    check_parquet_size(path)
    schema = pq.read_schema(path)
    check_columns(str(path), schema.names, dict.fromkeys((DOCUMENT, LENGTH, *schema.names)))
    check_types(path, schema, [DOCUMENT], [name for name in schema.names if name != DOCUMENT])
    check_text_size(path, DOCUMENT)


def check_counts(counts: pd.DataFrame, path: Path | None = None) -> pd.DataFrame:
    """Check a frame of counts, whether read from a file or made in memory."""
    columns = dict.fromkeys((LENGTH, *counts.columns))
    check_columns("The frame of counts", counts.columns, columns)
    groups = [column for column in columns if column != LENGTH]
    if not groups:
        fault = f"have only the column {LENGTH!r}"
        raise DataError(path, column="counts", fault=fault, fix="add one column per group")
    # This check builds the hash table that later look-ups use.
    if not counts.index.is_unique:
        document = counts.index[counts.index.duplicated()].tolist()[0]
        fault = "which occurs twice in the counts"
        raise DataError(path, None, "document", document, fault, fix="give one row per document")
    for name in counts:
        if pd.api.types.is_complex_dtype(counts[name]):
            fault = "has complex numbers"
            raise DataError(path, column=name, fault=fault, fix="give whole numbers")
    try:
        values = counts[groups].to_numpy(dtype=float)
        lengths = counts[LENGTH].to_numpy(dtype=float)
    except (TypeError, ValueError) as error:
        fault = f"contain a value that is not a number ({error})"
        raise DataError(path, column="counts", fault=fault, fix="count again") from None
    terms = values.sum(axis=1)
    for invalid, fault, fix in (
        (
            ~((values >= 0).all(axis=1) & (lengths >= 0) & (lengths < np.inf)),
            "of which a count is negative, infinite or missing",
            "give finite numbers of 0 or more",
        ),
        (terms > lengths, "more than tokens", "count the document again"),
    ):
        if invalid.any():
            number = int(invalid.argmax())
            row = f"document {counts.index.tolist()[number]!r} with {lengths[number]:g} tokens"
            value = float(terms[number])
            raise DataError(path, row, "number of group terms", value, fault, fix=fix)
    return counts


def count_documents_with_terms(path: Path | str) -> tuple[int, int]:
    """Count the documents of a counts file, and those with a term of any group."""
    path = Path(path)
    with parquet_errors(path):
        check_counts_file(path)
        table = pyarrow.dataset.dataset(path, format="parquet")
        groups = [name for name in table.schema.names if name not in (DOCUMENT, LENGTH)]
        if not groups:
            raise DataError(path, fault="has no group", fix="create it again with count_terms")
        any_term = reduce(or_, (pyarrow.dataset.field(group) > 0 for group in groups))
        return table.count_rows(), table.count_rows(filter=any_term)


def check_texts(
    documents: Iterable[tuple[str, str]], *, split_at_spaces: bool = True, allow_empty: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield the documents; raise an error at a text whose words would be miscounted."""
    for document, text in documents:
        if isinstance(text, str):
            if not allow_empty and not _WORD.search(text):
                raise DataError(
                    row=f"document {document!r}",
                    column="text",
                    value=text,
                    fault="which has no words",
                    fix="remove the document, or allow it with --allow-empty",
                )
            if split_at_spaces and not text.isascii() and (match := _WITHOUT_SPACES.search(text)):
                raise DataError(
                    row=f"document {document!r}",
                    column="text",
                    value=match[0],
                    fault="without spaces between words",
                    fix="add spaces, or use --tokens standard",
                )
        yield document, text
