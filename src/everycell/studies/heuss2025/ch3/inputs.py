"""What the scripts of chapter 3 read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from everycell.collections.errors import CollectionError
from everycell.collections.rating_files import read_table, row_in_file
from everycell.engine.untrusted import in_quotes
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


def read_uncertain_scores(path: Path) -> pd.DataFrame:
    """Scores of a ranker with their standard deviations, from the authors' CSV."""
    names = {
        "qid": "query",
        "docid": "document",
        "mean_score": "mean",
        "std_score": "deviation",
    }
    table = read_table(path, list(names), error=CollectionError)[list(names)]
    for name, smallest in (("mean_score", -np.inf), ("std_score", 0.0)):
        numbers = pd.to_numeric(table[name], errors="coerce")
        wrong = ~np.isfinite(numbers) | (numbers < smallest)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            allowed = "a finite number" + " of 0 or more" * (smallest == 0)
            raise CollectionError(
                f"{row_in_file(path, row)}: {name} is {in_quotes(table[name].iloc[row])}, expected "
                f"{allowed}; correct it or unpack the published file again."
            )
        table[name] = numbers
    twice = table.duplicated(["qid", "docid"])
    if twice.any():
        row = int(np.flatnonzero(twice)[0])
        raise CollectionError(
            f"{row_in_file(path, row)}: this qid and docid occur before; remove one of the rows."
        )
    return table.rename(columns=names)


def read_trained(
    path: Path | str, counts: Path | str, qrels: Path | str, neutral_from: float | None = None
) -> list[RankedList]:
    """Lists of a method that trained a ranker, from its run."""
    run = read_run(Path(path)).rename(columns={"score": "mean"})
    return read_lists(run.assign(deviation=0.0), counts, qrels, neutral_from)
