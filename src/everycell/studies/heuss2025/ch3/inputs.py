"""What the scripts of chapter 3 read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.metrics.nfairr import neutrality
from everycell.studies.heuss2025.ch3.trade_offs import RankedList, ranked_lists
from everycell.trec.runs import read_run


def read_lists(
    scores: Path | str | pd.DataFrame,
    counts: Path | str,
    qrels: Path | str,
    neutral_from: float | None = None,
) -> list[RankedList]:
    """Lists of a ranker with the neutrality of each document."""
    table = scores if isinstance(scores, pd.DataFrame) else pd.read_parquet(scores)
    # MS MARCO has millions of passages, its lists some thousands.
    counted = pd.read_parquet(counts)
    counted = counted[counted["document_id"].isin(table["document"])]
    if lacking := set(table["document"]) - set(counted["document_id"]):
        raise ValueError(
            f"{counts} has no passage {min(lacking)!r} ({len(lacking)} are missing): rank the same "
            "collection as the one whose terms were counted."
        )
    groups = counted.drop(columns=["document_id", "length"]).to_numpy()
    values = neutrality(groups)
    if neutral_from is not None:
        values = (values >= neutral_from).astype(float)
    neutral = dict(zip(counted["document_id"], values, strict=True))
    return ranked_lists(table, neutral, pd.read_parquet(qrels))


def read_trained(
    path: Path | str, counts: Path | str, qrels: Path | str, neutral_from: float | None = None
) -> list[RankedList]:
    """Lists of a method that trained a ranker, from its run."""
    run = read_run(Path(path)).rename(columns={"score": "mean"})
    return read_lists(run.assign(deviation=0.0), counts, qrels, neutral_from)
