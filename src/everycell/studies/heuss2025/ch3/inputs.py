"""What the scripts of chapter 3 read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.metrics.nfairr import neutrality
from everycell.studies.heuss2025.ch3.trade_offs import RankedList, ranked_lists

#: Rankers of the stand-in, by the name of their files; the first stands in the table.
RANKERS = {"minilm": "MiniLM, logistic head", "cross-encoder": "Cross-encoder"}


def read_lists(
    scores: Path | str,
    counts: Path | str,
    qrels: Path | str,
    neutral_from: float | None = None,
) -> list[RankedList]:
    """Lists of a ranker with the neutrality of each document.

    Parameters
    ----------
    scores : path
        As `scores_by_fold` gives them.
    counts : path
        Group terms of each document, as `count_terms` writes them.
    qrels : path
        Columns ``query``, ``document``, ``relevance``.
    neutral_from : float, optional
        Neutrality from which on a document counts as wholly neutral, the others as not at all; as
        the released code does. Left out, neutralities stay as they are.

    Returns
    -------
    list of RankedList
    """
    counted = pd.read_parquet(counts)
    groups = counted.drop(columns=["document_id", "length"]).to_numpy()
    values = neutrality(groups)
    if neutral_from is not None:
        values = (values >= neutral_from).astype(float)
    neutral = dict(zip(counted["document_id"], values, strict=True))
    return ranked_lists(pd.read_parquet(scores), neutral, pd.read_parquet(qrels))
