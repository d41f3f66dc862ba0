"""Whether the methods recover the planted effects in the collection of concepts, and no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from everycell.collections.planted_concepts import (
    CONTROLS,
    EFFECTS,
    SHORT,
    UNNAMED_SHORT,
    UNNAMED_WORDS,
)
from everycell.retrieval.encoded import Encoded
from everycell.retrieval.interpolation import Scaling
from everycell.studies.abolghasemi2026.ch2.interpolation import tuned_values
from everycell.studies.abolghasemi2026.ch2.quality import mean_with_interval
from everycell.studies.abolghasemi2026.ch2.ranking_runs import RankingRuns

#: Check and the rows of Table 2.1 whose nDCG is subtracted from each other. Queries have no names,
#: which no model knows; in the control each concept has one term.
GAINS: Sequence[tuple[str, str, str]] = (
    ("expansion over none, m={0}", "i", "h"),
    ("expansion over none, m={1}", "j", "h"),
    ("TILDE over what words reach", "e", "p"),
    ("cross-encoder over what words reach", "k", "p"),
    ("MTFT over what words reach", "l", "p"),
    ("MTFT over what concepts reach", "l", "q"),
    ("cross-encoder over BM25", "k", "a"),
    ("MTFT over BM25", "l", "a"),
)
#: Rows of rankers that are combined with BM25 (row a).
COMBINED: Mapping[str, str] = {"e": "TILDE", "h": "TILDEv2", "k": "cross-encoder"}


def weight_checks(encoded: Mapping[str, Encoded], mentions: pd.DataFrame) -> pd.DataFrame:
    """Rank correlation over the cues of planted weights and of those that rankers learned.

    `mentions` are those of the collection; each term is a query of `encoded` under its own name.
    The learned weight of a cue is the mean score of the terms behind it, less the mean of each term
    in all documents: what is left is the context's. Intervals of 95 % by Fisher's z with the
    standard error of Bonett and Wright (2000). Columns of the result: `check`, `task`, `metric`,
    `value`.
    """
    rows = []
    for ranker, one in encoded.items():
        pairs = mentions.rename(columns={"term": "query", "document_id": "document"})
        learned = mentions.assign(score=one.score(pairs)["score"].to_numpy())
        learned["score"] -= learned.groupby("term")["score"].transform("mean")
        for task in (EFFECTS, CONTROLS["weights"]):
            by_cue = learned[learned["task"] == task].groupby("cue")[["weight", "score"]].mean()
            correlation = stats.spearmanr(by_cue["weight"], by_cue["score"]).statistic
            spread = 1.96 * np.sqrt((1 + correlation**2 / 2) / (len(by_cue) - 3))
            # A perfect correlation has no z.
            centre = np.arctanh(min(correlation, 1 - 1e-9))
            interval = {"low": np.tanh(centre - spread), "high": np.tanh(centre + spread)}
            check = f"{ranker}: rank correlation with planted weights"
            rows += _rows(check, task, {"value": correlation} | interval)
    return pd.DataFrame(rows)


def gain_checks(
    values: Mapping[str, Mapping[str, pd.DataFrame]], expansion: Sequence[int], seed: int
) -> pd.DataFrame:
    """Differences in nDCG with intervals, of `GAINS`; columns as in `weight_checks`.

    Beside an expansion stands the share of the planted gap that it closes: the gap is from the
    scores of shared words (row p) to those of shared concepts (row q).
    """
    rows = []
    for check, row, other in GAINS:
        for task in (CONTROLS["names"], UNNAMED_WORDS):
            ndcg = {name: frame["nDCG"] for name, frame in values[task].items()}
            gain = mean_with_interval(ndcg[row] - ndcg[other], seed)
            if check.startswith("expansion") and task != UNNAMED_WORDS:
                gap = (ndcg["q"] - ndcg["p"]).mean()
                gain["share of the planted gap"] = gain["value"] / gap
            rows += _rows(f"nDCG: {check.format(*expansion)}", task, gain)
    return pd.DataFrame(rows)


def combination_checks(runs: RankingRuns, scaling: Scaling, seed: int) -> pd.DataFrame:
    """What BM25 adds to a ranker under one tuned weight, on short queries with names and without.

    Columns as in `weight_checks`; differences in nDCG to the better of the two alone.
    """
    rows = []
    for row, ranker in COMBINED.items():
        for task in (SHORT, UNNAMED_SHORT):
            both = runs.pairing(task, "a", row, scaling)
            tuned = tuned_values({task: both})[0][task]["nDCG"]
            alone = max((both.test.at(alpha)["nDCG"] for alpha in (0.0, 1.0)), key=pd.Series.mean)
            check = f"nDCG: BM25 with {ranker} over the better alone"
            rows += _rows(check, task, mean_with_interval(tuned - alone, seed))
    return pd.DataFrame(rows)


def _rows(check: str, task: str, values: Mapping[str, float]) -> list[dict[str, object]]:
    return [
        {"check": check, "task": task, "metric": metric, "value": float(value)}
        for metric, value in values.items()
    ]
