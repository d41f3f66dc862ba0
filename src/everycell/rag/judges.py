"""Agreement of judges that score the same responses, each with its own nuggets.

All functions take scores of a measure such as `everycell.rag.nuggets.nugget_scores` gives: columns
`judge`, `run`, `topic` and `value`, each judge with a value for every run and topic. Judges and
runs keep the order in which they first appear. Rank correlations are Kendall's tau-b, which
corrects for ties.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from scipy import stats


def _by_judge(scores: pd.DataFrame) -> pd.DataFrame:
    """Responses (index run, topic) by judges."""
    twice = scores.duplicated(["judge", "run", "topic"])
    if twice.any():
        raise ValueError(
            f"{_describe(scores[twice].iloc[0])} has two scores; a judge scores a response once, "
            "so remove one."
        )
    wide = scores.pivot(index=["run", "topic"], columns="judge", values="value")
    judges = list(scores["judge"].unique())
    if len(judges) < 2:
        raise ValueError(f"The only judge is {judges}; agreement takes two or more.")
    full_index = pd.MultiIndex.from_product(
        [scores["run"].unique(), sorted(scores["topic"].unique())]
    )
    wide = wide.reindex(full_index.set_names(["run", "topic"]))[judges]
    gaps = wide.isna().stack()
    if gaps.any():
        run, topic, judge = gaps.idxmax()
        raise ValueError(
            f"Judge {judge!r} has no score of run {run!r} for topic {topic!r}; judges are compared "
            "on the same responses, so add it or leave the topic out."
        )
    return wide


def _describe(row: pd.Series) -> str:
    return f"Judge {row['judge']!r}, run {row['run']!r}, topic {row['topic']!r}"


def judge_agreement(scores: pd.DataFrame) -> pd.DataFrame:
    """Agreement of each pair of judges, from the level of responses to that of systems."""
    wide = _by_judge(scores)
    systems = wide.groupby("run", sort=False).mean().corr("kendall")
    pearson, tau = wide.corr("pearson"), wide.corr("kendall")
    rows = []
    for first, second in itertools.combinations(wide.columns, 2):
        difference = wide[first] - wide[second]
        within = [
            stats.kendalltau(topic[first], topic[second]).statistic
            for _, topic in wide.groupby("topic")
            if topic[first].nunique() > 1 and topic[second].nunique() > 1
        ]
        agreement = {
            "mean difference": difference.mean(),
            "mean absolute difference": difference.abs().mean(),
            "pearson, responses": pearson.at[first, second],
            "tau, responses": tau.at[first, second],
            "tau in a topic": np.mean(within) if within else np.nan,
            "topics": len(within),
            "tau, systems": systems.at[first, second],
        }
        rows += [(f"{first} and {second}", name, value) for name, value in agreement.items()]
    return pd.DataFrame(rows, columns=["judges", "metric", "value"])


def rank_agreement(scores: pd.DataFrame, *, seed: int, resamples: int = 1000) -> pd.DataFrame:
    """Kendall's tau of the systems' order between judges, with an interval over topics.

    A resample of topics is noisier than the topics themselves, so its orders agree less: the
    interval is shifted towards 0, and an agreement of 1 can be at its very end.
    """
    wide = _by_judge(scores)
    runs, topics = (wide.index.get_level_values(name).nunique() for name in ("run", "topic"))
    if topics < 2:
        raise ValueError("There is 1 topic; an interval over topics takes two or more.")
    values = {judge: wide[judge].to_numpy().reshape(runs, topics) for judge in wide}
    rows = []
    for first, second in itertools.combinations(wide.columns, 2):

        def tau(sample: np.ndarray, pair: tuple = (values[first], values[second])) -> float:
            means = (judged[:, sample].mean(axis=1) for judged in pair)
            return stats.kendalltau(*means).statistic

        everything = np.arange(topics)
        interval = stats.bootstrap(
            (everything,),
            tau,
            vectorized=False,
            n_resamples=resamples,
            method="percentile",
            rng=seed,
        ).confidence_interval
        rows.append((f"{first} and {second}", tau(everything), interval.low, interval.high))
    return pd.DataFrame(rows, columns=["judges", "value", "low", "high"])
