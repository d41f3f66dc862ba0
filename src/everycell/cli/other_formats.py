"""Runs and judgements of users in other formats than TREC's, converted when a paper is made.

ranx writes JSON (query -> document -> number). BEIR's judgements are tab-separated with a header
(query-id, corpus-id, score). Runs of MS MARCO have three columns (query, document, rank).
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

import pandas as pd

from everycell.base.errors import DataError
from everycell.base.text_files import read_lines, read_text_file
from everycell.base.untrusted import parse_json
from everycell.trec.conversion import as_qrels, as_run
from everycell.trec.runs import system_name, write_qrels, write_run

#: Header of judgements in BEIR, and the format of a line.
_BEIR = "query-id\tcorpus-id\tscore"
_MSMARCO = re.compile(r"\S+\t\S+\t\d+")


def as_trec_file(path: Path, folder: Path, *, is_run: bool) -> tuple[Path, str]:
    """File in TREC format, and a note if it was converted into the folder."""
    lines = [line.strip() for _, line in islice(read_lines(path), 20)]
    first = lines[0] if lines else ""
    if first.startswith("{"):
        kind, frame = "JSON of ranx", _read_json(path, is_run=is_run)
    elif not is_run and first.replace("corpus_id", "corpus-id") == _BEIR:
        kind, frame = "judgements of BEIR", _read_columns(path, skip=1)
        frame = as_qrels(frame.rename(columns={"number": "relevance"}))
    elif is_run and lines and all(_MSMARCO.fullmatch(line) for line in lines if line):
        kind, frame = "a run of MS MARCO", _read_columns(path, skip=0)
        # Rank 1 is the best; the order of the ranks is that of the scores.
        frame = as_run(frame.assign(score=-frame["number"].astype(float))[
            ["query", "document", "score"]
        ])  # fmt: skip
    else:
        return path, ""
    name = path.name.removesuffix(".gz").removesuffix(".json").removesuffix(".tsv")
    target = folder / f"{len([*folder.iterdir()])}" / f"{name}.{'run' if is_run else 'qrels'}"
    target.parent.mkdir()
    if is_run:
        write_run(frame, target, tag=re.sub(r"\s", "-", system_name(path)))
    else:
        write_qrels(frame, target)
    return target, f"{path} is {kind}; the repository has it in TREC format."


def _read_json(path: Path, *, is_run: bool) -> pd.DataFrame:
    try:
        content = parse_json(read_text_file(path), strict=True)
        return as_run(content) if is_run else as_qrels(content)
    except (ValueError, TypeError) as error:
        raise DataError(
            path,
            fault=f"cannot be read as JSON of ranx ({error})",
            expected="an object of queries, each an object of documents with a number",
        ) from None


def _read_columns(path: Path, *, skip: int) -> pd.DataFrame:
    rows = []
    for number, line in islice(read_lines(path), skip, None):
        fields = line.split("\t")
        if len(fields) != 3 or not re.fullmatch(r"-?\d{1,9}", fields[2].strip()):
            raise DataError(path, number, value=line, expected="query, document and whole number")
        rows.append((fields[0], fields[1], int(fields[2])))
    return pd.DataFrame(rows, columns=["query", "document", "number"])
