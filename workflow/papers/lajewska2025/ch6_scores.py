r"""Scores of responses, agreement of judges, and tests, for chapter 6 of lajewska2025.

A nugget is a fact that a good answer contains. It is *vital* (required) or *okay* (optional), and a
response supports it fully, partially or not at all. All six scores are weighted means,

.. math:: \frac{\sum_i w(\mathrm{importance}_i)\, g(\mathrm{support}_i)}
               {\sum_i w(\mathrm{importance}_i)},

========  ==============  =============  =====================
score     w(vital)        w(okay)        g(partial support)
========  ==============  =============  =====================
V_strict  1               0              0
V         1               0              1/2
A_strict  1               1              0
A         1               1              1/2
W_strict  1               1/2            0
W         1               1/2            1/2
========  ==============  =============  =====================

with g = 1 for full support and 0 for none. Each lies in [0, 1], a strict score is never above its
lenient variant, and W lies between V and A.

Functions of agreement take such scores with one value per judge, run and topic. Judges and runs
keep the order in which they first appear. Rank correlations are Kendall's tau-b, which corrects for
ties.

Source: lajewska2025, section 6.4.1 (L1772), has V_strict; the others are from Pradeep et al.,
"Initial nugget evaluation results for the TREC 2024 RAG track with the AutoNuggetizer framework"
(arXiv 2411.09607).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from everycell.rag.nugget_responses import stems
from everycell.retrieval.significance import compare_paired_and_unpaired
from papers.lajewska2025.ch6_labels import JUDGES, PARTS, SYSTEMS, NuggetLabels

#: Name of the mean of the judges in Tables 6.7 and 6.8.
MEAN = "avg LLM"
#: Run -> its name in Table 6.7, or in Table 6.8 if only that table has it.
NAMES = {run: f"GINGER-top20, {' + '.join(parts)}" for parts, run in PARTS.items()} | {
    run: system for system, run in SYSTEMS.items()
}
TEST_DECIMALS = {
    "difference": 3,
    "p_paired": 4,
    "p_unpaired": 4,
    "p_paired_corrected": 4,
    "p_unpaired_corrected": 4,
}


def name_scores(
    labels: NuggetLabels, nuggets: pd.DataFrame, measure: str = "V_strict"
) -> pd.DataFrame:
    """Score of each response by each judge, with the published names of judges and systems."""
    unknown = set(labels.responses["run"]) - set(NAMES)
    if unknown:
        raise ValueError(
            f"The labels have the run {min(unknown)!r}, expected only runs of Tables 6.7 and 6.8 "
            f"({', '.join(NAMES)}). Remove the run."
        )
    scores = nugget_scores(nuggets, labels.responses, measure)
    published_names = {judge: name for name, judge in JUDGES.items()}
    scores = scores.assign(judge=scores["judge"].map(published_names), run=scores["run"].map(NAMES))
    order = list(dict.fromkeys([*JUDGES, *SYSTEMS, *NAMES.values()]))
    return scores.sort_values(
        ["judge", "run"], key=lambda names: names.map(order.index), kind="stable"
    )


def add_mean(scores: pd.DataFrame) -> pd.DataFrame:
    """Append the mean of the judges for each response, as one more judge."""
    mean = scores.groupby(["run", "topic"], sort=False, as_index=False)["value"].mean()
    return pd.concat([scores, mean.assign(judge=MEAN)], ignore_index=True)


def mean_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean over topics per judge and run."""
    return scores.groupby(["judge", "run"], sort=False, as_index=False)["value"].mean()


