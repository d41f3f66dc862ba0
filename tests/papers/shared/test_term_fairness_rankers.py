"""Rankers measured, marks that tests give by hand, and overlap of runs with ties."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from papers.shared import term_fairness_rankers as ranker_fairness
from papers.shared.term_fairness_rankers import (
    counterfactual_overlap,
    measure_rankers,
    overlap_by_query,
    ranker_means,
    restrict_to_common_queries,
)

QUERIES = pd.Index([f"q{number}" for number in range(30)], name="query")


def system(seed: int, shift: float = 0.0) -> pd.DataFrame:
    values = np.random.default_rng(seed).random((30, 2)) + [shift, 0]
    return pd.DataFrame(values, index=QUERIES, columns=["NFaiRR", "TExFAIR"])


SYSTEMS = {
    "BM25": system(1),
    "ANCE": system(2, 0.4),
    "SBERT": system(3, 0.13),
    "old": system(4, -1),
}


def test_ranker_means_markers():
    table = ranker_means(SYSTEMS, baseline="BM25").set_index(["system", "metric"])
    for name in ("ANCE", "SBERT", "old"):
        for metric in ("NFaiRR", "TExFAIR"):
            result = stats.ttest_rel(SYSTEMS[name][metric], SYSTEMS["BM25"][metric])
            better = result.statistic > 0 and result.pvalue * 3 < 0.05
            assert table.loc[(name, metric), "marker"] == ("‡" if better else "")
            assert table.loc[(name, metric), "value"] == pytest.approx(SYSTEMS[name][metric].mean())
    assert set(table["marker"]) == {"", "‡"} and set(table["n"]) == {30}
    assert (table.loc["old", "marker"] == "").all()
    assert (table.loc["BM25", "marker"] == "").all()


def test_ranker_means_correction():
    # One p between .05 / 3 and .05 / 1.
    near = next(
        shift
        for shift in np.arange(0.05, 0.5, 0.005)
        if 0.02
        < stats.ttest_rel(system(3, shift)["NFaiRR"], SYSTEMS["BM25"]["NFaiRR"]).pvalue
        < 0.04
        and system(3, shift)["NFaiRR"].mean() > SYSTEMS["BM25"]["NFaiRR"].mean()
    )
    alone = {"BM25": SYSTEMS["BM25"], "near": system(3, near)}
    for systems, expected in ((alone, "‡"), (alone | {"a": system(5), "b": system(6)}, "")):
        table = ranker_means(systems, baseline="BM25").set_index(["system", "metric"])
        assert table.loc[("near", "NFaiRR"), "marker"] == expected


def test_ranker_means_correlation():
    linked = SYSTEMS["BM25"].assign(TExFAIR=lambda frame: frame["NFaiRR"] ** 2)
    table = ranker_means(
        {"BM25": SYSTEMS["BM25"], "linked": linked}, correlated=("TExFAIR", "NFaiRR")
    )
    result = table[table["metric"] == "r"].set_index("system")
    for name, frame in {"BM25": SYSTEMS["BM25"], "linked": linked}.items():
        expected = stats.pearsonr(frame["TExFAIR"], frame["NFaiRR"])
        assert result.loc[name, "value"] == pytest.approx(expected.statistic)
        assert result.loc[name, "marker"] == ("†" if expected.pvalue < 0.05 else "")
    assert result.loc["linked", "marker"] == "†"


def test_measure_rankers_unjudged_query():
    judged = QUERIES[:20]
    systems = {
        name: frame.assign(MRR=frame["NFaiRR"].reindex(judged)) for name, frame in SYSTEMS.items()
    }
    table = ranker_means(systems, baseline="BM25").set_index(["system", "metric"])
    part = {name: frame.loc[judged, ["NFaiRR"]] for name, frame in SYSTEMS.items()}
    alone = ranker_means(part, baseline="BM25").set_index("system")
    of_mrr = table.xs("MRR", level="metric")
    pd.testing.assert_frame_equal(of_mrr, alone[of_mrr.columns])
    assert set(of_mrr["n"]) == {20}
    assert set(table.xs("NFaiRR", level="metric")["n"]) == {30}
    assert "‡" in set(of_mrr["marker"])


def run(**documents: list[float]) -> pd.DataFrame:
    rows = [
        (query, f"d{position}", score)
        for query, scores in documents.items()
        for position, score in enumerate(scores)
    ]
    return pd.DataFrame(rows, columns=["query", "document", "score"])


def test_counterfactual_overlap_identical():
    same = run(q=[3, 2, 1], r=[1, 1, 1])
    assert counterfactual_overlap(same, same).tolist() == [1.0, 1.0]


def test_counterfactual_overlap_depth():
    # The first two stay, the others are reversed.
    changed = counterfactual_overlap(run(q=[9, 8, 3, 2, 1]), run(q=[9, 8, 1, 2, 3]), depth=2)
    assert changed.tolist() == [1.0]
    deeper = counterfactual_overlap(run(q=[9, 8, 3, 2, 1]), run(q=[9, 8, 1, 2, 3]), depth=5)
    assert 0.5 < deeper["q"] < 1


def test_counterfactual_overlap_by_hand():
    # Agreement 0 at rank 1 and 1 from rank 2 on: 1 - (1 - p).
    result = counterfactual_overlap(run(q=[2, 1]), run(q=[1, 2]), p=0.8)
    assert result["q"] == pytest.approx(0.8)


COUNTS = pd.DataFrame(
    {"f": [2, 0, 0, 1], "m": [0, 3, 0, 1], "length": [10] * 4}, index=["a", "b", "c", "d"]
)


def run_of(**lists):
    """Run with the documents of each query in their order."""
    rows = [
        (query, document, float(-rank))
        for query, documents in lists.items()
        for rank, document in enumerate(documents)
    ]
    return pd.DataFrame(rows, columns=["query", "document", "score"])


def test_measure_rankers_order():
    qrels = pd.DataFrame({"query": ["q1", "q1"], "document": ["a", "b"], "relevance": [1, 2]})
    runs = {"one": run_of(q2="cd", q1="ab"), "two": run_of(q1="ba", q2="ca")}
    result = measure_rankers(runs.items(), COUNTS, k=2, qrels=qrels, relevant_from=2)
    for name, expected in (("one", 0.5), ("two", 1.0)):
        frame = result[name]
        assert frame.index.tolist() == ["q1", "q2"]
        assert frame.loc["q1", "MRR"] == expected
        assert frame.loc["q2", ["MRR", "nDCG"]].isna().all()
        assert frame[["NFaiRR", "TExFAIR"]].notna().all(axis=None)


def test_restrict_to_common_queries_missing():
    runs = {"one": run_of(q1="ab", q2="cd"), "two": run_of(q2="ca", q1="ba", q3="ab", q4="cd")}
    result, left_out = restrict_to_common_queries(measure_rankers(runs.items(), COUNTS, k=2))
    assert [frame.index.tolist() for frame in result.values()] == [["q1", "q2"]] * 2
    assert left_out == 2
    # Without them nothing is different, and the means have one size.
    same = {name: run[run["query"].isin(["q1", "q2"])] for name, run in runs.items()}
    full = measure_rankers(same.items(), COUNTS, k=2)
    for name, frame in full.items():
        pd.testing.assert_frame_equal(result[name], frame)
    assert set(ranker_means(result)["n"]) == {2}


@pytest.mark.parametrize(("factor", "mark"), [(0.99, ""), (1.01, "mark")])
def test_ranker_means_level_of_both_tests(factor, mark):
    """A level just below or above p, of the correlation and of the paired t-test."""
    near = system(3, 0.2)
    p = stats.pearsonr(near["NFaiRR"], near["TExFAIR"]).pvalue
    table = ranker_means({"near": near}, correlated=("NFaiRR", "TExFAIR"), level=factor * p)
    assert table.set_index("metric").loc["r", "marker"] == ("†" if mark else "")
    p = stats.ttest_rel(near["NFaiRR"], SYSTEMS["BM25"]["NFaiRR"]).pvalue
    table = ranker_means(
        {"BM25": SYSTEMS["BM25"], "near": near}, baseline="BM25", level=factor * p
    ).set_index(["system", "metric"])
    assert table.loc[("near", "NFaiRR"), "marker"] == ("‡" if mark else "")


def test_overlap_by_query_persistence():
    original, counterfactual = run_of(q1="ab", q2="cd"), run_of(q1="ba", q2="cd")
    for p in (0.5, 0.8):
        result = overlap_by_query(original, counterfactual, COUNTS, k=2, p=p)
        # Agreement 0 at rank 1 and 1 from rank 2 on: 1 - (1 - p).
        assert result["CRBO"].tolist() == pytest.approx([p, 1])


def test_compare_with_baseline_differences_and_corrected_p():
    table = ranker_fairness.compare_with_baseline(SYSTEMS, baseline="BM25").set_index(
        ["system", "measure", "metric"]
    )
    result = stats.ttest_rel(SYSTEMS["SBERT"]["NFaiRR"], SYSTEMS["BM25"]["NFaiRR"])
    values = table.loc[("SBERT", "NFaiRR"), "value"]
    difference = (SYSTEMS["SBERT"]["NFaiRR"] - SYSTEMS["BM25"]["NFaiRR"]).mean()
    assert values["difference"] == pytest.approx(difference)
    assert values["p"] == pytest.approx(result.pvalue)
    assert values["p_corrected"] == pytest.approx(min(3 * result.pvalue, 1))
