"""Interpolation of two runs, with tuned, oracle and noise-oracle weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from everycell.engine.arrays import FloatArray, IntArray
from everycell.retrieval.evaluation import Choice, parse_measures
from everycell.retrieval.interpolation import (
    ALPHAS,
    Scaling,
    first_best,
    interpolate,
    sweep,
    z_scores,
)
from everycell.retrieval.judged_lists import JudgedLists, judge
from everycell.retrieval.oracle import noise_oracle, oracle
from everycell.statistics.hypothesis_tests import t_tests
from everycell.trec.runs import check_run

Candidates = Literal["either", "both"]


@dataclass(frozen=True)
class InterpolatedRuns:
    """Results of interpolating two runs, as returned by :func:`interpolate_runs`.

    Attributes
    ----------
    means : pandas.DataFrame
        One row per measure and ranking: ``first``, ``second``, ``tuned``, ``oracle`` and ``noise
        oracle``. Columns: ``measure``, ``ranking``, ``value`` (mean over topics), ``alpha`` (mean
        weight of the first run; for the noise oracle, of the run that is mixed with noise),
        ``gain`` over the better of the two runs, ``sd`` (standard deviation of the noise oracle's
        gain over the seeds) and ``p`` (paired two-sided t-test against the better run, uncorrected;
        missing for the noise oracle).
    by_topic : pandas.DataFrame
        Index ``query``. Columns: ``M first``, ``M second``, ``M tuned``, ``M oracle`` and ``M
        oracle alpha`` for each measure M, and ``tuned alpha``.
    run : pandas.DataFrame
        The tuned run: columns ``query``, ``document``, ``score``.
    """

    means: pd.DataFrame
    by_topic: pd.DataFrame
    run: pd.DataFrame


def interpolate_runs(
    first: pd.DataFrame,
    second: pd.DataFrame,
    qrels: pd.DataFrame,
    measures: Sequence[str] = ("AP", "nDCG"),
    *,
    folds: int = 5,
    seed: int = 0,
    noise_seeds: int = 20,
    candidates: Candidates = "either",
    over: Scaling = "query",
    alphas: Sequence[float] = ALPHAS,
    relevance_level: int = 1,
    missing_topics: Choice = "error",
) -> InterpolatedRuns:
    """Interpolate the scores of two runs, with weights from cross-validation and from an oracle.

    For each measure, the noise oracle interpolates the better run with random numbers. Like the
    oracle, it chooses the best weight of each topic, so its gain comes from this choice alone.
    """
    if missing_topics not in ("error", "drop"):
        raise ValueError(f"missing_topics is {missing_topics!r}: it must be 'error' or 'drop'.")
    if noise_seeds < 1:
        raise ValueError(f"noise_seeds is {noise_seeds}: it must be 1 or more.")
    names = [str(measure) for measure in measures]
    parsed = parse_measures(names, relevance_level)
    if len(set(parsed.values())) < len(names):
        raise ValueError(f"The measures are {list(measures)}: give each measure only once.")
    lists, scores = _judge_candidates(
        check_run(first), check_run(second), qrels, candidates, relevance_level, missing_topics
    )
    parts = _assign_folds(len(lists.queries), folds, seed)
    results = sweep(lists, *scores, names, alphas=alphas, over=over)
    weights = np.asarray(results.alphas)
    tuned_index = np.empty(len(lists.queries), dtype=np.intp)
    target = results.measure_values(names[0])
    for part in range(folds):
        tuned_index[parts == part] = first_best(target[:, parts != part].mean(axis=1))
    alphas_by_topic = weights[tuned_index]
    single_runs = sweep(lists, *scores, names, alphas=[0.0, 1.0], over=over)
    rows, topics = [], {}
    for measure in names:
        best = oracle(results, measure)
        values = {
            "first": (single_runs.measure_values(measure)[1], 1.0),
            "second": (single_runs.measure_values(measure)[0], 0.0),
            "tuned": (
                results.measure_values(measure)[tuned_index, range(len(tuned_index))],
                alphas_by_topic.mean(),
            ),
            "oracle": (best["value"].to_numpy(), best["alpha"].mean()),
        }
        # If both runs are equally good, max returns the first.
        better = max(("first", "second"), key=lambda name: values[name][0].mean())
        for ranking, (value, alpha) in values.items():
            rows.append(
                {"measure": measure, "ranking": ranking, "value": value.mean(), "alpha": alpha}
                | {"gain": value.mean() - values[better][0].mean(), "sd": np.nan}
                | {"p": np.nan if ranking == better else _p_value(value, values[better][0])}
            )
            topics[f"{measure} {ranking}"] = value
        topics[f"{measure} oracle alpha"] = best["alpha"].to_numpy()
        better_scores = scores[0] if better == "first" else scores[1]
        control = noise_oracle(
            lists, better_scores, [measure], alphas=alphas, over=over, seeds=range(noise_seeds)
        )
        rows.append(
            {
                "measure": measure,
                "ranking": "noise oracle",
                "value": control["value"].mean(),
                "alpha": control["alpha_mean"].mean(),
                "gain": control["gain"].mean(),
                "sd": control["gain"].std() if noise_seeds > 1 else np.nan,
                "p": np.nan,
            }
        )
    by_topic = pd.DataFrame(topics, index=lists.queries.rename("query"))
    return InterpolatedRuns(
        pd.DataFrame(rows),
        by_topic.assign(**{"tuned alpha": alphas_by_topic}),
        lists.run(_tuned_scores(lists, scores, alphas_by_topic, over)),
    )


def _judge_candidates(
    first: pd.DataFrame,
    second: pd.DataFrame,
    qrels: pd.DataFrame,
    candidates: Candidates,
    relevance_level: int,
    missing_topics: Choice,
) -> tuple[JudgedLists, tuple[FloatArray, FloatArray]]:
    """Candidate lists of the topics that are in both runs, and the scores of each run."""
    if candidates not in ("either", "both"):
        raise ValueError(f"candidates is {candidates!r}: it must be 'either' or 'both'.")
    pairs = [run[["query", "document"]] for run in (first, second)]
    if candidates == "both":
        listed = pairs[0].merge(pairs[1])
    else:
        listed = pd.concat(pairs, ignore_index=True).drop_duplicates()
        common_topics = set(first["query"]) & set(second["query"])
        listed = listed[listed["query"].isin(common_topics)]
    if listed.empty:
        raise ValueError(
            "The two runs have no topic, or no document of a topic, in common: the first begins "
            f"with {first.iloc[0, :2].tolist()}, the second with {second.iloc[0, :2].tolist()}; "
            "give runs for the same topics and collection."
        )
    lists = judge(
        listed,
        qrels,
        relevance_level=relevance_level,
        missing_topics=missing_topics,
        without_relevant="zero",
    )
    first_scores, second_scores = (
        lists.scores(_fill_missing_scores(run, listed), outside="drop") for run in (first, second)
    )
    return lists, (first_scores, second_scores)


def _fill_missing_scores(run: pd.DataFrame, listed: pd.DataFrame) -> pd.DataFrame:
    """Scores of the candidates; the run's lowest score for the topic replaces missing ones."""
    merged = listed.merge(run, on=["query", "document"], how="left")
    lowest = merged["query"].map(run.groupby("query")["score"].min())
    return merged.assign(score=merged["score"].fillna(lowest))