def compare_runs(scores: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Differences a - b of pairs of runs of one judge, with two t-tests (Bonferroni over pairs).

    The thesis does not specify its test; both runs have the same topics, so a paired test fits.
    """
    values = scores.pivot(index="topic", columns="run", values="value")
    tests = compare_paired_and_unpaired(values, pairs)
    return tests.assign(difference=tests["mean_a"] - tests["mean_b"])


def change_effects(scores: pd.DataFrame, pairs: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """Effect of each change on the mean of a judge, with 95 % intervals over topics."""
    values = scores.pivot(index="topic", columns="run", values="value")
    rows = []
    for name, (run, baseline) in pairs.items():
        test = stats.ttest_rel(values[run], values[baseline])
        interval = test.confidence_interval(0.95)
        difference = (values[run] - values[baseline]).mean()
        numbers = (difference, interval.low, interval.high, test.pvalue)
        rows += [
            (name, metric, float(value))
            for metric, value in zip(("difference", "low", "high", "p"), numbers, strict=True)
        ]
    return pd.DataFrame(rows, columns=["change", "metric", "value"])


#: Columns that identify a response of a judge, and a nugget of a judge.
RESPONSE = ("judge", "run", "topic")
NUGGET = ("judge", "topic", "nugget")


class NuggetMeasure(NamedTuple):
    """Weight of a nugget by its importance, and credit by its support; 0 for other labels."""

    weight: Mapping[str, float]
    credit: Mapping[str, float]


_STRICT = {"support": 1.0}
_LENIENT = {"support": 1.0, "partial_support": 0.5}
_VITAL, _ALL, _WEIGHTED = {"vital": 1.0}, {"vital": 1.0, "okay": 1.0}, {"vital": 1.0, "okay": 0.5}
MEASURES: Mapping[str, NuggetMeasure] = {
    "V_strict": NuggetMeasure(_VITAL, _STRICT),
    "V": NuggetMeasure(_VITAL, _LENIENT),
    "A_strict": NuggetMeasure(_ALL, _STRICT),
    "A": NuggetMeasure(_ALL, _LENIENT),
    "W_strict": NuggetMeasure(_WEIGHTED, _STRICT),
    "W": NuggetMeasure(_WEIGHTED, _LENIENT),
}


def nugget_scores(
    nuggets: pd.DataFrame, responses: pd.DataFrame, measure: str = "V_strict"
) -> pd.DataFrame:
    """Score responses by their nuggets."""
    weight, credit = MEASURES[measure]
    keys = list(RESPONSE)
    # Floats even if there are no nuggets.
    weights = nuggets["importance"].map(weight).astype(float).fillna(0.0)
    earned = weights * nuggets["support"].map(credit).astype(float).fillna(0.0)
    sums = nuggets[keys].assign(weight=weights, earned=earned).groupby(keys).sum()
    index = pd.MultiIndex.from_frame(responses[keys])
    sums = sums.reindex(index, fill_value=0.0)
    value = sums["earned"] / sums["weight"].where(sums["weight"] > 0)
    return responses[keys].assign(value=value.fillna(0.0).to_numpy())


def lowercase_importance(nuggets: pd.DataFrame) -> pd.DataFrame:
    """Convert labels of importance to lower case.

    The authors' code is case-sensitive: the label "Vital" has weight 0.
    """
    return nuggets.assign(importance=nuggets["importance"].str.lower())


def unify_importance(nuggets: pd.DataFrame) -> pd.DataFrame:
    """Give each nugget the same importance in all runs: its judge's most frequent label.

    In a tie, the nugget is vital. The authors determined importance separately for each run, so
    that two systems may be scored on different vital nuggets.
    """
    labels = nuggets["importance"].str.lower()
    vital = (labels == "vital").astype(float).where(labels != "")
    share = vital.groupby([nuggets[name] for name in NUGGET]).transform("mean")
    importance = (share >= 0.5).map({True: "vital", False: "okay"}).where(share.notna(), "")
    return nuggets.assign(importance=importance)


def _by_judge(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores with a row per response (run, topic) and a column per judge."""
    wide = scores.pivot(index=["run", "topic"], columns="judge", values="value")
    judges = list(scores["judge"].unique())
    full_index = pd.MultiIndex.from_product(
        [scores["run"].unique(), sorted(scores["topic"].unique())]
    )
    return wide.reindex(full_index.set_names(["run", "topic"]))[judges]


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


# Each list is compared with several others.
@lru_cache(maxsize=100_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(stems(text))


def covered_share(facts: Sequence[str], other_facts: Sequence[str]) -> float:
    """Share of facts with at least half of their words in one other fact."""
    candidates = [_words(text) for text in other_facts]
    stems_by_fact = [words for words in map(_words, facts) if words]
    if not stems_by_fact:
        return float("nan")
    return sum(
        any(2 * len(words & other) >= len(words) for other in candidates) for words in stems_by_fact
    ) / len(stems_by_fact)
