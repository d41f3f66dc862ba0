"""SciDocs, the collection of abolghasemi2026, chapter 2: reader of the published files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from everycell.collections.benchmark import Benchmark
from everycell.engine.untrusted import in_quotes, text_of

#: Task -> its folder among the published files.
FOLDERS: Mapping[str, str] = {
    "co-view": "coview",
    "co-read": "coread",
    "cite": "cite",
    "co-cite": "cocite",
}
METADATA = "paper_metadata_view_cite_read.json"
#: Name, in the candidate lists, of the negatives as they were published.
SETTING = "published"

Cleaning = Literal["none", "words"]

_LIST = ["task", "split", "query_id", "document_id", "relevance"]
_TEXT = ("title", "abstract")
# Some ids without metadata are left out; more of them are of another release.
_MOST_WITHOUT_METADATA = 0.02
# Most of the file, but not needed: dropped from each paper as soon as it is read.
_UNUSED = ("authors", "cited_by", "references", "year", "paper_id")


class SciDocsError(Exception):
    """A file of SciDocs cannot be used; the message names file, line or paper, and what to do."""


@dataclass(frozen=True)
class SciDocs:
    """SciDocs, as used to train and test systems."""

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
    raise ValueError(f"cleaning is {cleaning!r}: give 'none' or 'words'.")


def read_scidocs(
    folder: Path,
    *,
    seed: int,
    validation: float = 0.15,
    cleaning: Cleaning = "none",
    documents: Literal["all", "listed"] = "all",
) -> SciDocs:
    """Read SciDocs, and split the validation file of each task.

    The queries of a task's `test.qrel` are its test queries. Those of its `val.qrel` are split, for
    each task separately, into training and validation queries (abolghasemi2026, section 2.4.1: 85
    to 15). The thesis gives no seed, so its own split cannot be recovered.
    """
    if not 0 < validation < 1:
        raise ValueError(f"validation is {validation}: give a share above 0 and below 1.")
    if documents not in ("all", "listed"):
        raise ValueError(f"documents is {documents!r}: give 'all' or 'listed'.")
    folder = Path(folder)
    # The small files first: an error in them is found before the large one is read.
    lines = pd.concat(
        [
            _read_qrel(folder / FOLDERS[task] / f"{file}.qrel").assign(task=task, split=split)
            for task in FOLDERS
            for file, split in (("test", "test"), ("val", "validation"))
        ],
        ignore_index=True,
    )[_LIST]
    papers = _read_papers(folder / METADATA, cleaning)
    no_metadata = ~(lines["query_id"].isin(papers.index) & lines["document_id"].isin(papers.index))
    if no_metadata.mean() > _MOST_WITHOUT_METADATA:
        row = lines[no_metadata].iloc[0]
        raise SciDocsError(
            f"{no_metadata.sum()} of {len(lines)} lines of the .qrel files in {folder} name papers "
            f"that {METADATA} does not have, such as query {row['query_id']}, document "
            f"{row['document_id']} ({row['task']}): use files of one release."
        )
    in_test = pd.MultiIndex.from_frame(
        lines.loc[lines["split"] == "test", ["task", "query_id"]].drop_duplicates()
    )
    tested = pd.MultiIndex.from_frame(lines[["task", "query_id"]]).isin(in_test)
    tested &= (lines["split"] == "validation").to_numpy()
    reason = np.select([no_metadata, tested], ["no metadata", "test query"], "")
    usable = _split(lines[reason == ""], validation, seed)
    if documents == "listed":
        listed = papers.index.isin(pd.concat([usable["query_id"], usable["document_id"]]))
        papers = papers[listed]
    queries = usable[["task", "query_id", "split"]].drop_duplicates(ignore_index=True)
    return SciDocs(
        papers.rename_axis("document_id").reset_index(name="text"),
        Benchmark(
            queries.assign(
                origin_id=queries["query_id"], text=queries["query_id"].map(papers).astype("str")
            ),
            usable.assign(setting=SETTING)[["setting", *_LIST]],
        ),
        lines.assign(reason=reason)[reason != ""].reset_index(drop=True),
    )


def _split(lines: pd.DataFrame, validation: float, seed: int) -> pd.DataFrame:
    """Split the validation queries of each task; sorted by task, split, query and document."""
    parts = []
    for number, task in enumerate(FOLDERS):
        own = lines[lines["task"] == task].copy()
        drawn_from = sorted(set(own.loc[own["split"] == "validation", "query_id"]))
        size = round(validation * len(drawn_from))
        if not 0 < size < len(drawn_from):
            raise ValueError(
                f"Task {task} has {len(drawn_from)} queries in its val.qrel, of which {size} would "
                "be for validation: give a share that leaves a query for each of both parts."
            )
        # A task's split does not depend on the other tasks.
        draw = np.random.default_rng([seed, number])
        is_validation = own["query_id"].isin(draw.choice(drawn_from, size, replace=False))
        own.loc[(own["split"] == "validation") & ~is_validation, "split"] = "train"
        position = own["split"].map({"test": 0, "validation": 1, "train": 2})
        parts.append(own.assign(place=position).sort_values(["place", "query_id", "document_id"]))
    return pd.concat(parts, ignore_index=True)[_LIST]


def _read_qrel(path: Path) -> pd.DataFrame:
    rows, first = [], {}
    for number, line in enumerate(_read_text(path).splitlines(), start=1):
        fields = line.split()
        if len(fields) != 4 or fields[1] != "0" or fields[3] not in ("0", "1"):
            raise SciDocsError(
                f"{path}, line {number}: {line.strip()[:120]!r} is not 'query 0 document "
                "relevance' with relevance 0 or 1; fetch the file again."
            )
        query, _, document, relevance = fields
        if (query, document) in first:
            raise SciDocsError(
                f"{path}, line {number}: document {document} of query {query} is in line "
                f"{first[query, document]} already; a document occurs once in a list, so remove "
                "one of the lines."
            )
        first[query, document] = number
        rows.append((query, document, int(relevance)))
    return pd.DataFrame(rows, columns=["query_id", "document_id", "relevance"])


def _read_papers(path: Path, cleaning: Cleaning) -> pd.Series:
    """Text of each paper, by its id."""

    def needed(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields_of_paper = dict(pairs)
        if len(fields_of_paper) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for position, key in enumerate(keys) if key in keys[:position])
            raise SciDocsError(
                f"{path}: {in_quotes(twice)} occurs twice in one object; a paper and a field occur "
                "once, so fetch the file again."
            )
        for key in _UNUSED:
            fields_of_paper.pop(key, None)
        return fields_of_paper

    try:
        papers = json.loads(_read_text(path), object_pairs_hook=needed)
    except (ValueError, RecursionError) as error:
        raise SciDocsError(
            f"{path} is not JSON, or was cut ({error}); fetch the file again."
        ) from error
    if not isinstance(papers, dict) or not papers:
        raise SciDocsError(
            f"{path} holds no object with a paper for each id; use the {METADATA} of SciDocs."
        )
    texts = {}
    for paper_id, paper in papers.items():
        fields = [paper.get(key, 0) if isinstance(paper, dict) else 0 for key in _TEXT]
        texts_or_null = [field for field in fields if field is None or isinstance(field, str)]
        if len(texts_or_null) < len(fields):
            raise SciDocsError(
                f"{path}: paper {paper_id} has no title and abstract that are text or null; use "
                f"the {METADATA} of SciDocs."
            )
        texts[paper_id] = paper_text(*texts_or_null, cleaning=cleaning)
    return pd.Series(texts, dtype="str")


def _read_text(path: Path) -> str:
    try:
        text = text_of(path)
    except OSError as error:
        raise SciDocsError(
            f"{path} cannot be read ({error.strerror or error}); the data card of SciDocs says "
            "what to download."
        ) from error
    except UnicodeDecodeError as error:
        raise SciDocsError(
            f"{path} is not UTF-8 text (byte {error.start}); fetch the file again."
        ) from error
    if not text.strip():
        raise SciDocsError(f"{path} is empty; fetch the file again.")
    return text