def _assign_folds(topics: int, folds: int, seed: int) -> IntArray:
    """Random fold of each topic; the folds have nearly equal sizes."""
    if not 2 <= folds <= topics:
        raise ValueError(
            f"folds is {folds} for {topics} topics: give at least 2, and at most one per topic."
        )
    return np.random.default_rng(seed).permutation(np.arange(topics) % folds)


def _p_value(first: FloatArray, second: FloatArray) -> float:
    # Rounded, because the last bits of equal values depend on the order of summation.
    samples = {"a": first.round(12), "b": second.round(12)}
    return float(t_tests(samples, correction="none")["p"].iloc[0])


def _tuned_scores(
    lists: JudgedLists, scores: tuple[FloatArray, FloatArray], alphas: FloatArray, over: Scaling
) -> FloatArray:
    """Weighted sums with one weight per topic; the original scores if it is 0 or 1."""
    scaled = [z_scores(values, lists.listed, over=over) for values in scores]
    sums = np.zeros(lists.listed.shape)
    for alpha in np.unique(alphas):
        rows = alphas == alpha
        sums[rows] = interpolate(scaled[0][rows], scaled[1][rows], [float(alpha)])[0]
    sums[alphas == 1] = scores[0][alphas == 1]
    sums[alphas == 0] = scores[1][alphas == 0]
    return sums
