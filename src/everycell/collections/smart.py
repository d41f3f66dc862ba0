"""The test collections CACM, CISI, Cranfield and Vaswani: documents, topics and qrels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import pandas as pd

from everycell.base.errors import CollectionError
from everycell.base.untrusted import in_quotes
from everycell.collections.cacm import cacm_documents, cacm_topics
from everycell.collections.smart_files import (
    check_unique,
    read_text_lines,
    smart_records,
    trec_blocks,
)

#: Relevance of each code in Cranfield's judgements. The collection's readme defines the codes 1
#: (complete answer) to 4 (of minimum interest), so smaller codes are better. It does not define -1,
#: which occurs on the last line of each topic and is treated as 1 (see the data card).
CRANFIELD_RELEVANCE: Mapping[str, int] = {"-1": 4, "1": 4, "2": 3, "3": 2, "4": 1}


@dataclass(frozen=True)
class Counts:
    """Sizes of a collection, including documents without text and topics without judgements."""

    documents: int
    topics: int
    judged_topics: int
    judgements: int


@dataclass(frozen=True)
class Collection:
    """A test collection; ids are strings, and rows are in the order of the files.

    Attributes
    ----------
    documents : pandas.DataFrame
        Columns `document_id`, `title`, `abstract`, `text` (title and abstract), one row per
        document. Missing parts are empty strings; white space is normalised to single spaces.
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
        """Sizes of the collection."""
        judged_topics = self.qrels["topic_id"].nunique()
        return Counts(len(self.documents), len(self.topics), judged_topics, len(self.qrels))


@dataclass(frozen=True)
class AdHocTask:
    """Documents, judged topics and qrels for a search of the complete collection."""

    documents: pd.DataFrame
    topics: pd.DataFrame
    qrels: pd.DataFrame


@dataclass(frozen=True)
class _Format:
    documents: Callable[[Path], Iterator[tuple[str, str, str, str]]]
    topics: Callable[[Path], Iterator[tuple[str, str, str]]]
    # Qrels: number of columns, columns of document and grade, and relevance of each grade.
    columns: int
    document: int
    grade: int
    relevance: Mapping[str, int]
    # Number of digits to which document ids are padded with zeros.
    width: int = 0


#: Sizes of the released files of each collection.
COUNTS: Mapping[str, Counts] = {
    "cacm": Counts(documents=3204, topics=64, judged_topics=52, judgements=796),
    "cisi": Counts(documents=1460, topics=112, judged_topics=76, judgements=3114),
    "cranfield": Counts(documents=1400, topics=225, judged_topics=225, judgements=1837),
    "vaswani": Counts(documents=11_429, topics=93, judged_topics=93, judgements=2083),
}

#: Registry keys of the documents, topics and qrels of each collection.
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
    """Read a collection, and check its sizes."""
    if name not in _FORMATS:
        raise CollectionError(f"Unknown collection {name!r}; use one of {', '.join(_FORMATS)}.")
    form = _FORMATS[name]
    rows, locations = [], {}
    for location, document_id, title, abstract in form.documents(Path(documents)):
        check_unique(locations, location, f"document {document_id}")
        rows.append((document_id, title, abstract, f"{title} {abstract}".strip()))
    topic_rows = []
    for location, topic_id, text in form.topics(Path(topics)):
        check_unique(locations, location, f"topic {topic_id}")
        topic_rows.append((topic_id, text))
    collection = Collection(
        pd.DataFrame(rows, columns=["document_id", "title", "abstract", "text"]),
        pd.DataFrame(topic_rows, columns=["topic_id", "text"]),
        _read_qrels(Path(qrels), form, {row[0] for row in rows}, {row[0] for row in topic_rows}),
    )
    expected = counts or COUNTS[name]
    if collection.counts != expected:
        differences = [
            f"{field.name.replace('_', ' ')} {actual} (expected {size})"
            for field, actual, size in zip(
                fields(Counts), astuple(collection.counts), astuple(expected), strict=True
            )
            if actual != size
        ]
        raise CollectionError(
            f"Collection {name} in {documents}, {topics}, {qrels} has the wrong sizes: "
            f"{', '.join(differences)}; use the registered files."
        )
    return collection


