"""Recovery of planted effects by the methods of chapter 2 of abolghasemi2026."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from everycell.retrieval.encoded import Encoded
from everycell.retrieval.interpolation import Scaling
from papers.abolghasemi2026.ch2_combinations import tuned_values
from papers.abolghasemi2026.ch2_planted import (
    CONTROLS,
    EFFECTS,
    SHORT,
    UNNAMED_SHORT,
    UNNAMED_WORDS,
)
from papers.abolghasemi2026.ch2_quality import mean_with_interval
from papers.abolghasemi2026.ch2_runs import RankingRuns

#: Checks with the two rows of Table 2.1 whose nDCG is compared (first less second). The queries
#: contain no names, since no model knows them.
GAINS: Sequence[tuple[str, str, str]] = (
    ("expansion over none, m={0}", "i", "h"),
    ("expansion over none, m={1}", "j", "h"),
    ("TILDE over the bound for word matching", "e", "p"),
    ("cross-encoder over the bound for word matching", "k", "p"),
    ("MTFT over the bound for word matching", "l", "p"),
    ("MTFT over the bound for concept matching", "l", "q"),
    ("cross-encoder over BM25", "k", "a"),
    ("MTFT over BM25", "l", "a"),
)
#: Rows of rankers that are combined with BM25 (row a).
COMBINED: Mapping[str, str] = {"e": "TILDE", "h": "TILDEv2", "k": "cross-encoder"}


def weight_checks(encoded: Mapping[str, Encoded], mentions: pd.DataFrame) -> pd.DataFrame:
    """Rank correlation of planted and learned weights over the cues.

    `encoded` must have each term as a query of the same name. The learned weight of a cue is the
    mean score of the terms that follow it, after subtracting each term's mean over all documents,
    so that only the effect of the context remains. The 95 % intervals use Fisher's z with the
    standard error of Bonett and Wright (2000). Columns of the result: `check`, `task`, `metric`,
    `value`.
    """
    rows = []
    for ranker, collection in encoded.items():
        pairs = mentions.rename(columns={"term": "query", "document_id": "document"})
        learned_weights = mentions.assign(score=collection.score(pairs)["score"].to_numpy())
        learned_weights["score"] -= learned_weights.groupby("term")["score"].transform("mean")
        for task in (EFFECTS, CONTROLS["weights"]):
            by_cue = (
                learned_weights[learned_weights["task"] == task]
                .groupby("cue")[["weight", "score"]]
                .mean()
            )
            correlation = stats.spearmanr(by_cue["weight"], by_cue["score"]).statistic
            spread = 1.96 * np.sqrt((1 + correlation**2 / 2) / (len(by_cue) - 3))
            # Fisher's z of a perfect correlation is infinite.
            centre = np.arctanh(min(correlation, 1 - 1e-9))
            interval = {"low": np.tanh(centre - spread), "high": np.tanh(centre + spread)}
            check = f"{ranker}: rank correlation with planted weights"
            rows += _rows(check, task, {"value": correlation} | interval)
    return pd.DataFrame(rows)


def gain_checks(
    values: Mapping[str, Mapping[str, pd.DataFrame]], expansion: Sequence[int], seed: int
) -> pd.DataFrame:
    """Differences in nDCG of `GAINS`, with intervals; columns as in `weight_checks`.

    Expansions also get the share of the planted gap that they close. The gap is the difference in
    nDCG between ranking by shared concepts (row q) and by shared words (row p).
    """
    rows = []
    for check, row, baseline in GAINS:
        for task in (CONTROLS["names"], UNNAMED_WORDS):
            ndcg = {name: frame["nDCG"] for name, frame in values[task].items()}
            gain = mean_with_interval(ndcg[row] - ndcg[baseline], seed)
            if check.startswith("expansion") and task != UNNAMED_WORDS:
                gap = (ndcg["q"] - ndcg["p"]).mean()
                gain["share of the planted gap"] = gain["value"] / gap
            rows += _rows(f"nDCG: {check.format(*expansion)}", task, gain)
    return pd.DataFrame(rows)


def combination_checks(runs: RankingRuns, scaling: Scaling, seed: int) -> pd.DataFrame:
    """Gain of interpolating BM25 and a ranker, on short queries.

    Columns as in `weight_checks`; values are differences in nDCG from the better single system.
    """
    rows = []
    for row, ranker in COMBINED.items():
        for task in (SHORT, UNNAMED_SHORT):
            pairing = runs.pairing(task, "a", row, scaling)
            tuned = tuned_values({task: pairing})[0][task]["nDCG"]
            better_single = max(
                (pairing.test.topic_values(alpha)["nDCG"] for alpha in (0.0, 1.0)),
                key=pd.Series.mean,
            )
            check = f"nDCG: BM25 with {ranker} over the better alone"
            rows += _rows(check, task, mean_with_interval(tuned - better_single, seed))
    return pd.DataFrame(rows)


def _rows(check: str, task: str, values: Mapping[str, float]) -> list[dict[str, object]]:
    return [
        {"check": check, "task": task, "metric": metric, "value": float(value)}
        for metric, value in values.items()
    ]
