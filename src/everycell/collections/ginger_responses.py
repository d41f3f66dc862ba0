"""Released responses of GINGER and its baselines to the topics of TREC RAG 2024.

Source: lajewska2025, section 6.6; released with Lajewska and Balog, "GINGER: grounded information
nugget-based generation of responses" (SIGIR 2025). The responses of the chain-of-thought baseline
were not released.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from everycell.base.csv_files import read_table
from everycell.base.errors import CollectionError

#: Registry keys of the released files.
FILES = ("ginger/runs_responses.csv", "ginger/nrg_variants_responses.csv")
_KEYS = ["qid", "query"]


def read_responses(paths: Iterable[Path]) -> pd.DataFrame:
    """Read the responses of all runs."""
    parts: list[pd.DataFrame] = []
    questions: dict[str, str] = {}
    path_of_run: dict[str, Path] = {}
    for path in paths:
        table = read_table(path, _KEYS, error=CollectionError, separator=";")
        runs = [name for name in table.columns if name not in _KEYS]
        if not runs:
            raise CollectionError(
                f"{path} has only the columns {', '.join(_KEYS)}; expected one more column per "
                "run, so fetch it again."
            )
        is_duplicate = table["qid"].duplicated()
        if is_duplicate.any():
            raise CollectionError(
                f"{path}: topic {table['qid'][is_duplicate].iloc[0]!r} occurs twice; remove one of "
                "the rows."
            )
        for topic, question in zip(table["qid"], table["query"], strict=True):
            if questions.setdefault(topic, question) != question:
                raise CollectionError(
                    f"{path}: topic {topic!r} has a different question in an earlier file; fetch "
                    "the files again (delete them first)."
                )
        for run in runs:
            if run in path_of_run:
                raise CollectionError(
                    f"{path}: run {run!r} is also in {path_of_run[run]}; use each file only once."
                )
            path_of_run[run] = path
            renamed = table.rename(columns={"qid": "topic", "query": "question", run: "text"})
            parts.append(renamed[["topic", "question", "text"]].assign(run=run))
    return pd.concat(parts, ignore_index=True)[["run", "topic", "question", "text"]]
