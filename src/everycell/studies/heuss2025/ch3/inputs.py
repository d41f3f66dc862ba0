"""Inputs of chapter 3: ranked lists, and scores with standard deviations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from everycell.base.csv_files import read_table, row_number
from everycell.base.errors import DataError
from everycell.metrics.nfairr import neutrality
from everycell.studies.heuss2025.ch3.trade_offs import RankedList, ranked_lists
from everycell.trec.runs import read_run


def read_lists(
    scores: Path | str | pd.DataFrame,
    counts: Path | str,
    qrels: Path | str,
    neutral_from: float | None = None,
) -> list[RankedList]:
    """Lists of a ranker, with the neutrality of each document."""
    table = scores if isinstance(scores, pd.DataFrame) else pd.read_parquet(scores)
    # MS MARCO has millions of passages, but its lists have only thousands.
    term_counts = pd.read_parquet(counts)
    term_counts = term_counts[term_counts["document_id"].isin(table["document"])]
    if missing := set(table["document"]) - set(term_counts["document_id"]):
        raise ValueError(
            f"{counts} does not have the passage {min(missing)!r} ({len(missing)} are missing); "
            "rank the collection whose terms were counted."
        )
    groups = term_counts.drop(columns=["document_id", "length"]).to_numpy()
    values = neutrality(groups)
    if neutral_from is not None:
        values = (values >= neutral_from).astype(float)
    neutral = dict(zip(term_counts["document_id"], values, strict=True))
    return ranked_lists(table, neutral, pd.read_parquet(qrels))


def read_uncertain_scores(path: Path) -> pd.DataFrame:
    """Scores of a ranker with their standard deviations, from the authors' CSV."""
    names = {
        "qid": "query",
        "docid": "document",
        "mean_score": "mean",
        "std_score": "deviation",
    }
    table = read_table(path, list(names))[list(names)]
    for name, smallest in (("mean_score", -np.inf), ("std_score", 0.0)):
        numbers = pd.to_numeric(table[name], errors="coerce")
        invalid = ~np.isfinite(numbers) | (numbers < smallest)
        if invalid.any():
            row = int(np.flatnonzero(invalid)[0])
            expected = "a finite number" + " of 0 or more" * (smallest == 0)
            raise DataError(
                path,
                f"row {row_number(path, row)}",
                name,
                table[name].iloc[row],
                expected=expected,
                fix="correct it or unpack the published file again",
            )
        table[name] = numbers
    repeated = table.duplicated(["qid", "docid"])
    if repeated.any():
        row = int(np.flatnonzero(repeated)[0])
        raise DataError(
            path, f"row {row_number(path, row)}", fault="repeats an earlier row", fix="remove one"
        )
    return table.rename(columns=names)


def read_trained(
    path: Path | str, counts: Path | str, qrels: Path | str, neutral_from: float | None = None
) -> list[RankedList]:
    """Lists of a method that trains a ranker, from a run."""
    run = read_run(Path(path)).rename(columns={"score": "mean"})
    return read_lists(run.assign(deviation=0.0), counts, qrels, neutral_from)
