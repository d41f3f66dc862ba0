"""Responses that GINGER and its baselines gave to the topics of TREC RAG 2024, as released.

Source: lajewska2025, section 6.6; released with Lajewska and Balog, "GINGER: grounded information
nugget-based generation of responses" (SIGIR 2025). The responses of the chain-of-thought baseline
were not released.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from everycell.collections.errors import CollectionError
from everycell.collections.rating_files import read_table

#: Registry keys.
FILES = ("ginger/runs_responses.csv", "ginger/nrg_variants_responses.csv")
_KEYS = ["qid", "query"]


def read_responses(paths: Iterable[Path]) -> pd.DataFrame:
    """Responses of all runs."""
    parts: list[pd.DataFrame] = []
    questions: dict[str, str] = {}
    path_of_run: dict[str, Path] = {}
    for path in paths:
        table = read_table(path, _KEYS, error=CollectionError, separator=";")
        runs = [name for name in table.columns if name not in _KEYS]
        if not runs:
            raise CollectionError(f"{path}: has no run besides {', '.join(_KEYS)}; fetch it again.")
        twice = table["qid"].duplicated()
        if twice.any():
            raise CollectionError(
                f"{path}: topic {table['qid'][twice].iloc[0]!r} occurs twice there; a topic has "
                "one row, so remove the other."
            )
        for topic, question in zip(table["qid"], table["query"], strict=True):
            if questions.setdefault(topic, question) != question:
                raise CollectionError(
                    f"{path}: topic {topic!r} has another question in an earlier file; fetch "
                    "the files again (delete them first)."
                )
        for run in runs:
            if run in path_of_run:
                raise CollectionError(
                    f"{path}: run {run!r} is in {path_of_run[run]} too; give each file once."
                )
            path_of_run[run] = path
            renamed = table.rename(columns={"qid": "topic", "query": "question", run: "text"})
            parts.append(renamed[["topic", "question", "text"]].assign(run=run))
    return pd.concat(parts, ignore_index=True)[["run", "topic", "question", "text"]]
