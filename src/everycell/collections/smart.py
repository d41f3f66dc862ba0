"""The test collections CACM, CISI, Cranfield and Vaswani: documents, topics, judgements, links.

They come in the formats of the SMART system and of TREC. Every file is checked line by line, and
the counts of the whole collection against those that are known (`COUNTS`). The records of CACM name
the records that they are linked with, which makes query-by-example tasks (`read_cacm_links`,
`linked_tasks`). What each collection is and is not stands in its data card (``docs/data-cards``).
"""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import pandas as pd

from everycell.engine.untrusted import in_quotes, unpack

#: Code of a judgement of Cranfield -> relevance. The collection's readme defines codes 1 (complete
#: answer) to 4 (of minimum interest), so a smaller code is better. It does not define -1, which
#: stands once a topic, in its last line: taken as 1 (the data card has the evidence).
CRANFIELD_RELEVANCE: Mapping[str, int] = {"-1": 4, "1": 4, "2": 3, "3": 2, "4": 1}


_FIELD = re.compile(r"\.([A-Z])\s*")


_RECORD = re.compile(r"\.I\s+(\d+)\s*")


class CollectionError(Exception):
    """A file of a collection cannot be used; the message names file, line and what is allowed."""


@dataclass(frozen=True)
class Counts:
    """Size of a collection.

    Attributes
    ----------
    documents, topics
        All of them, also those without text and without judgements.
    judged_topics
        Topics with a judgement.
    judgements
        Pairs of topic and document.
    """

    documents: int
    topics: int
    judged_topics: int
    judgements: int


