"""Reader of the released files of SciDocs, a collection of chapter 2 of abolghasemi2026."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from everycell.base.errors import DataError
from everycell.base.untrusted import parse_json, text_of
from everycell.collections.benchmark import Benchmark

#: Folder of each task in the published files.
FOLDERS: Mapping[str, str] = {
    "co-view": "coview",
    "co-read": "coread",
    "cite": "cite",
    "co-cite": "cocite",
}
METADATA = "paper_metadata_view_cite_read.json"
#: Setting of candidate lists with the published negatives.
SETTING = "published"

Cleaning = Literal["none", "words"]

_LIST = ["task", "split", "query", "document_id", "relevance"]
_TEXT = ("title", "abstract")
# Largest share of lines whose papers lack metadata. Such lines are left out, but a larger share
# indicates files of different releases.
_MAX_WITHOUT_METADATA = 0.02
# Unused fields that are dropped while reading to save memory.
_UNUSED = ("authors", "cited_by", "references", "year", "paper_id")


@dataclass(frozen=True)
class SciDocs:
    """Documents and benchmark of SciDocs, and the lines that were left out."""

    documents: pd.DataFrame
    benchmark: Benchmark
    left_out: pd.DataFrame


def paper_text(title: str | None, abstract: str | None, *, cleaning: Cleaning = "none") -> str:
    """Text of a paper: abstract, then title (abolghasemi2026, section 2.4.1)."""
    title, abstract = title or "", abstract or ""
    if cleaning == "words":
        return re.sub(r"\W", " ", abstract + title)
    if cleaning == "none":
        return " ".join(f"{abstract} {title}".split())
    raise DataError(column="cleaning", value=cleaning, expected="'none' or 'words'")


def read_scidocs(
    folder: Path,
    *,
    seed: int,
    validation: float = 0.15,
    cleaning: Cleaning = "none",
    documents: Literal["all", "listed"] = "all",
) -> SciDocs:
    """Read SciDocs, and split the validation file of each task.

    Test queries are those of a task's `test.qrel`. The queries of its `val.qrel` are split into
    training and validation queries, separately for each task (abolghasemi2026, section 2.4.1: 85 %
    and 15 %). The thesis does not state a seed, so its split cannot be reproduced.
    """
    if not 0 < validation < 1:
        raise DataError(column="validation", value=validation, expected="above 0 and below 1")
    if documents not in ("all", "listed"):
        raise DataError(column="documents", value=documents, expected="'all' or 'listed'")
    folder = Path(folder)
    # Read the small files first, to report errors in them without delay.
    lines = pd.concat(
        [
            _read_qrel(folder / FOLDERS[task] / f"{file}.qrel").assign(task=task, split=split)
            for task in FOLDERS
            for file, split in (("test", "test"), ("val", "validation"))
        ],
        ignore_index=True,
    )[_LIST]
    papers = _read_papers(folder / METADATA, cleaning)
    lacks_metadata = ~(lines["query"].isin(papers.index) & lines["document_id"].isin(papers.index))
    if lacks_metadata.mean() > _MAX_WITHOUT_METADATA:
        row = lines[lacks_metadata].iloc[0]
        raise DataError(
            folder / METADATA,
            fault=f"lacks papers of {lacks_metadata.sum()} of {len(lines)} lines of the .qrel "
            f"files, such as query {row['query']}, document {row['document_id']} "
            f"({row['task']})",
            fix="use files of the same release",
        )
    test_queries = pd.MultiIndex.from_frame(
        lines.loc[lines["split"] == "test", ["task", "query"]].drop_duplicates()
    )
    is_test_query = pd.MultiIndex.from_frame(lines[["task", "query"]]).isin(test_queries)
    is_test_query &= (lines["split"] == "validation").to_numpy()
    reason = np.select([lacks_metadata, is_test_query], ["no metadata", "test query"], "")
    usable = _split(lines[reason == ""], validation, seed)
    if documents == "listed":
        is_listed = papers.index.isin(pd.concat([usable["query"], usable["document_id"]]))
        papers = papers[is_listed]
    queries = usable[["task", "query", "split"]].drop_duplicates(ignore_index=True)
    return SciDocs(
        papers.rename_axis("document_id").reset_index(name="text"),
        Benchmark(
            queries.assign(
                origin_id=queries["query"], text=queries["query"].map(papers).astype("str")
            ),
            usable.assign(setting=SETTING)[["setting", *_LIST]],
        ),
        lines.assign(reason=reason)[reason != ""].reset_index(drop=True),
    )


def _split(lines: pd.DataFrame, validation: float, seed: int) -> pd.DataFrame:
    """Split the queries of each task's val.qrel; sort by task, split, query and document."""
    parts = []
    for number, task in enumerate(FOLDERS):
        rows = lines[lines["task"] == task].copy()
        pool = sorted(set(rows.loc[rows["split"] == "validation", "query"]))
        size = round(validation * len(pool))
        if not 0 < size < len(pool):
            raise DataError(
                row=f"task {task}",
                column="validation",
                value=validation,
                fault=f"or {size} of {len(pool)} queries",
                fix="choose a share that leaves training and validation queries",
            )
        # The split of a task does not depend on the other tasks.
        generator = np.random.default_rng([seed, number])
        is_validation = rows["query"].isin(generator.choice(pool, size, replace=False))
        rows.loc[(rows["split"] == "validation") & ~is_validation, "split"] = "train"
        position = rows["split"].map({"test": 0, "validation": 1, "train": 2})
        rows = rows.assign(position=position)
        parts.append(rows.sort_values(["position", "query", "document_id"]))
    return pd.concat(parts, ignore_index=True)[_LIST]


