"""The test collections CACM, CISI, Cranfield and Vaswani: documents, topics and judgements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import pandas as pd

from everycell.collections.cacm import cacm_documents, cacm_topics
from everycell.collections.errors import CollectionError
from everycell.collections.smart_files import (
    only_once,
    read_text_lines,
    smart_records,
    trec_blocks,
)
from everycell.engine.untrusted import in_quotes

#: Code of a judgement of Cranfield -> relevance. The collection's readme defines codes 1 (complete
#: answer) to 4 (of minimum interest), so a smaller code is better. It does not define -1, which
#: occurs once per topic, in its last line: taken as 1 (the data card has the evidence).
CRANFIELD_RELEVANCE: Mapping[str, int] = {"-1": 4, "1": 4, "2": 3, "3": 2, "4": 1}


@dataclass(frozen=True)
class Counts:
    """Size of a collection, including documents without text and topics without judgements."""

    documents: int
    topics: int
    judged_topics: int
    judgements: int


@dataclass(frozen=True)
class Collection:
    """A test collection; ids are text, and rows are in the order of the files.

    Attributes
    ----------
    documents : pandas.DataFrame
        Columns `document_id`, `title`, `abstract`, `text` (title and abstract), one row per
        document. Missing parts are "". Line ends and runs of blanks are one blank.
    topics : pandas.DataFrame
        Columns `topic_id`, `text`.
    qrels : pandas.DataFrame
        Columns `topic_id`, `document_id`, `relevance` (integer, 1 or more).
    """

    documents: pd.DataFrame
    topics: pd.DataFrame
    qrels: pd.DataFrame

    @property
    def counts(self) -> Counts:
        """Size of the collection."""
        judged = self.qrels["topic_id"].nunique()
        return Counts(len(self.documents), len(self.topics), judged, len(self.qrels))


@dataclass(frozen=True)
class AdHoc:
    """Topics and judgements for a search of the whole collection."""

    documents: pd.DataFrame
    topics: pd.DataFrame
    qrels: pd.DataFrame


@dataclass(frozen=True)
class _Format:
    documents: Callable[[Path], Iterator[tuple[str, str, str, str]]]
    topics: Callable[[Path], Iterator[tuple[str, str, str]]]
    # Number of columns in a line of judgements, which hold document and grade, and meaning of
    # grades.
    columns: int
    document: int
    grade: int
    relevance: Mapping[str, int]
    # Number of digits to which a document's id is padded with zeros.
    width: int = 0


#: Known size of each collection, which is also that of the pinned files.
COUNTS: Mapping[str, Counts] = {
    "cacm": Counts(documents=3204, topics=64, judged_topics=52, judgements=796),
    "cisi": Counts(documents=1460, topics=112, judged_topics=76, judgements=3114),
    "cranfield": Counts(documents=1400, topics=225, judged_topics=225, judgements=1837),
    "vaswani": Counts(documents=11_429, topics=93, judged_topics=93, judgements=2083),
}

#: Registry keys of each collection: documents, topics, judgements.
FILES: Mapping[str, Mapping[str, str]] = {
    name: {part: f"ir-collections/{name}/{file}" for part, file in files.items()}
    for name, files in {
        "cacm": {
            "documents": "cacm.tar.gz",
            "topics": "topics.cacm.txt",
            "qrels": "qrels.cacm.txt",
        },
        "cisi": {"documents": "CISI.ALL", "topics": "CISI.QRY", "qrels": "CISI.REL"},
        "cranfield": {"documents": "cran.all.1400", "topics": "cran.qry", "qrels": "cranqrel"},
        "vaswani": {"documents": "doc-text.trec", "topics": "query-text.trec", "qrels": "qrels"},
    }.items()
}


def read_collection(
    name: str, documents: Path, topics: Path, qrels: Path, *, counts: Counts | None = None
) -> Collection:
    """Read a collection and check it."""
    if name not in _FORMATS:
        raise CollectionError(
            f"Collection {name!r} is unknown; choose one of {', '.join(_FORMATS)}."
        )
    form = _FORMATS[name]
    rows, where_of = [], {}
    for where, document_id, title, abstract in form.documents(Path(documents)):
        only_once(where_of, where, f"document {document_id}")
        rows.append((document_id, title, abstract, f"{title} {abstract}".strip()))
    topic_rows = []
    for where, topic_id, text in form.topics(Path(topics)):
        only_once(where_of, where, f"topic {topic_id}")
        topic_rows.append((topic_id, text))
    collection = Collection(
        pd.DataFrame(rows, columns=["document_id", "title", "abstract", "text"]),
        pd.DataFrame(topic_rows, columns=["topic_id", "text"]),
        _read_qrels(Path(qrels), form, {row[0] for row in rows}, {row[0] for row in topic_rows}),
    )
    expected = counts or COUNTS[name]
    if collection.counts != expected:
        wrong = [
            f"{field.name.replace('_', ' ')} {actual} in place of {right}"
            for field, actual, right in zip(
                fields(Counts), astuple(collection.counts), astuple(expected), strict=True
            )
            if actual != right
        ]
        raise CollectionError(
            f"Collection {name} in {documents}, {topics}, {qrels} has {', '.join(wrong)}; use the "
            "registry's files."
        )
    return collection


def ad_hoc(name: str, collection: Collection) -> AdHoc:
    """Topics and judgements of a collection, in the form that search and evaluation take."""
    qrels = collection.qrels.rename(columns={"topic_id": "query", "document_id": "document"})
    topics = collection.topics.rename(columns={"topic_id": "query"})
    judged = topics[topics["query"].isin(qrels["query"])].reset_index(drop=True)
    for frame in (judged, qrels):
        frame.insert(0, "task", name)
    return AdHoc(collection.documents[["document_id", "text"]], judged, qrels)


def _cisi_documents(path: Path) -> Iterator[tuple[str, str, str, str]]:
    for where, number, record in smart_records(path, "TABWKCX"):
        yield where, number, record.get("T", ""), record.get("W", "")


def _cisi_topics(path: Path) -> Iterator[tuple[str, str, str]]:
    for where, number, record in smart_records(path, "TABW"):
        yield where, number, f"{record.get('T', '')} {record.get('W', '')}".strip()


def _cranfield_documents(path: Path) -> Iterator[tuple[str, str, str, str]]:
    for where, number, record in smart_records(path, "TABW"):
        title, body = record.get("T", ""), record.get("W", "")
        # The body begins with the title, except in some records.
        yield where, number, title, body.removeprefix(title).strip()


def _cranfield_topics(path: Path) -> Iterator[tuple[str, str, str]]:
    for rank, (where, _, record) in enumerate(smart_records(path, "W"), start=1):
        yield where, str(rank), record.get("W", "")


def _vaswani_documents(path: Path) -> Iterator[tuple[str, str, str, str]]:
    for where, number, text in trec_blocks(path, "DOC", "DOCNO"):
        yield where, number, "", text


def _vaswani_topics(path: Path) -> Iterator[tuple[str, str, str]]:
    return trec_blocks(path, "top", "num")


def _read_qrels(path: Path, form: _Format, documents: set[str], topics: set[str]) -> pd.DataFrame:
    rows, where_of = [], {}
    for number, line in enumerate(read_text_lines(path), start=1):
        where = f"{path}, line {number}"
        parts = line.split()
        if not parts:
            continue
        if len(parts) != form.columns:
            raise CollectionError(
                f"{where}: {in_quotes(line.strip())} has {len(parts)} columns, {form.columns} are "
                "expected; use the registry's file."
            )
        topic, document, grade = parts[0], parts[form.document], parts[form.grade]
        document = re.sub(r"\d+$", lambda digits: digits[0].zfill(form.width), document)
        for kind, identifier, known in (
            ("topic", topic, topics),
            ("document", document, documents),
        ):
            if identifier not in known:
                raise CollectionError(
                    f"{where}: {kind} {in_quotes(identifier)} is not in the collection; use the "
                    "registry's files, all of one collection."
                )
        if grade not in form.relevance:
            raise CollectionError(
                f"{where}: grade {in_quotes(grade)} is unknown, expected "
                f"{', '.join(form.relevance)}; use the registry's file."
            )
        only_once(where_of, where, f"the judgement of document {document} for topic {topic}")
        rows.append((topic, document, form.relevance[grade]))
    return pd.DataFrame(rows, columns=["topic_id", "document_id", "relevance"])


_FORMATS = {
    "cacm": _Format(cacm_documents, cacm_topics, 4, 2, 3, {"1": 1}, width=4),
    "cisi": _Format(_cisi_documents, _cisi_topics, 4, 1, 2, {"0": 1}),
    "cranfield": _Format(_cranfield_documents, _cranfield_topics, 3, 1, 2, CRANFIELD_RELEVANCE),
    "vaswani": _Format(_vaswani_documents, _vaswani_topics, 4, 2, 3, {"1": 1}),
}
