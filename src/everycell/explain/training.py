"""Training of a LambdaRank model."""

from __future__ import annotations

import pandas as pd


def train_forest(lists: pd.DataFrame, seed: int) -> str:
    """Train LightGBM's ranker with its defaults: LambdaRank, 100 trees of 31 leaves.

    Parameters
    ----------
    lists : pandas.DataFrame
        Columns ``query``, ``relevance`` (integers from 0) and one per feature; the documents of a
        query are contiguous.
    seed : int
        Random seed, which has no effect with these settings.

    Returns
    -------
    str
        The model as text. Training uses a single thread, so sums are the same in every run.

    Notes
    -----
    Source: heuss2025, section 4.6, and the settings of the released code.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).random(400)
    >>> lists = pd.DataFrame({"query": np.repeat([1, 2], 200), "relevance": x > 0.5, "x": x})
    >>> train_forest(lists, 0).splitlines()[0]
    'tree'
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
