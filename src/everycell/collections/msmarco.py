"""MS MARCO's passages, queries and judgements, and two query sets with gender labels."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from everycell.base.errors import DataError
from everycell.base.text_files import read_lines

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


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    return read_lines(path, "see docs/data-cards/msmarco.md for what to download")


def stream_passages(path: Path, *, expected: int | None = None) -> Iterator[tuple[str, str]]:
    """Stream the ids and texts of passages in constant memory."""
    number = 0
    for number, line in _lines(path):
        passage, tab, text = line.partition("\t")
        if not tab or "\t" in text:
            raise DataError(
                path,
                number,
                fault=f"has {line.count(chr(9))} tabs",
                expected="'id, tab, text'",
                fix="correct the line or download the file again",
            )
        # Consecutive ids cannot have duplicates, so there is no need to store them.
        if passage != str(number - 1):
            raise DataError(
                path,
                number,
                "id",
                passage,
                expected=f"{number - 1}, since ids are consecutive from 0",
                fix="download the file again",
            )
        yield passage, text
    if expected is not None and number != expected:
        raise DataError(
            path,
            fault=f"has {number} passages",
            expected=str(expected),
            fix="download it again, or correct the expected number",
        )


def read_passages(path: Path, ids: Collection[str]) -> dict[str, str]:
    """Read the texts of the passages with these ids."""
    ids = frozenset(ids)
    texts = {passage: text for passage, text in stream_passages(path) if passage in ids}
    if missing := ids - texts.keys():
        raise DataError(
            path,
            column="passage",
            value=min(missing),
            fault=f"which is missing, as {len(missing)} of {len(ids)} are",
            fix="use the collection that was ranked",
        )
    return texts


def read_queries(path: Path) -> dict[str, str]:
    """Read queries of MS MARCO or QS2 from a file with lines "id, tab, text"."""
    queries: dict[str, str] = {}
    for number, line in _lines(path):
        query, _, text = line.partition("\t")
        text = text.strip()
        if not _NUMBER.fullmatch(query) or not text or "\t" in text:
            raise DataError(
                path,
                number,
                value=line,
                expected="'id, tab, text' with a numeric id",
                fix="correct the line",
            )
        if query in queries:
            raise DataError(
                path, number, "query", query, "which occurs twice", fix="remove the duplicate"
            )
        queries[query] = text
    if not queries:
        raise DataError(path, fault="has no queries", fix="download it again")
    return queries


def read_annotated_queries(path: Path, label: str | None = NOT_GENDERED) -> dict[str, str]:
    """Read the queries with this gender label ("n" for QS1), or all queries if it is None."""
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    rows = [line.partition(",") for line in lines]
    labelled = [(query, *fields.rpartition(",")[::2]) for query, _, fields in rows]
    return {
        query: text.strip() for query, text, own_label in labelled if label in (None, own_label)
    }


def read_query_set(name: str, path: Path) -> dict[str, str]:
    """Read the queries of QS1 or QS2."""
    return read_annotated_queries(path) if name == "qs1" else read_queries(path)


def merge_query_sets(sets: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Merge the queries of several sets, with one row per query and one column per set."""
    texts = {query: text for queries in sets.values() for query, text in queries.items()}
    table = pd.DataFrame({"query": list(texts), "text": list(texts.values())})
    return table.assign(**{name: table["query"].isin(list(sets[name])) for name in sets})


def read_judgements(path: Path, queries: Collection[str]) -> pd.DataFrame:
    """Read the relevance judgements of these queries."""
    query_ids = frozenset(queries)
    rows: dict[tuple[str, str], int] = {}
    for number, line in _lines(path):
        parts = line.split(maxsplit=4)
        if len(parts) != 4 or not all(map(_NUMBER.fullmatch, parts)):
            raise DataError(
                path,
                number,
                value=line,
                expected="four numbers, 'query 0 passage relevance'",
                fix="correct the line",
            )
        query, _, passage, relevance = parts
        if query not in query_ids:
            continue
        if (query, passage) in rows:
            raise DataError(
                path,
                number,
                "passage",
                passage,
                f"which is judged for query {query} again",
                fix="remove the duplicate",
            )
        rows[query, passage] = int(relevance)
    if not rows:
        raise DataError(
            path,
            fault=f"has no judgements for the {len(query_ids)} queries",
            fix="use the qrels of all dev queries of MS MARCO",
        )
    keys = pd.DataFrame(list(rows), columns=["query", "document"])
    return keys.assign(relevance=list(rows.values()))