def ad_hoc_task(name: str, collection: Collection) -> AdHocTask:
    """Judged topics and qrels of a collection, with the columns for search and evaluation."""
    qrels = collection.qrels.rename(columns={"topic_id": "query", "document_id": "document"})
    topics = collection.topics.rename(columns={"topic_id": "query"})
    judged_topics = topics[topics["query"].isin(qrels["query"])].reset_index(drop=True)
    for frame in (judged_topics, qrels):
        frame.insert(0, "task", name)
    return AdHocTask(collection.documents[["document_id", "text"]], judged_topics, qrels)


def _cisi_documents(path: Path) -> Iterator[tuple[str, str, str, str]]:
    for location, number, record in smart_records(path, "TABWKCX"):
        yield location, number, record.get("T", ""), record.get("W", "")


def _cisi_topics(path: Path) -> Iterator[tuple[str, str, str]]:
    for location, number, record in smart_records(path, "TABW"):
        yield location, number, f"{record.get('T', '')} {record.get('W', '')}".strip()


def _cranfield_documents(path: Path) -> Iterator[tuple[str, str, str, str]]:
    for location, number, record in smart_records(path, "TABW"):
        title, body = record.get("T", ""), record.get("W", "")
        # The body of most records begins with the title.
        yield location, number, title, body.removeprefix(title).strip()


def _cranfield_topics(path: Path) -> Iterator[tuple[str, str, str]]:
    for rank, (location, _, record) in enumerate(smart_records(path, "W"), start=1):
        yield location, str(rank), record.get("W", "")


def _vaswani_documents(path: Path) -> Iterator[tuple[str, str, str, str]]:
    for location, number, text in trec_blocks(path, "DOC", "DOCNO"):
        yield location, number, "", text


def _vaswani_topics(path: Path) -> Iterator[tuple[str, str, str]]:
    return trec_blocks(path, "top", "num")


def _read_qrels(path: Path, form: _Format, documents: set[str], topics: set[str]) -> pd.DataFrame:
    rows, locations = [], {}
    for number, line in enumerate(read_text_lines(path), start=1):
        location = f"{path}, line {number}"
        parts = line.split()
        if not parts:
            continue
        if len(parts) != form.columns:
            raise CollectionError(
                f"{location}: {in_quotes(line.strip())} has {len(parts)} columns, expected "
                f"{form.columns}; use the registered file."
            )
        topic, document, grade = parts[0], parts[form.document], parts[form.grade]
        document = re.sub(r"\d+$", lambda digits: digits[0].zfill(form.width), document)
        for kind, identifier, known in (
            ("topic", topic, topics),
            ("document", document, documents),
        ):
            if identifier not in known:
                raise CollectionError(
                    f"{location}: {kind} {in_quotes(identifier)} is not in the collection; use the "
                    "registered files of this collection."
                )
        if grade not in form.relevance:
            raise CollectionError(
                f"{location}: the grade is {in_quotes(grade)}, expected "
                f"{', '.join(form.relevance)}; use the registered file."
            )
        judgement = f"the judgement of document {document} for topic {topic}"
        check_unique(locations, location, judgement)
        rows.append((topic, document, form.relevance[grade]))
    return pd.DataFrame(rows, columns=["topic_id", "document_id", "relevance"])


_FORMATS = {
    "cacm": _Format(cacm_documents, cacm_topics, 4, 2, 3, {"1": 1}, width=4),
    "cisi": _Format(_cisi_documents, _cisi_topics, 4, 1, 2, {"0": 1}),
    "cranfield": _Format(_cranfield_documents, _cranfield_topics, 3, 1, 2, CRANFIELD_RELEVANCE),
    "vaswani": _Format(_vaswani_documents, _vaswani_topics, 4, 2, 3, {"1": 1}),
}
