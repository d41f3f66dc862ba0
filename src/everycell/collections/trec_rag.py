"""TREC RAG 2024 from a user's folder: topics, a run, and its segments of MS MARCO V2.1.

The corpus has 113,520,750 segments in about 60 files, one JSON object per line. A segment's id,
such as ``msmarco_v2.1_doc_29_677149#3_1637632``, gives its place: file 29, byte 1,637,632. An
unpacked file is therefore read only at these places; a gzipped one is read as a stream, of which
only the lines needed are parsed.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Collection, Iterator
from io import BufferedReader
from pathlib import Path

import pandas as pd

from everycell.collections.errors import CollectionError
from everycell.collections.rows import read_lines
from everycell.engine.text_files import check_regular
from everycell.engine.untrusted import in_quotes, parse_json
from everycell.trec.runs import read_run, trec_order

#: Names in the folder: topics ("id, tab, question"), a TREC run (may end in .gz), segments.
TOPICS, RUNS, SEGMENTS = "topics.rag24.test.txt", ("run.txt", "run.txt.gz"), "segments"
# A file of the corpus, such as msmarco_v2.1_doc_segmented_29.json.gz; other files hold any
# segments.
_FILE = re.compile(r"(?:_(?P<part>[0-9]{2}))?\.jsonl?(?P<packed>\.gz)?$")
_PLACE = re.compile(r"_(?P<part>[0-9]{2})_[0-9]+#[0-9]+_(?P<byte>[0-9]{1,15})$")
# A quote within a JSON text has a backslash before it, so this occurs in no text.
_DOCID = re.compile(rb'"docid"\s*:\s*"([^"]*)"')
_Opened = BufferedReader | gzip.GzipFile
_WHAT = "docs/grounded-responses.md says what the folder holds"


def run_file(folder: Path) -> Path:
    """Find the run in a folder."""
    runs = [folder / name for name in RUNS if (folder / name).is_file()]
    if len(runs) != 1:
        raise CollectionError(
            f"{folder}: has {len(runs)} of {' and '.join(RUNS)}, not exactly one run; {_WHAT}."
        )
    return runs[0]


def segment_files(folder: Path) -> list[Path]:
    """List the files of segments in a folder, by name."""
    segments = folder / SEGMENTS
    paths = [path for path in sorted(segments.glob("*")) if _FILE.search(path.name)]
    if not paths:
        raise CollectionError(
            f"{segments}: has no file of segments (.jsonl, .json, or these with .gz); {_WHAT}."
        )
    return paths


def read_topics(path: Path) -> dict[str, str]:
    """Read questions by the ids of their topics, in the order of the file."""
    questions: dict[str, str] = {}
    for number, line in read_lines(path):
        if not line.strip():
            continue
        topic, tab, question = (part.strip() for part in line.partition("\t"))
        if not (topic and question):
            raise CollectionError(
                f"{path}, line {number}: is {in_quotes(line)}; a line is 'id, tab, question', so "
                "correct it."
            )
        if topic in questions:
            raise CollectionError(
                f"{path}, line {number}: topic {topic!r} occurs twice there; remove one."
            )
        questions[topic] = question
    if not questions:
        raise CollectionError(f"{path}: has no topic; {_WHAT}.")
    return questions


def read_segments(files: Collection[Path], ids: Collection[str]) -> dict[str, str]:
    """Read the texts of some segments."""
    missing, texts = dict.fromkeys(ids), {}
    for path in sorted(files, key=lambda file_path: _part(file_path) is None):
        part = _part(path)
        due = {
            docid
            for docid in missing
            if part is None
            or (position := _PLACE.search(docid)) is None
            or position["part"] == part
        }
        if not due:
            continue
        packed = path.suffix == ".gz"
        check_regular(path, CollectionError)
        try:
            with (gzip.open if packed else open)(path, "rb") as file:
                read = {} if packed else dict(_read_at_positions(file, due))
                if len(read) < len(due):
                    file.seek(0)
                    read |= dict(_search_lines(file, path, due - set(read)))
        except (gzip.BadGzipFile, zlib.error, EOFError):
            raise CollectionError(
                f"{path}: is damaged or not a gzip file; get it again, or leave .gz out of its "
                "name."
            ) from None
        except OSError as error:
            raise CollectionError(
                f"{path}: cannot be read ({error.strerror}); get it again."
            ) from None
        texts |= read
        for docid in read:
            missing.pop(docid)
    if missing:
        first, every = next(iter(missing)), len(texts) + len(missing)
        one, *further = files
        more = f" and {len(further)} more files" if further else ""
        raise CollectionError(
            f"{len(missing)} of {every} segments, such as {first!r}, are not in {one}{more}; "
            "add the file that has it, or take it out of the run."
        )
    return {docid: texts[docid] for docid in ids}


def _part(path: Path) -> str | None:
    match = _FILE.search(path.name)
    return match["part"] if match else None


def _read_at_positions(file: _Opened, ids: Collection[str]) -> Iterator[tuple[str, str]]:
    """Segments found at the byte that their id gives; others are left out."""
    for docid in sorted(ids):
        position = _PLACE.search(docid)
        if position is None:
            continue
        file.seek(int(position["byte"]))
        line = file.readline()
        match = _DOCID.search(line)
        if match is not None and match[1] == docid.encode():
            yield docid, _text(line, docid, f"{file.name}, byte {position['byte']}")


def _search_lines(file: _Opened, path: Path, ids: Collection[str]) -> Iterator[tuple[str, str]]:
    missing = {docid.encode(): docid for docid in ids}
    for number, line in enumerate(file, 1):
        if not missing:
            return
        match = _DOCID.search(line)
        if match is None:
            if line.strip():
                raise CollectionError(
                    f"{path}, line {number}: has no docid; a line is a segment of MS MARCO V2.1 as "
                    "JSON, so get the file again."
                )
        elif match[1] in missing:
            docid = missing.pop(match[1])
            yield docid, _text(line, docid, f"{path}, line {number}")


def _text(line: bytes, docid: str, where: str) -> str:
    try:
        segment = parse_json(line)
        text = segment["segment"]
        # JSON allows half a surrogate pair, which could not be written.
        str(text).encode()
    except (ValueError, KeyError, TypeError) as error:
        raise CollectionError(
            f"{where}: segment {docid!r} is not a JSON object with `segment` "
            f"({in_quotes(str(error))}); get the file again."
        ) from None
    if not isinstance(text, str) or not text.strip():
        raise CollectionError(f"{where}: segment {docid!r} has no text; remove it from the run.")
    return " ".join(text.split())


def read_rag_passages(folder: Path, *, depth: int, topics: int | None = None) -> pd.DataFrame:
    """Read the first passages of each topic."""
    questions = read_topics(folder / TOPICS)
    path = run_file(folder)
    try:
        run = trec_order(read_run(path, queries=questions))
    except ValueError as error:
        raise CollectionError(str(error)) from None
    listed_topics = list(questions)[:topics]
    lacking = sorted(set(listed_topics) - set(run["query"]))
    if lacking:
        raise CollectionError(
            f"{path}: has no passage for topic {lacking[0]!r}; add some, or take the topic out of "
            f"{folder / TOPICS}."
        )
    run = run[run["query"].isin(listed_topics)]
    run = run.assign(rank=run.groupby("query", sort=False).cumcount() + 1)
    run = run[run["rank"] <= depth]
    texts = read_segments(segment_files(folder), list(dict.fromkeys(run["document"])))
    run = run.sort_values("query", key=lambda own: own.map(listed_topics.index), kind="stable")
    return pd.DataFrame(
        {
            "topic": run["query"].to_numpy(),
            "question": run["query"].map(questions).to_numpy(),
            "rank": run["rank"].to_numpy(),
            "passage_id": run["document"].to_numpy(),
            "text": run["document"].map(texts).to_numpy(),
        }
    )