@dataclass(frozen=True)
class Collection:
    """A test collection; ids are text, and the rows stand in the order of the files.

    Attributes
    ----------
    documents : pandas.DataFrame
        Columns `document_id`, `title`, `abstract`, `text` (title and abstract), one row a document.
        Missing parts are "". Line ends and runs of blanks are one blank.
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
    """Topics and judgements for a search of the whole collection.

    Attributes
    ----------
    documents : pandas.DataFrame
        Columns `document_id`, `text`, one row a document.
    topics : pandas.DataFrame
        Columns `task`, `query`, `text`: the topics that have judgements.
    qrels : pandas.DataFrame
        Columns `task`, `query`, `document`, `relevance` (integer, 1 or more), as
        `everycell.retrieval` takes judgements. What is not judged is not relevant.
    """

    documents: pd.DataFrame
    topics: pd.DataFrame
    qrels: pd.DataFrame


@dataclass(frozen=True)
class _Format:
    documents: Callable[[Path], Iterator[tuple[str, str, str, str]]]
    topics: Callable[[Path], Iterator[tuple[str, str, str]]]
    # Columns of a line of judgements, which of them hold document and grade, and what grades mean.
    columns: int
    document: int
    grade: int
    relevance: Mapping[str, int]
    # Width of the number to which the document's id is filled up with zeros.
    width: int = 0


#: Size of each collection as it is known, and as the pinned files hold it.
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
    """Read a collection and check it.

    Parameters
    ----------
    name : {"cacm", "cisi", "cranfield", "vaswani"}
        Which one, and so its formats.
    documents, topics, qrels : Path
        Its files (`FILES` has the registry keys).
    counts : Counts, optional
        Size that it must have; by default that of `COUNTS`.

    Returns
    -------
    Collection
        The judgements of CACM, CISI and Vaswani name relevant documents only (relevance 1); those
        of CACM write CACM-59 where the page is CACM-0059, the id used here. Cranfield grades
        relevant documents from 1 to 4 (`CRANFIELD_RELEVANCE`), and its judgements name topics by
        their place in the file, 1 to 225, not by the number written there: so does `topics`.

    Raises
    ------
    CollectionError
        Unknown name; a file that is missing, empty or no text; a line that the format does not
        have; an id that stands twice; a judgement of an unknown topic or document, with an unknown
        grade, or given twice; other counts.

    Examples
    --------
    >>> read_collection("trec", Path("d"), Path("t"), Path("q"))
    Traceback (most recent call last):
    everycell.collections.smart.CollectionError: Collection 'trec' is unknown; choose one of cacm,
    cisi, cranfield, vaswani.
    """
    if name not in _FORMATS:
        raise CollectionError(
            f"Collection {name!r} is unknown; choose one of {', '.join(_FORMATS)}."
        )
    form = _FORMATS[name]
    rows, seen = [], {}
    for place, document_id, title, abstract in form.documents(Path(documents)):
        only_once(seen, place, f"document {document_id}")
        rows.append((document_id, title, abstract, f"{title} {abstract}".strip()))
    topic_rows = []
    for place, topic_id, text in form.topics(Path(topics)):
        only_once(seen, place, f"topic {topic_id}")
        topic_rows.append((topic_id, text))
    collection = Collection(
        pd.DataFrame(rows, columns=["document_id", "title", "abstract", "text"]),
        pd.DataFrame(topic_rows, columns=["topic_id", "text"]),
        _read_qrels(Path(qrels), form, {row[0] for row in rows}, {row[0] for row in topic_rows}),
    )
    expected = counts or COUNTS[name]
    if collection.counts != expected:
        wrong = [
            f"{field.name.replace('_', ' ')} {found} in place of {right}"
            for field, found, right in zip(
                fields(Counts), astuple(collection.counts), astuple(expected), strict=True
            )
            if found != right
        ]
        raise CollectionError(
            f"Collection {name} in {documents}, {topics}, {qrels} has {', '.join(wrong)}; use the "
            "registry's files."
        )
    return collection


def ad_hoc(name: str, collection: Collection) -> AdHoc:
    """Topics and judgements of a collection as a search and its evaluation take them.

    Parameters
    ----------
    name : str
        Name of the collection, which becomes that of the task.
    collection : Collection
        From `read_collection`; grades of Cranfield are relevance already (4 is best, and what
        stands in the file as -1 is 4).

    Returns
    -------
    AdHoc
        Topics without judgements are left out: trec_eval does not count them either. Documents
        without text stay in, so that the counts of an index are those of the collection.

    Examples
    --------
    >>> collection = Collection(
    ...     pd.DataFrame({"document_id": ["d"], "title": "a", "abstract": "b", "text": "a b"}),
    ...     pd.DataFrame({"topic_id": ["1", "2"], "text": ["what?", "why?"]}),
    ...     pd.DataFrame({"topic_id": ["2"], "document_id": ["d"], "relevance": [1]}),
    ... )
    >>> found = ad_hoc("cisi", collection)
    >>> found.topics.to_numpy().tolist(), found.qrels.to_numpy().tolist()
    ([['cisi', '2', 'why?']], [['cisi', '2', 'd', 1]])
    """
    qrels = collection.qrels.rename(columns={"topic_id": "query", "document_id": "document"})
    topics = collection.topics.rename(columns={"topic_id": "query"})
    judged = topics[topics["query"].isin(qrels["query"])].reset_index(drop=True)
    for frame in (judged, qrels):
        frame.insert(0, "task", name)
    return AdHoc(collection.documents[["document_id", "text"]], judged, qrels)


def _cacm_documents(path: Path) -> Iterator[tuple[str, str, str, str]]:
    """Title and abstract: the first paragraph, and what follows up to the date of the issue."""
    for place, record, lines in cacm_pages(path):
        issue, _ = _cacm_issue(lines, place)
        head = "\n".join(lines[2:issue]).strip()
        title, _, abstract = (
            single_blanks(part) for part in re.split(r"(\n\s*\n)", head + "\n\n", maxsplit=1)
        )
        yield place, record, title, abstract


def _smart_records(path: Path, allowed: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Place, number and fields of each ".I" record; a field that comes again is continued."""
    record: dict[str, list[str]] | None = None
    field: list[str] | None = None
    place = number = ""
    for line_number, line in enumerate(read_text_lines(path), start=1):
        where = f"{path}, line {line_number}"
        if start := _RECORD.fullmatch(line):
            if record is not None:
                yield place, number, {key: single_blanks("\n".join(v)) for key, v in record.items()}
            record, field, place, number = {}, None, where, start[1]
        elif (mark := _FIELD.fullmatch(line)) and record is not None and mark[1] in allowed:
            field = record.setdefault(mark[1], [])
        elif mark or (field is None and line.strip()):
            raise CollectionError(
                f"{where}: found {in_quotes(line.strip())} where a record (.I and a number) or a "
                "field "
                f"({', '.join('.' + key for key in allowed)}) begins; use the registry's file."
            )
        elif field is not None:
            field.append(line)
    if record is not None:
        yield place, number, {key: single_blanks("\n".join(v)) for key, v in record.items()}


