"""Reader of a user's TREC RAG 2024 folder for chapter 6 of lajewska2025.

The folder has topics, a run, and its segments of MS MARCO V2.1.

The corpus has 113,520,750 segments in about 60 files, one JSON object per line. A segment's id,
such as ``msmarco_v2.1_doc_29_677149#3_1637632``, contains its position: file 29, byte 1,637,632.
Plain files are read only at these positions; gzipped files are streamed, and only matching lines
are parsed.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Collection, Iterator
from io import BufferedReader
from pathlib import Path

import pandas as pd

from everycell.base.errors import DataError
from everycell.base.text_files import check_regular, read_lines
from everycell.base.untrusted import in_quotes, parse_json
from everycell.trec.runs import read_run, trec_order

#: Names in the folder: file of topics ("id, tab, question"), TREC run, folder of segments.
TOPICS, RUNS, SEGMENTS = "topics.rag24.test.txt", ("run.txt", "run.txt.gz"), "segments"
# A file of the corpus, such as msmarco_v2.1_doc_segmented_29.json.gz. A file without a number may
# contain any segments.
_FILE = re.compile(r"(?:_(?P<part>[0-9]{2}))?\.jsonl?(?P<packed>\.gz)?$")
_POSITION = re.compile(r"_(?P<part>[0-9]{2})_[0-9]+#[0-9]+_(?P<byte>[0-9]{1,15})$")
# Never matches within the text of a segment, since quotes are escaped in JSON strings.
_DOCID = re.compile(rb'"docid"\s*:\s*"([^"]*)"')
_OpenFile = BufferedReader | gzip.GzipFile
_ADVICE = "see docs/grounded-responses.md for the contents of the folder"


def run_file(folder: Path) -> Path:
    """Find the run in a folder."""
    runs = [folder / name for name in RUNS if (folder / name).is_file()]
    if len(runs) != 1:
        raise DataError(
            folder,
            fault=f"contains {len(runs)} of the files {' and '.join(RUNS)}",
            expected="one",
            fix=_ADVICE,
        )
    return runs[0]


def segment_files(folder: Path) -> list[Path]:
    """List the files of segments in a folder, by name."""
    segments = folder / SEGMENTS
    paths = [path for path in sorted(segments.glob("*")) if _FILE.search(path.name)]
    if not paths:
        raise DataError(
            segments,
            fault="contains no file of segments (.jsonl, .json, .jsonl.gz or .json.gz)",
            fix=_ADVICE,
        )
    return paths


def read_topics(path: Path) -> dict[str, str]:
    """Read the questions of topics by topic id, in the order of the file."""
    questions: dict[str, str] = {}
    for number, line in read_lines(path):
        if not line.strip():
            continue
        topic, tab, question = (part.strip() for part in line.partition("\t"))
        if not (topic and question):
            raise DataError(
                path, number, value=line, expected="'id, tab, question'", fix="correct the line"
            )
        if topic in questions:
            raise DataError(
                path, number, "topic", topic, "which occurs twice", fix="remove one of the lines"
            )
        questions[topic] = question
    if not questions:
        raise DataError(path, fault="has no topics", fix=_ADVICE)
    return questions


def read_segments(files: Collection[Path], ids: Collection[str]) -> dict[str, str]:
    """Read the texts of the segments with these ids."""
    missing, texts = dict.fromkeys(ids), {}
    for path in sorted(files, key=lambda file_path: _part(file_path) is None):
        part = _part(path)
        candidates = {
            docid
            for docid in missing
            if part is None
            or (position := _POSITION.search(docid)) is None
            or position["part"] == part
        }
        if not candidates:
            continue
        is_packed = path.suffix == ".gz"
        check_regular(path)
        try:
            with (gzip.open if is_packed else open)(path, "rb") as file:
                new_texts = {} if is_packed else dict(_read_at_positions(file, candidates))
                if len(new_texts) < len(candidates):
                    file.seek(0)
                    new_texts |= dict(_search_lines(file, path, candidates - set(new_texts)))
        except (gzip.BadGzipFile, zlib.error, EOFError):
            raise DataError(
                path,
                fault="is damaged or not a gzip file",
                fix="download it again, or remove .gz from its name",
            ) from None
        except OSError as error:
            raise DataError(
                path, fault=f"cannot be read ({error.strerror})", fix="download it again"
            ) from None
        texts |= new_texts
        for docid in new_texts:
            missing.pop(docid)
    if missing:
        example, total = next(iter(missing)), len(texts) + len(missing)
        first_file, *other_files = files
        more = f" and {len(other_files)} more files" if other_files else ""
        raise DataError(
            f"{first_file}{more}",
            column="docid",
            value=example,
            fault=f"which is missing, as {len(missing)} of {total} segments are",
            fix="add the files that contain them, or remove them from the run",
        )
    return {docid: texts[docid] for docid in ids}


def _part(path: Path) -> str | None:
    match = _FILE.search(path.name)
    return match["part"] if match else None


def _read_at_positions(file: _OpenFile, ids: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the segments that are at the byte positions in their ids."""
    for docid in sorted(ids):
        position = _POSITION.search(docid)
        if position is None:
            continue
        file.seek(int(position["byte"]))
        line = file.readline()
        match = _DOCID.search(line)
        if match is not None and match[1] == docid.encode():
            yield docid, _text(line, docid, Path(file.name), f"byte {position['byte']}")


