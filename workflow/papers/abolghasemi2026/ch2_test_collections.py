"""Readers of CACM, CISI, Cranfield and Vaswani for chapter 2 of abolghasemi2026.

CISI and Cranfield are in SMART's format, Vaswani and the topics of CACM in TREC's, and the records
of CACM are HTML pages in an archive.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from everycell.base.errors import DataError

#: Relevance of each code in Cranfield's judgements. The collection's readme defines the codes 1
#: (complete answer) to 4 (of minimum interest), so smaller codes are better. It does not define -1,
#: which occurs on the last line of each topic and is treated as 1 (see the data card).
CRANFIELD_RELEVANCE: Mapping[str, int] = {"-1": 4, "1": 4, "2": 3, "3": 2, "4": 1}


_FIELD = re.compile(r"\.([A-Z])\s*")
_RECORD = re.compile(r"\.I\s+(\d+)\s*")
_MONTHS = "January February March April May June July August September October November December"
_DATE = re.compile(rf"\s*(CACM )?({'|'.join(_MONTHS.split())}),? ?(\d{{4}})\s*", re.IGNORECASE)


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
    documents: Callable[[Path], Iterator[tuple[str, str, str]]]
    topics: Callable[[Path], Iterator[tuple[str, str]]]
    # Qrels: columns of document and grade, and relevance of each grade.
    document: int
    grade: int
    relevance: Mapping[str, int]
    # Number of digits to which document ids are padded with zeros.
    width: int = 0


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


def read_collection(name: str, documents: Path, topics: Path, qrels: Path) -> Collection:
    """Read a collection."""
    if name not in _FORMATS:
        raise DataError(column="name", value=name, expected=f"one of {', '.join(_FORMATS)}")
    form = _FORMATS[name]
    rows = [
        (document_id, title, abstract, f"{title} {abstract}".strip())
        for document_id, title, abstract in form.documents(Path(documents))
    ]
    return Collection(
        pd.DataFrame(rows, columns=["document_id", "title", "abstract", "text"]),
        pd.DataFrame(form.topics(Path(topics)), columns=["topic_id", "text"]),
        _read_qrels(Path(qrels), form),
    )


def ad_hoc_task(name: str, collection: Collection) -> AdHocTask:
    """Judged topics and qrels of a collection, with the columns for search and evaluation."""
    qrels = collection.qrels.rename(columns={"topic_id": "query", "document_id": "document"})
    topics = collection.topics.rename(columns={"topic_id": "query"})
    judged_topics = topics[topics["query"].isin(qrels["query"])].reset_index(drop=True)
    for frame in (judged_topics, qrels):
        frame.insert(0, "task", name)
    return AdHocTask(collection.documents[["document_id", "text"]], judged_topics, qrels)


def _cisi_documents(path: Path) -> Iterator[tuple[str, str, str]]:
    for number, record in _smart_records(path):
        yield number, record.get("T", ""), record.get("W", "")


def _cisi_topics(path: Path) -> Iterator[tuple[str, str]]:
    for number, record in _smart_records(path):
        yield number, f"{record.get('T', '')} {record.get('W', '')}".strip()


def _cranfield_documents(path: Path) -> Iterator[tuple[str, str, str]]:
    for number, record in _smart_records(path):
        title, body = record.get("T", ""), record.get("W", "")
        # The body of most records begins with the title.
        yield number, title, body.removeprefix(title).strip()


def _cranfield_topics(path: Path) -> Iterator[tuple[str, str]]:
    for rank, (_, record) in enumerate(_smart_records(path), start=1):
        yield str(rank), record.get("W", "")


def _cacm_topics(path: Path) -> Iterator[tuple[str, str]]:
    return _trec_blocks(path, "DOC", "DOCNO")


def _vaswani_documents(path: Path) -> Iterator[tuple[str, str, str]]:
    for number, text in _trec_blocks(path, "DOC", "DOCNO"):
        yield number, "", text


def _vaswani_topics(path: Path) -> Iterator[tuple[str, str]]:
    return _trec_blocks(path, "top", "num")


def _cacm_documents(path: Path) -> Iterator[tuple[str, str, str]]:
    """Id, title and abstract: the first paragraph, and the text from there to the issue's date."""
    for record, lines in cacm_pages(path):
        issue, _ = cacm_issue(lines)
        head = "\n".join(lines[2:issue]).strip()
        title, _, abstract = (
            normalise_space(part) for part in re.split(r"(\n\s*\n)", head + "\n\n", maxsplit=1)
        )
        yield record, title, abstract


def cacm_pages(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Record id and lines of each page, in the order of the archive."""
    with tarfile.open(path, mode="r:gz") as archive:
        for member in archive:
            file = archive.extractfile(member)
            assert file is not None
            yield member.name.removesuffix(".html"), file.read().decode("ascii").split("\n")


def cacm_issue(lines: list[str]) -> tuple[int, int]:
    """Index of the line with the month of the issue, and the year."""
    [(number, date)] = [
        (number, date) for number, line in enumerate(lines) if (date := _DATE.fullmatch(line))
    ]
    return number, int(date[3])


def _read_qrels(path: Path, form: _Format) -> pd.DataFrame:
    rows = []
    for line in path.read_text(encoding="ascii").split("\n"):
        if not line.strip():
            continue
        parts = line.split()
        document = re.sub(
            r"(?<!\d)\d+$", lambda digits: digits[0].zfill(form.width), parts[form.document]
        )
        rows.append((parts[0], document, form.relevance[parts[form.grade]]))
    return pd.DataFrame(rows, columns=["topic_id", "document_id", "relevance"])


def _smart_records(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Number and fields of each ".I" record; repeated fields are concatenated."""
    records: list[tuple[str, dict[str, list[str]]]] = []
    field: list[str] = []
    for line in path.read_text(encoding="ascii").split("\n"):
        if start := _RECORD.fullmatch(line):
            records.append((start[1], {}))
        elif mark := _FIELD.fullmatch(line):
            field = records[-1][1].setdefault(mark[1], [])
        else:
            field.append(line)
    for number, fields in records:
        yield number, {key: normalise_space("\n".join(lines)) for key, lines in fields.items()}


def _trec_blocks(path: Path, block: str, identifier: str) -> Iterator[tuple[str, str]]:
    """Id and text of each block; the id is on its first line."""
    blocks = re.compile(
        rf"^<{block}>\s*<{identifier}>\s*(\S+)\s*</{identifier}>(.*?)^</{block}>",
        re.DOTALL | re.MULTILINE,
    )
    for number, text in blocks.findall(path.read_text(encoding="ascii")):
        yield number, normalise_space(re.sub(r"</?title>", " ", text))


def normalise_space(text: str) -> str:
    """Text with every run of white space replaced by a single space."""
    return " ".join(text.split())


_FORMATS = {
    "cacm": _Format(_cacm_documents, _cacm_topics, 2, 3, {"1": 1}, width=4),
    "cisi": _Format(_cisi_documents, _cisi_topics, 1, 2, {"0": 1}),
    "cranfield": _Format(_cranfield_documents, _cranfield_topics, 1, 2, CRANFIELD_RELEVANCE),
    "vaswani": _Format(_vaswani_documents, _vaswani_topics, 2, 3, {"1": 1}),
}