def _cisi_documents(path: Path) -> Iterator[tuple[str, str, str, str]]:
    for place, number, record in _smart_records(path, "TABWKCX"):
        yield place, number, record.get("T", ""), record.get("W", "")


def _cisi_topics(path: Path) -> Iterator[tuple[str, str, str]]:
    for place, number, record in _smart_records(path, "TABW"):
        yield place, number, f"{record.get('T', '')} {record.get('W', '')}".strip()


def _cranfield_documents(path: Path) -> Iterator[tuple[str, str, str, str]]:
    for place, number, record in _smart_records(path, "TABW"):
        title, body = record.get("T", ""), record.get("W", "")
        # The body begins with the title, but for some records.
        yield place, number, title, body.removeprefix(title).strip()


def _cranfield_topics(path: Path) -> Iterator[tuple[str, str, str]]:
    for rank, (place, _, record) in enumerate(_smart_records(path, "W"), start=1):
        yield place, str(rank), record.get("W", "")


def _trec_blocks(path: Path, block: str, identifier: str) -> Iterator[tuple[str, str, str]]:
    """Place, id and text of each block, whose first line has the id; other tags are taken out."""
    first = re.compile(rf"<{identifier}>\s*(\S+)\s*</{identifier}>(.*)")
    block_id, text = None, None
    place = ""
    for number, line in enumerate(read_text_lines(path), start=1):
        where = f"{path}, line {number}"
        stripped = line.strip()
        if text is None and stripped == f"<{block}>":
            block_id, text, place = None, [], where
        elif text is not None and block_id is None and (found := first.fullmatch(stripped)):
            block_id, text = found[1], [found[2]]
        elif block_id is not None and stripped == f"</{block}>":
            yield place, block_id, single_blanks(re.sub(r"</?title>", " ", "\n".join(text)))
            block_id, text = None, None
        elif block_id is not None and stripped != f"<{block}>":
            text.append(line)
        elif stripped:
            raise CollectionError(
                f"{where}: found {stripped[:40]!r}, but a block is <{block}>, a line that begins "
                f"with <{identifier}>, text, </{block}>; use the registry's file."
            )
    if text is not None:
        raise CollectionError(
            f"{place}: this <{block}> has no </{block}> before the end of the file, which may have "
            "been cut; use the registry's file."
        )


def _cacm_topics(path: Path) -> Iterator[tuple[str, str, str]]:
    return _trec_blocks(path, "DOC", "DOCNO")


def _vaswani_documents(path: Path) -> Iterator[tuple[str, str, str, str]]:
    for place, number, text in _trec_blocks(path, "DOC", "DOCNO"):
        yield place, number, "", text


def _vaswani_topics(path: Path) -> Iterator[tuple[str, str, str]]:
    return _trec_blocks(path, "top", "num")


def _read_qrels(path: Path, form: _Format, documents: set[str], topics: set[str]) -> pd.DataFrame:
    rows, seen = [], {}
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
        for kind, found, known in (("topic", topic, topics), ("document", document, documents)):
            if found not in known:
                raise CollectionError(
                    f"{where}: {kind} {in_quotes(found)} is not in the collection; use the "
                    "registry's files, all of one collection."
                )
        if grade not in form.relevance:
            raise CollectionError(
                f"{where}: grade {in_quotes(grade)} is unknown, allowed are "
                f"{', '.join(form.relevance)}; use the registry's file."
            )
        only_once(seen, where, f"the judgement of document {document} for topic {topic}")
        rows.append((topic, document, form.relevance[grade]))
    return pd.DataFrame(rows, columns=["topic_id", "document_id", "relevance"])


