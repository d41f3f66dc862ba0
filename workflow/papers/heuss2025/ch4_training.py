"""Training of the ranker of Figure 4.4 in chapter 4 of heuss2025."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.base.files import write_atomically
from everycell.jobs.job import Job


def train(job: Job) -> None:
    """Train a LambdaRank model with LightGBM's defaults."""
    model = train_forest(pd.read_parquet(job.input.train), job.params.seed)
    write_atomically(Path(job.output.model), model.encode())


def train_forest(lists: pd.DataFrame, seed: int) -> str:
    """Train LightGBM's ranker with its defaults: LambdaRank, 100 trees of 31 leaves.

    Source: heuss2025, section 4.6, and the settings of the released code, with which the seed has
    no effect. The documents of a query are contiguous. A single thread makes sums the same in every
    run.
    """
    # The import takes a second.
    import lightgbm

    model = lightgbm.LGBMRanker(
        objective="lambdarank",
        metric="ndcg",
        n_jobs=1,
        deterministic=True,
        force_row_wise=True,
        random_state=seed,
        verbose=-1,
    )
    sizes = lists.groupby("query", sort=False).size()
    vectors = lists.drop(columns=["query", "relevance"]).to_numpy(dtype=float)
    model.fit(vectors, lists["relevance"].to_numpy(dtype=float), group=sizes.to_numpy())
    return model.booster_.model_to_string()