def _read_qrel(path: Path) -> pd.DataFrame:
    rows, line_of_pair = [], {}
    for number, line in enumerate(_read_text(path).splitlines(), start=1):
        fields = line.split()
        if len(fields) != 4 or fields[1] != "0" or fields[3] not in ("0", "1"):
            raise DataError(
                path,
                number,
                value=line,
                expected="'query 0 document relevance' with relevance 0 or 1",
                fix="fetch the file again",
            )
        query, _, document, relevance = fields
        if (query, document) in line_of_pair:
            raise DataError(
                path,
                number,
                "document",
                document,
                f"which is also on line {line_of_pair[query, document]} for query {query}",
                fix="remove one of the lines",
            )
        line_of_pair[query, document] = number
        rows.append((query, document, int(relevance)))
    return pd.DataFrame(rows, columns=["query", "document_id", "relevance"])


def _read_papers(path: Path, cleaning: Cleaning) -> pd.Series:
    """Read the text of each paper, by id."""

    def used_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields_of_paper = dict(pairs)
        if len(fields_of_paper) < len(pairs):
            keys = [key for key, _ in pairs]
            duplicate = next(key for position, key in enumerate(keys) if key in keys[:position])
            raise DataError(
                path,
                column="key",
                value=duplicate,
                fault="which occurs twice in one object",
                fix="fetch the file again",
            )
        for key in _UNUSED:
            fields_of_paper.pop(key, None)
        return fields_of_paper

    try:
        papers = parse_json(_read_text(path), make_object=used_fields)
    except DataError:
        raise
    except (ValueError, RecursionError) as error:
        raise DataError(
            path, fault=f"is not JSON or is truncated ({error})", fix="fetch the file again"
        ) from error
    if not isinstance(papers, dict) or not papers:
        raise DataError(
            path,
            fault="is not an object that maps ids to papers",
            fix=f"use the {METADATA} of SciDocs",
        )
    texts = {}
    for paper_id, paper in papers.items():
        fields = [paper.get(key, 0) if isinstance(paper, dict) else 0 for key in _TEXT]
        texts_or_null = [field for field in fields if field is None or isinstance(field, str)]
        if len(texts_or_null) < len(fields):
            raise DataError(
                path,
                f"paper {paper_id[:60]}",
                fault="has no title and abstract that are strings or null",
                fix=f"use the {METADATA} of SciDocs",
            )
        texts[paper_id] = paper_text(*texts_or_null, cleaning=cleaning)
    return pd.Series(texts, dtype="str")


def _read_text(path: Path) -> str:
    try:
        text = text_of(path)
    except OSError as error:
        raise DataError(
            path,
            fault=f"cannot be read ({error.strerror or error})",
            fix="see the data card of SciDocs for what to download",
        ) from error
    except UnicodeDecodeError as error:
        raise DataError(
            path, fault=f"is not UTF-8 text (byte {error.start})", fix="fetch the file again"
        ) from error
    if not text.strip():
        raise DataError(path, fault="is empty", fix="fetch the file again")
    return text
