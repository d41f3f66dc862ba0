"""What the scripts of chapter 3 read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.metrics.nfairr import neutrality
from everycell.studies.heuss2025.ch3.trade_offs import RankedList, ranked_lists

#: Rankers of the stand-in, by the name of their files; the first stands in the table.
RANKERS = {"minilm": "MiniLM, logistic head", "cross-encoder": "Cross-encoder"}


def read_lists(scores: Path | str, counts: Path | str, qrels: Path | str) -> list[RankedList]:
    """Lists of a ranker with the neutrality of each document.

    Parameters
    ----------
    scores : path
        As `scores_by_fold` gives them.
    counts : path
        Group terms of each document, as `count_terms` writes them.
    qrels : path
        Columns ``query``, ``document``, ``relevance``.

    Returns
    -------
    list of RankedList
    """
    counted = pd.read_parquet(counts)
    groups = counted.drop(columns=["document_id", "length"]).to_numpy()
    neutral = dict(zip(counted["document_id"], neutrality(groups), strict=True))
    return ranked_lists(pd.read_parquet(scores), neutral, pd.read_parquet(qrels))