def _search_lines(file: _OpenFile, path: Path, ids: Collection[str]) -> Iterator[tuple[str, str]]:
    missing = {docid.encode(): docid for docid in ids}
    for number, line in enumerate(file, 1):
        if not missing:
            return
        match = _DOCID.search(line)
        if match is None:
            if line.strip():
                raise DataError(
                    path,
                    number,
                    fault="has no docid",
                    expected="a segment of MS MARCO V2.1 as JSON",
                    fix="download the file again",
                )
        elif match[1] in missing:
            docid = missing.pop(match[1])
            yield docid, _text(line, docid, path, number)


def _text(line: bytes, docid: str, path: Path, row: int | str) -> str:
    try:
        segment = parse_json(line)
        text = segment["segment"]
        # JSON allows lone surrogates, which cannot be written as UTF-8.
        str(text).encode()
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            path,
            row,
            "docid",
            docid,
            f"which is not a JSON object with the key `segment` ({in_quotes(str(error))})",
            fix="download the file again",
        ) from None
    if not isinstance(text, str) or not text.strip():
        raise DataError(
            path, row, "docid", docid, "which has no text", fix="remove it from the run"
        )
    return " ".join(text.split())


def read_rag_passages(folder: Path, *, depth: int, topics: int | None = None) -> pd.DataFrame:
    """Read the top `depth` passages of each topic of a run."""
    questions = read_topics(folder / TOPICS)
    path = run_file(folder)
    run = trec_order(read_run(path, queries=questions))
    topic_order = list(questions)[:topics]
    missing = sorted(set(topic_order) - set(run["query"]))
    if missing:
        raise DataError(
            path,
            column="topic",
            value=missing[0],
            fault="for which there are no passages",
            fix=f"add some, or remove the topic from {folder / TOPICS}",
        )
    run = run[run["query"].isin(topic_order)]
    run = run.assign(rank=run.groupby("query", sort=False).cumcount() + 1)
    run = run[run["rank"] <= depth]
    texts = read_segments(segment_files(folder), list(dict.fromkeys(run["document"])))
    run = run.sort_values("query", key=lambda query: query.map(topic_order.index), kind="stable")
    return pd.DataFrame(
        {
            "topic": run["query"].to_numpy(),
            "question": run["query"].map(questions).to_numpy(),
            "rank": run["rank"].to_numpy(),
            "passage_id": run["document"].to_numpy(),
            "text": run["document"].map(texts).to_numpy(),
        }
    )
