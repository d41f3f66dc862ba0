"""Interpolation of two runs, with tuned, oracle and noise-oracle weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Literal

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.errors import DataError
from everycell.retrieval.evaluation import Choice, evaluate, parse_measures
from everycell.retrieval.interpolation import (
    ALPHAS,
    Scaling,
    Sweep,
    first_best,
    interpolate,
    noise_oracle,
    oracle,
    sweep,
    z_scores,
)
from everycell.retrieval.judged_lists import JudgedLists, judge
from everycell.statistics.hypothesis_tests import t_tests
from everycell.trec.runs import check_qrels, check_run

Candidates = Literal["either", "both"]
#: Score of a document that only the other run has: the run's lowest for the topic, or a number.
MissingScore = Literal["lowest"] | float


@dataclass(frozen=True)
class InterpolatedRuns:
    """Results of interpolating two runs, as returned by :func:`interpolate_runs`.

    `means` has a row per measure and ranking: ``first`` and ``second`` (each run alone), ``tuned``,
    ``oracle`` and ``noise oracle``. Its ``alpha`` is the mean weight of the first run or, for the
    noise oracle, of the run that is mixed with noise; ``gain`` is over the better of the two runs;
    ``sd`` is the standard deviation of the noise oracle's gain over the seeds; ``p`` is from a
    paired two-sided t-test against the better run, uncorrected. `run` is the tuned run.
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
    missing_score: MissingScore = "lowest",
    over: Scaling = "query",
    alphas: Sequence[float] = ALPHAS,
    relevance_level: int = 1,
    missing_topics: Choice = "error",
    track: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> InterpolatedRuns:
    """Interpolate the scores of two runs, with weights from cross-validation and from an oracle.

    At the weights 1 and 0, the ranking is the first or the second run alone, whatever the
    `candidates`. At other weights, the candidates of a topic are the documents of either run or of
    both. The `missing_score` of a document that only the other run has is the run's lowest score
    for the topic, or a number that is not above it; scores are standardised afterwards. If the
    two runs have no document of a topic in common, "both" leaves its list empty.

    For each measure, the noise oracle interpolates the better run with random numbers for the same
    documents. Like the oracle, it chooses the best weight of each topic, so its gain comes from
    this choice alone. These repetitions take most of the time: `track` receives their seeds and
    yields them again, for example to show progress.
    """
    choices = {
        "missing_topics": (missing_topics, ("error", "drop")),
        "candidates": (candidates, ("either", "both")),
        "over": (over, ("query", "run")),
    }
    for name, (value, allowed) in choices.items():
        if value not in allowed:
            raise DataError(column=name, value=value, expected=" or ".join(map(repr, allowed)))
    if noise_seeds < 1:
        raise DataError(column="noise_seeds", value=noise_seeds, expected="1 or more")
    weights = np.asarray(alphas, dtype=np.float64)
    in_range = weights.ndim == 1 and len(weights) and 0 <= weights.min() and weights.max() <= 1
    if not in_range or (np.diff(weights) <= 0).any():
        raise DataError(
            column="alphas", value=alphas, expected="one or more weights from 0 to 1, ascending"
        )
    is_number = isinstance(missing_score, Real) and not isinstance(missing_score, bool)
    if missing_score != "lowest" and not (is_number and np.isfinite(missing_score)):
        raise DataError(
            column="missing_score", value=missing_score, expected="'lowest' or a finite number"
        )
    names = [str(measure) for measure in measures]
    parsed = parse_measures(names, relevance_level)
    if len(set(parsed.values())) < len(names):
        raise DataError(column="measures", value=names, expected="each measure only once")
    runs = {"first": check_run(first), "second": check_run(second)}
    qrels = check_qrels(qrels)
    common_topics = _select_topics(runs, qrels, missing_topics)
    qrels = qrels[qrels["query"].isin(common_topics)]
    runs = {name: run[run["query"].isin(common_topics)] for name, run in runs.items()}
    single_runs = {
        name: evaluate(run, qrels, names, relevance_level=relevance_level)
        for name, run in runs.items()
    }
    lists = _judge(_candidates(runs, candidates), qrels, relevance_level)
    scores = {name: _scores(lists, run, name, missing_score) for name, run in runs.items()}
    parts = _assign_folds(len(lists.queries), folds, seed)
    results = _replace_ends(
        sweep(lists, scores["first"], scores["second"], names, alphas=alphas, over=over),
        single_runs,
    )
    weights = np.asarray(results.alphas)
    tuned_index = np.empty(len(lists.queries), dtype=np.intp)
    target = results.measure_values(names[0])
    for part in range(folds):
        tuned_index[parts == part] = first_best(target[:, parts != part].mean(axis=1))
    alphas_by_topic = weights[tuned_index]
    rows, topics = [], {}
    for measure in names:
        best = oracle(results, measure)
        values = {
            "first": (single_runs["first"][measure].to_numpy(), 1.0),
            "second": (single_runs["second"][measure].to_numpy(), 0.0),
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
        own_lists = _judge(runs[better][["query", "document"]], qrels, relevance_level)
        control = noise_oracle(
            own_lists,
            own_lists.scores(runs[better]),
            [measure],
            alphas=alphas,
            over=over,
            seeds=track(range(noise_seeds)),
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
        _tuned_run(runs, lists, scores, alphas_by_topic, over),
    )


def _select_topics(
    runs: Mapping[str, pd.DataFrame], qrels: pd.DataFrame, missing_topics: Choice
) -> pd.Index:
    """Topics of the qrels that both runs answer."""
    topics = pd.Index(qrels["query"].unique(), name="query")
    in_both = np.ones(len(topics), dtype=bool)
    for name, run in runs.items():
        in_run = topics.isin(run["query"].unique())
        if missing_topics == "error" and in_run.any() and not in_run.all():
            raise DataError(
                f"The {name} run",
                fault=f"has no documents for topic {topics[~in_run][0]!r} of the qrels "
                f"({(~in_run).sum()} of {len(topics)} topics)",
                fix="add them, or remove such topics with missing_topics='drop' (--missing drop on "
                "the command line)",
            )
        in_both &= in_run
    if not in_both.any():
        raise DataError(
            fault=f"No topic of the qrels is in both runs: the qrels begin with {topics[0]!r}, the "
            f"first run with {runs['first']['query'].iloc[0]!r}, the second with "
            f"{runs['second']['query'].iloc[0]!r}",
            fix="give runs and qrels for the same topics",
        )
    return topics[in_both]


def _candidates(runs: Mapping[str, pd.DataFrame], candidates: Candidates) -> pd.DataFrame:
    """Documents to rank for each topic at weights between 0 and 1."""
    first, second = (run[["query", "document"]] for run in runs.values())
    if candidates == "either":
        return pd.concat([first, second], ignore_index=True).drop_duplicates()
    common = first.merge(second)
    if common.empty:
        raise DataError(
            fault="The two runs have no document of a topic in common: the first begins with "
            f"{first.iloc[0].tolist()}, the second with {second.iloc[0].tolist()}",
            fix="give runs on the same collection, or rank the documents of either run",
        )
    return common


def _judge(candidates: pd.DataFrame, qrels: pd.DataFrame, relevance_level: int) -> JudgedLists:
    """Candidate lists of all topics of the qrels; a topic may have no candidates."""
    return judge(
        candidates,
        qrels,
        relevance_level=relevance_level,
        missing_topics="zero",
        without_relevant="zero",
    )


def _scores(
    lists: JudgedLists, run: pd.DataFrame, name: str, missing_score: MissingScore
) -> FloatArray:
    """Scores of the candidates in a run, with `missing_score` for documents that it lacks."""
    merged = lists.candidates().merge(run, on=["query", "document"], how="left")
    lowest = merged["query"].map(run.groupby("query")["score"].min())
    imputed = lowest
    if missing_score != "lowest":
        imputed = pd.Series(float(missing_score), index=merged.index)
    too_high = merged[merged["score"].isna() & (imputed > lowest)]
    if len(too_high):
        query = too_high["query"].iloc[0]
        raise DataError(
            f"The {name} run",
            f"topic {query!r}",
            "missing_score",
            missing_score,
            fault=f"above its lowest score {lowest[too_high.index[0]]}, so missing documents would "
            "outrank the run's own",
            fix="give a lower number, or 'lowest'",
        )
    scores = np.zeros(lists.listed.shape)
    scores[lists.listed] = merged["score"].fillna(imputed)
    return scores


def _replace_ends(results: Sweep, single_runs: Mapping[str, pd.DataFrame]) -> Sweep:
    """Values in which the weights 1 and 0 are the first and the second run alone."""
    values = {}
    for measure, by_weight in results.values.items():
        values[measure] = by_weight.copy()
        for name, weight in (("first", 1.0), ("second", 0.0)):
            values[measure][np.asarray(results.alphas) == weight] = single_runs[name][measure]
    return Sweep(results.alphas, results.queries, values)


def _assign_folds(topics: int, folds: int, seed: int) -> IntArray:
    """Random fold of each topic; the folds have nearly equal sizes."""
    if not 2 <= folds <= topics:
        raise DataError(column="folds", value=folds, expected=f"a number from 2 to {topics} topics")
    return np.random.default_rng(seed).permutation(np.arange(topics) % folds)


def _p_value(first: FloatArray, second: FloatArray) -> float:
    # Rounded, because the last bits of equal values depend on the order of summation.
    samples = {"a": first.round(12), "b": second.round(12)}
    with warnings.catch_warnings():
        # scipy warns if all differences are the same.
        warnings.filterwarnings("ignore", "Precision loss occurred", RuntimeWarning)
        return float(t_tests(samples, correction="none")["p"].iloc[0])


def _tuned_run(
    runs: Mapping[str, pd.DataFrame],
    lists: JudgedLists,
    scores: Mapping[str, FloatArray],
    alphas: FloatArray,
    over: Scaling,
) -> pd.DataFrame:
    """Weighted sums with one weight per topic; one of the runs alone if it is 0 or 1."""
    scaled = {name: z_scores(values, lists.listed, over=over) for name, values in scores.items()}
    sums = np.zeros(lists.listed.shape)
    for alpha in np.unique(alphas):
        rows = alphas == alpha
        pair = scaled["first"][rows], scaled["second"][rows]
        sums[rows] = interpolate(*pair, [float(alpha)])[0]
    alpha_of = pd.Series(alphas, index=lists.queries)
    interpolated = lists.run(sums)
    parts = [interpolated[interpolated["query"].map(alpha_of.between(0, 1, inclusive="neither"))]]
    for name, weight in (("first", 1.0), ("second", 0.0)):
        parts.append(runs[name][runs[name]["query"].map(alpha_of) == weight])
    run = pd.concat(parts, ignore_index=True)
    order = np.argsort(lists.queries.get_indexer(run["query"]), kind="stable")
    return run.iloc[order].reset_index(drop=True)