def only_once(seen: dict[str, str], place: str, what: str) -> None:
    """Refuse what was seen before; `place` is where it stands now."""
    if what in seen:
        raise CollectionError(
            f"{place}: {what} stands in {seen[what]} already; each stands once, so remove one."
        )
    seen[what] = place


def read_text_lines(path: Path) -> list[str]:
    """Lines of an ASCII file."""
    try:
        return decoded_lines(path.read_bytes(), str(path))
    except OSError as error:
        raise unreadable(path, error) from error


def decoded_lines(content: bytes, place: str) -> list[str]:
    """Lines of ASCII bytes; `place` names them in an error."""
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CollectionError(
            f"{place}, line {line}: byte {content[error.start]:#04x} is no ASCII, and these "
            "collections hold nothing else; fetch it again."
        ) from error
    if not text.strip():
        raise CollectionError(f"{place} is empty; fetch it again.")
    return text.split("\n")


def unreadable(path: Path, error: OSError) -> CollectionError:
    """Error for a file that cannot be read."""
    return CollectionError(
        f"{path} cannot be read ({error.strerror or error}); fetch it, or correct its path."
    )


def single_blanks(text: str) -> str:
    """Text with each run of white space as one blank."""
    return " ".join(text.split())


_FORMATS = {
    "cacm": _Format(_cacm_documents, _cacm_topics, 4, 2, 3, {"1": 1}, width=4),
    "cisi": _Format(_cisi_documents, _cisi_topics, 4, 1, 2, {"0": 1}),
    "cranfield": _Format(_cranfield_documents, _cranfield_topics, 3, 1, 2, CRANFIELD_RELEVANCE),
    "vaswani": _Format(_vaswani_documents, _vaswani_topics, 4, 2, 3, {"1": 1}),
}


_MONTHS = "January February March April May June July August September October November December"


_DATE = re.compile(rf"\s*(CACM )?({'|'.join(_MONTHS.split())}),? ?(\d{{4}})\s*", re.IGNORECASE)


CATEGORIES = re.compile(r"\s*[\d .,]*?(\d\.\d+)[\d .,]*")


_PAGE = re.compile(r"(CACM-\d{4})\.html")


def cacm_id(number: str) -> str:
    """Id of a CACM document by its number."""
    return f"CACM-{int(number):04d}"


def cacm_pages(path: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Place, record and lines of each page, in the order of the archive."""
    try:
        # Unpacked as a whole, so that the checksum at the end is looked at before any page is used.
        with gzip.open(path, "rb") as packed:
            unpacked = io.BytesIO(unpack(packed, path))
        with tarfile.open(fileobj=unpacked, mode="r:") as archive:
            for member in archive:
                page = _PAGE.fullmatch(member.name)
                # A sparse member of a few bytes may say that it has terabytes of zeros.
                if not page or not member.isfile() or member.issparse():
                    raise CollectionError(
                        f"{path} holds {in_quotes(member.name)}; expected are pages CACM-0001.html "
                        "and so on: use the registry's file."
                    )
                place = f"{path}, {member.name}"
                yield place, page[1], decoded_lines(archive.extractfile(member).read(), place)
    # A ValueError is of `unpack`, or of a header that has no number where one must be.
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, ValueError) as error:
        raise CollectionError(
            f"{path} is no whole .tar.gz archive ({error}); fetch it again."
        ) from error
    except OSError as error:
        raise unreadable(path, error) from error


def _cacm_issue(lines: list[str], place: str) -> tuple[int, int]:
    """Number of the line with the month of the issue, and the year."""
    dates = [(number, date) for number, line in enumerate(lines) if (date := _DATE.fullmatch(line))]
    if lines[:2] != ["<html>", "<pre>"] or len(dates) != 1:
        raise CollectionError(
            f"{place}, line 1: a page begins with <html> and <pre> and has one line with the "
            f"month of the issue, but this has {len(dates)}; use the registry's file."
        )
    number, date = dates[0]
    return number, int(date[3])
