"""Agreement of judges that score the same responses, each with its own nuggets.

All functions take scores such as those of `everycell.rag.nuggets.nugget_scores`: columns `judge`,
`run`, `topic` and `value`, with one value per judge, run and topic. Judges and runs keep the order
in which they first appear. Rank correlations are Kendall's tau-b, which corrects for ties.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from scipy import stats


def _by_judge(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores with a row per response (run, topic) and a column per judge."""
    is_duplicate = scores.duplicated(["judge", "run", "topic"])
    if is_duplicate.any():
        duplicate = scores[is_duplicate].iloc[0]
        raise ValueError(f"{_describe(duplicate)} has two scores; remove one of them.")
    wide = scores.pivot(index=["run", "topic"], columns="judge", values="value")
    judges = list(scores["judge"].unique())
    if len(judges) < 2:
        raise ValueError(f"The only judge is {judges}; agreement needs at least two judges.")
    full_index = pd.MultiIndex.from_product(
        [scores["run"].unique(), sorted(scores["topic"].unique())]
    )
    wide = wide.reindex(full_index.set_names(["run", "topic"]))[judges]
    gaps = wide.isna().stack()
    if gaps.any():
        run, topic, judge = gaps.idxmax()
        raise ValueError(
            f"Judge {judge!r} has no score for run {run!r} on topic {topic!r}; judges are compared "
            "on the same responses, so add the score or remove the topic."
        )
    return wide


def _describe(row: pd.Series) -> str:
    return f"Judge {row['judge']!r}, run {row['run']!r}, topic {row['topic']!r}"


def judge_agreement(scores: pd.DataFrame) -> pd.DataFrame:
    """Agreement of each pair of judges, on responses, within topics and on systems."""
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
    """Kendall's tau between two judges' rankings of systems, with an interval over topics.

    Resampled topics are noisier than the topics themselves, so their rankings agree less: the
    interval is shifted towards 0, and an agreement of 1 can be its upper bound.
    """
    wide = _by_judge(scores)
    runs, topics = (wide.index.get_level_values(name).nunique() for name in ("run", "topic"))
    if topics < 2:
        raise ValueError("There is only one topic; an interval over topics needs at least two.")
    values = {judge: wide[judge].to_numpy().reshape(runs, topics) for judge in wide}
    rows = []
    for first, second in itertools.combinations(wide.columns, 2):

        def tau(sample: np.ndarray, pair: tuple = (values[first], values[second])) -> float:
            means = (judged[:, sample].mean(axis=1) for judged in pair)
            return stats.kendalltau(*means).statistic

        all_topics = np.arange(topics)
        interval = stats.bootstrap(
            (all_topics,),
            tau,
            vectorized=False,
            n_resamples=resamples,
            method="percentile",
            rng=seed,
        ).confidence_interval
        rows.append((f"{first} and {second}", tau(all_topics), interval.low, interval.high))
    return pd.DataFrame(rows, columns=["judges", "value", "low", "high"])
