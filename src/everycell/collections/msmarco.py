"""Readers for the MS MARCO passages and the two query sets of abolghasemi2026, chapter 4."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from everycell.base.text_files import text_lines
from everycell.base.untrusted import in_quotes

#: File of the passages in the user's folder.
COLLECTION = "collection.tsv"
#: Registry keys of the query sets.
QUERY_SETS: Mapping[str, str] = MappingProxyType(
    {
        "qs1": "gender-bias-ir/genderbias_ir/queries_gender_annotated.csv",
        "qs2": "gender-bias-ir/fairr/msmarco_passage.dev.fair.tsv",
    }
)
#: Label of a query that is not gendered; the others are male, female and other.
NOT_GENDERED = "n"
LABELS = (NOT_GENDERED, "m", "f", "o")
# Unlike `int`, `str.isdigit` accepts superscripts.
_NUMBER = re.compile("[0-9]{1,18}")


class MsMarcoError(Exception):
    """A file of MS MARCO is invalid; the message gives file and line, and what to do."""


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Stream lines, without line ends, and their numbers from 1."""
    try:
        yield from text_lines(path, MsMarcoError)
    except FileNotFoundError:
        raise MsMarcoError(
            f"The file {path} does not exist: see docs/data-cards/msmarco.md for what to download."
        ) from None


def stream_passages(path: Path, *, expected: int | None = None) -> Iterator[tuple[str, str]]:
    """Stream the ids and texts of passages in constant memory."""
    number = 0
    for number, line in _lines(path):
        passage, tab, text = line.partition("\t")
        if not tab or "\t" in text:
            raise MsMarcoError(
                f"{path}, line {number} has {line.count(chr(9))} tabs: expected 'id, tab, text', "
                "so correct the line or download the file again."
            )
        # Consecutive ids cannot have duplicates, so there is no need to store them.
        if passage != str(number - 1):
            raise MsMarcoError(
                f"{path}, line {number} has the id {in_quotes(passage)}, expected {number - 1}: "
                "ids are consecutive from 0, so download the file again."
            )
        yield passage, text
    if expected is not None and number != expected:
        raise MsMarcoError(
            f"{path} has {number} passages, expected {expected}: download it again, or correct the "
            "expected number."
        )


def read_passages(path: Path, ids: Collection[str]) -> dict[str, str]:
    """Read the texts of the passages with these ids."""
    ids = frozenset(ids)
    texts = {passage: text for passage, text in stream_passages(path) if passage in ids}
    if missing := ids - texts.keys():
        raise MsMarcoError(
            f"{path} has no passage {min(missing)!r} ({len(missing)} of {len(ids)} are "
            "missing): use the collection that was ranked."
        )
    return texts


def read_queries(path: Path) -> dict[str, str]:
    """Read queries of MS MARCO or QS2 from a file with lines "id, tab, text"."""
    queries: dict[str, str] = {}
    for number, line in _lines(path):
        _add_query(queries, path, number, *line.partition("\t")[::2], form="'id, tab, text'")
    return _require_queries(queries, path)


def read_annotated_queries(path: Path, label: str | None = NOT_GENDERED) -> dict[str, str]:
    """Read the queries with this gender label ("n" for QS1), or all queries if it is None."""
    if label is not None and label not in LABELS:
        raise MsMarcoError(f"label is {label!r}: use one of {', '.join(LABELS)}, or None.")
    queries: dict[str, str] = {}
    selected_ids = set()
    for number, line in _lines(path):
        query, _, fields = line.partition(",")
        text, _, query_label = fields.rpartition(",")
        if query_label not in LABELS:
            raise MsMarcoError(
                f"{path}, line {number} has the label {in_quotes(query_label)}: it must be one of "
                f"{', '.join(LABELS)}; correct the line 'id,text,label'."
            )
        _add_query(queries, path, number, query, text, form="'id,text,label'")
        if label in (None, query_label):
            selected_ids.add(query)
    _require_queries(queries, path)
    return {query: text for query, text in queries.items() if query in selected_ids}


def _add_query(
    queries: dict[str, str], path: Path, number: int, query: str, text: str, form: str
) -> None:
    text = text.strip()
    if not _NUMBER.fullmatch(query) or not text or "\t" in text:
        raise MsMarcoError(
            f"{path}, line {number} has the id {in_quotes(query)} and the text {in_quotes(text)}: "
            f"expected {form} with a numeric id, so correct the line."
        )
    if query in queries:
        raise MsMarcoError(
            f"{path}, line {number} repeats the query {query}: remove the duplicate."
        )
    queries[query] = text


def _require_queries(queries: dict[str, str], path: Path) -> dict[str, str]:
    if not queries:
        raise MsMarcoError(f"{path} has no queries: download it again.")
    return queries


def read_query_set(name: str, path: Path) -> dict[str, str]:
    """Read the queries of QS1 or QS2."""
    if name not in QUERY_SETS:
        raise MsMarcoError(f"Unknown query set {name!r}: use one of {', '.join(QUERY_SETS)}.")
    return read_annotated_queries(path) if name == "qs1" else read_queries(path)


def merge_query_sets(sets: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Merge the queries of several sets, with one row per query and one column per set."""
    texts: dict[str, str] = {}
    for name, queries in sets.items():
        for query, text in queries.items():
            if texts.setdefault(query, text) != text:
                raise MsMarcoError(
                    f"Query {query} is {text!r} in {name} and {texts[query]!r} in another set: use "
                    "query sets in which this id has the same text."
                )
    table = pd.DataFrame({"query_id": list(texts), "text": list(texts.values())})
    return table.assign(**{name: table["query_id"].isin(list(sets[name])) for name in sets})


def read_judgements(path: Path, queries: Collection[str]) -> pd.DataFrame:
    """Read the relevance judgements of these queries."""
    query_ids = frozenset(queries)
    rows: dict[tuple[str, str], int] = {}
    for number, line in _lines(path):
        parts = line.split()
        if len(parts) != 4 or not all(map(_NUMBER.fullmatch, parts)):
            raise MsMarcoError(
                f"{path}, line {number} is {in_quotes(line)}: expected four numbers, 'query 0 "
                "passage relevance', so correct the line."
            )
        query, _, passage, relevance = parts
        if query not in query_ids:
            continue
        if (query, passage) in rows:
            raise MsMarcoError(
                f"{path}, line {number} judges passage {passage} for query {query} again: remove "
                "the duplicate."
            )
        rows[query, passage] = int(relevance)
    if not rows:
        raise MsMarcoError(
            f"{path} has no judgements for the {len(query_ids)} queries: use the qrels of all dev "
            "queries of MS MARCO."
        )
    keys = pd.DataFrame(list(rows), columns=["query", "document"])
    return keys.assign(relevance=list(rows.values()))
