"""Readers of the MS MARCO passages and of the two query sets of abolghasemi2026, chapter 4."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from everycell.engine.text_files import text_lines
from everycell.engine.untrusted import in_quotes

#: File of the passages in the folder that the user names.
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
# Not `isdigit`, which accepts a superscript two, unlike `int`.
_NUMBER = re.compile("[0-9]{1,18}")


class MsMarcoError(Exception):
    """A file of MS MARCO cannot be used; the message names file and line, and what to do."""


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Stream lines with their numbers from 1, without line ends."""
    try:
        yield from text_lines(path, MsMarcoError)
    except FileNotFoundError:
        raise MsMarcoError(
            f"The file {path} does not exist: docs/data-cards/msmarco.md says what to download."
        ) from None


def stream_passages(path: Path, *, expected: int | None = None) -> Iterator[tuple[str, str]]:
    """Stream passages one by one, in constant memory."""
    number = 0
    for number, line in _lines(path):
        passage, tab, text = line.partition("\t")
        if not tab or "\t" in text:
            raise MsMarcoError(
                f"{path}, line {number} has {line.count(chr(9))} tabs: a line is 'id, tab, text', "
                "so correct it or download the file again."
            )
        # Counting finds duplicate passages without holding all ids.
        if passage != str(number - 1):
            raise MsMarcoError(
                f"{path}, line {number} has the id {in_quotes(passage)}, not {number - 1}: "
                "ids count from 0, so download the file again."
            )
        yield passage, text
    if expected is not None and number != expected:
        raise MsMarcoError(
            f"{path} has {number} passages, but {expected} are expected: download it again, or "
            "correct the expected number."
        )


def read_passages(path: Path, ids: Collection[str]) -> dict[str, str]:
    """Read the texts of some passages."""
    ids = frozenset(ids)
    texts = {passage: text for passage, text in stream_passages(path) if passage in ids}
    if lacking := ids - texts.keys():
        raise MsMarcoError(
            f"{path} has no passage {min(lacking)!r} ({len(lacking)} of {len(ids)} are "
            "missing): rank the same collection as the one in this file."
        )
    return texts


def read_queries(path: Path) -> dict[str, str]:
    """Read queries from a file with lines "id, tab, text": those of MS MARCO, and QS2."""
    queries: dict[str, str] = {}
    for number, line in _lines(path):
        _add_query(queries, path, number, *line.partition("\t")[::2], form="'id, tab, text'")
    return _some(queries, path)


def read_annotated_queries(path: Path, label: str | None = NOT_GENDERED) -> dict[str, str]:
    """Read queries with the gender that annotators gave them; QS1 has those with the label "n"."""
    if label is not None and label not in LABELS:
        raise MsMarcoError(f"label is {label!r}: give one of {', '.join(LABELS)}, or None.")
    queries: dict[str, str] = {}
    labelled = set()
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
            labelled.add(query)
    return {query: text for query, text in _some(queries, path).items() if query in labelled}


def _add_query(
    queries: dict[str, str], path: Path, number: int, query: str, text: str, form: str
) -> None:
    text = text.strip()
    if not _NUMBER.fullmatch(query) or not text or "\t" in text:
        raise MsMarcoError(
            f"{path}, line {number} has the id {in_quotes(query)} and the text {in_quotes(text)}: "
            f"a line is {form} with an id of digits, so correct it."
        )
    if query in queries:
        raise MsMarcoError(
            f"{path}, line {number} has the query {query}, which occurs before: remove one."
        )
    queries[query] = text


def _some(queries: dict[str, str], path: Path) -> dict[str, str]:
    if not queries:
        raise MsMarcoError(f"{path} has no query: download it again.")
    return queries


def read_query_set(name: str, path: Path) -> dict[str, str]:
    """Queries of QS1 or QS2."""
    if name not in QUERY_SETS:
        raise MsMarcoError(f"There is no query set {name!r}: give one of {', '.join(QUERY_SETS)}.")
    return read_annotated_queries(path) if name == "qs1" else read_queries(path)


def query_table(sets: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Merge the queries of several sets, so that none is ranked twice."""
    texts: dict[str, str] = {}
    for name, queries in sets.items():
        for query, text in queries.items():
            if texts.setdefault(query, text) != text:
                raise MsMarcoError(
                    f"Query {query} reads {text!r} in {name} and {texts[query]!r} in another set: "
                    "take both sets from the same queries."
                )
    table = pd.DataFrame({"query_id": list(texts), "text": list(texts.values())})
    return table.assign(**{name: table["query_id"].isin(list(sets[name])) for name in sets})


def read_judgements(path: Path, queries: Collection[str]) -> pd.DataFrame:
    """Read the relevance judgements of some queries."""
    query_ids = frozenset(queries)
    rows: dict[tuple[str, str], int] = {}
    for number, line in _lines(path):
        parts = line.split()
        if len(parts) != 4 or not all(map(_NUMBER.fullmatch, parts)):
            raise MsMarcoError(
                f"{path}, line {number} reads {in_quotes(line)}: a line is 'query 0 passage "
                "relevance', all numbers, so correct it."
            )
        query, _, passage, relevance = parts
        if query not in query_ids:
            continue
        if (query, passage) in rows:
            raise MsMarcoError(
                f"{path}, line {number} judges passage {passage} for query {query} again: remove "
                "one of the lines."
            )
        rows[query, passage] = int(relevance)
    if not rows:
        raise MsMarcoError(
            f"{path} judges none of the {len(query_ids)} queries: take the judgements of all dev "
            "queries of MS MARCO."
        )
    keys = pd.DataFrame(list(rows), columns=["query", "document"])
    return keys.assign(relevance=list(rows.values()))
