"""Interpolation of two systems: tuned, oracle and noise oracle."""

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from everycell.retrieval.interpolation import (
    ALPHAS,
    Sweep,
    noise_oracle,
    oracle,
    oracle_summary,
    sweep,
    z_scores,
)
from everycell.retrieval.judged_lists import judge, ranking_measures

MEASURES = ["MAP", "nDCG", "nDCG@5", "RR"]


def lists_of(seed, n=30, width=12):
    """Candidate lists of different length with one to three relevant documents each."""
    rng = np.random.default_rng(seed)
    rows = []
    for topic in range(n):
        size = rng.integers(4, width + 1)
        relevant = rng.integers(1, 4)
        for position, document in enumerate(rng.choice(99, size, replace=False)):
            rows.append((f"q{topic}", f"d{document}", int(position < relevant)))
    qrels = pd.DataFrame(rows, columns=["query", "document", "relevance"])
    return judge(qrels, qrels)


def system(lists, seed, levels=6, shift=0.0):
    """Scores with ties, a little better than chance; `shift` moves each topic by its place."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(levels, size=lists.listed.shape) / 4 + lists.relevance
    return (drawn + shift * np.arange(len(drawn))[:, None]) * lists.listed


def single_topic(values, alphas=(0.0, 0.5, 1.0)):
    return Sweep(alphas, pd.Index(["q"]), {"MAP": np.array(values, dtype=float)[:, None]})


def test_alphas_exact_decimals():
    assert ALPHAS == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def test_z_scores_are_scipy_s():
    lists = lists_of(0)
    scores = system(lists, 1, shift=3.0)
    per_query = z_scores(scores, lists.listed)
    for row, listed, scaled in zip(scores, lists.listed, per_query, strict=True):
        expected = np.nan_to_num(stats.zscore(row[listed])) if np.ptp(row[listed]) else 0
        np.testing.assert_allclose(scaled[listed], expected, atol=1e-12)
    over_run = z_scores(scores, lists.listed, over="run")
    np.testing.assert_allclose(over_run[lists.listed], stats.zscore(scores[lists.listed]))
    assert not per_query[~lists.listed].any() and not over_run[~lists.listed].any()


@pytest.mark.parametrize("over", ["query", "run"])
@pytest.mark.parametrize("constant", [0.0, 0.1, -1 / 3, 1e30])
def test_z_scores_constant(over, constant):
    listed = np.array([[True] * 7, [True] * 3 + [False] * 4])
    assert not z_scores(np.where(listed, constant, 5.0), listed, over=over).any()


def test_z_scores_empty_topic():
    listed = np.array([[False, False], [True, True]])
    assert z_scores([[np.nan, 7.0], [1.0, 3.0]], listed).tolist() == [[0, 0], [-1, 1]]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(-(2**12), 2**12), min_size=8, max_size=8),
    st.sampled_from([1.0, 0.25, 1024.0]),
    st.sampled_from(["query", "run"]),
)
def test_z_scores_keep_ranking(raw, unit, over):
    lists = lists_of(3, n=4, width=12)
    scores = (np.resize(raw, lists.listed.shape) * unit + 100) * lists.listed
    scaled = z_scores(scores, lists.listed, over=over)
    for measure, values in ranking_measures(lists, scores, MEASURES).items():
        np.testing.assert_array_equal(ranking_measures(lists, scaled, MEASURES)[measure], values)


@pytest.mark.parametrize("over", ["query", "run"])
def test_sweep_end_weights(over):
    lists = lists_of(4)
    first, second = system(lists, 1), system(lists, 2, shift=1.0)
    result = sweep(lists, first, second, MEASURES, over=over)
    for measure in MEASURES:
        alone = [ranking_measures(lists, scores, [measure])[measure] for scores in (second, first)]
        np.testing.assert_array_equal(result.measure_values(measure)[[0, -1]], alone)


def test_sweep_end_weights_collapsed():
    qrels = pd.DataFrame({"query": "q", "document": ["a", "b", "c"], "relevance": [1, 0, 0]})
    lists = judge(qrels, qrels)
    # c, b, a: a is better than b, by less than a 32-bit float shows beside the score of c.
    scores, other = np.array([[1e9, 1e-3, 2e-3]]), np.zeros((1, 3))
    assert sweep(lists, scores, other, ["RR"]).topic_values(1.0)["RR"].item() == 1 / 2
    assert sweep(lists, other, scores, ["RR"]).topic_values(0.0)["RR"].item() == 1 / 2
    assert ranking_measures(lists, z_scores(scores, lists.listed), ["RR"])["RR"] == 1 / 3


@pytest.mark.parametrize("over", ["query", "run"])
def test_sweep_equals_pytrec_eval(over):
    lists = lists_of(5)
    first, second = system(lists, 1), system(lists, 2, levels=3)
    result = sweep(lists, first, second, ["MAP", "nDCG"], over=over)
    scaled = [z_scores(scores, lists.listed, over=over) for scores in (first, second)]
    qrels = {
        query: {d: int(r) for d, r in zip(documents[listed], relevance[listed], strict=True)}
        for query, documents, relevance, listed in zip(
            lists.queries, lists.documents, lists.relevance, lists.listed, strict=True
        )
    }
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg"})
    for position, alpha in enumerate(ALPHAS[1:-1], 1):
        scores = alpha * scaled[0] + (1 - alpha) * scaled[1]
        run = {
            query: dict(zip(documents[listed], row[listed].tolist(), strict=True))
            for query, documents, row, listed in zip(
                lists.queries, lists.documents, scores, lists.listed, strict=True
            )
        }
        values = evaluator.evaluate(run)
        for ours, theirs in (("MAP", "map"), ("nDCG", "ndcg")):
            expected = [values[query][theirs] for query in lists.queries]
            np.testing.assert_allclose(result.measure_values(ours)[position], expected, atol=1e-12)


def test_sweep_blocks(monkeypatch):
    lists = lists_of(6)
    first, second = system(lists, 1), system(lists, 2)
    full = sweep(lists, first, second, MEASURES)
    monkeypatch.setattr("everycell.retrieval.interpolation._BLOCK", 7 * 11 * 12)
    parts = sweep(lists, first, second, MEASURES)
    for measure in MEASURES:
        np.testing.assert_array_equal(parts.measure_values(measure), full.measure_values(measure))


def test_interpolate_weights():
    qrels = pd.DataFrame({"query": "q", "document": ["a", "b", "c"], "relevance": [1, 0, 0]})
    lists = judge(qrels, qrels)
    # c, b, a. Scaled: first (-1, 0, 1) and second (1, 0, -1), times 1.22: a leads from 0.6 on; at
    # 0.5 all tie and a, the lowest id, is last.
    result = sweep(lists, [[1.0, 2, 3]], [[3.0, 2, 1]], ["RR"])
    np.testing.assert_allclose(result.means()["RR"], [1 / 3] * 6 + [1] * 5)
    assert result.tune("RR") == 0.6
    assert oracle(result, "RR").loc["q"].to_dict() == {"alpha": 0.6, "value": 1.0}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(MEASURES), st.sampled_from(["query", "run"]))
def test_oracle_at_least_fixed_weight(seed, measure, over):
    lists = lists_of(seed, n=10)
    result = sweep(lists, system(lists, seed), system(lists, seed + 1), [measure], over=over)
    best = oracle(result, measure)
    assert (best["value"].to_numpy() >= result.measure_values(measure)).all()
    assert best["value"].mean() >= result.means()[measure].max()
    # Its weight gives its value, and no smaller weight does.
    for query, (alpha, value) in zip(best.index, best.to_numpy(), strict=True):
        column = result.measure_values(measure)[:, result.queries.get_loc(query)]
        position = ALPHAS.index(alpha)
        assert column[position] == pytest.approx(value, abs=1e-12)
        assert (column[:position] < value - 1e-12).all()


@pytest.mark.parametrize(
    ("values", "alpha"),
    [([0.5, 0.5, 0.5], 0.0), ([0.1, 0.5, 0.5], 0.5), ([0.1, 0.5 - 1e-15, 0.5], 0.5)],
)
def test_oracle_smallest_of_ties(values, alpha):
    result = single_topic(values)
    assert result.tune("MAP") == alpha
    assert oracle(result, "MAP")["alpha"].item() == alpha


def test_tune_measure():
    values = {"MAP": np.array([[0.1], [0.9]]), "nDCG": np.array([[0.9], [0.1]])}
    result = Sweep((0.0, 1.0), pd.Index(["q"]), values)
    assert (result.tune("MAP"), result.tune("nDCG")) == (1.0, 0.0)
    assert result.topic_values(1.0).loc["q"].to_dict() == {"MAP": 0.9, "nDCG": 0.1}


def test_oracle_summary_by_hand():
    alphas = [0.0, 0.0, 0.1, 0.4, 1.0]
    selection = pd.DataFrame({"alpha": alphas, "value": [1, 1, 1, 1, 0.5]})
    assert oracle_summary(selection).to_dict() == pytest.approx(
        {
            "value": 0.9,
            "alpha_mean": 0.3,
            "n_alpha_0": 2,
            "n_alpha_1": 1,
            "alpha_iqr": stats.iqr(alphas),
            "n": 5,
        }
    )


def test_noise_oracle_gains():
    lists = lists_of(7, n=60)
    first = system(lists, 1)
    control = noise_oracle(lists, first, ["MAP", "nDCG"], seeds=range(5))
    assert control.index.names == ["measure", "seed"] and len(control) == 10
    # No seed loses, since the weight 1 is in the grid, and noise alone is worth something.
    assert (control["gain"] > 0).all()
    alone = ranking_measures(lists, first, ["MAP"])["MAP"].mean()
    np.testing.assert_allclose(control.loc["MAP", "value"], alone + control.loc["MAP", "gain"])
    again = noise_oracle(lists, first, ["MAP", "nDCG"], seeds=range(5))
    pd.testing.assert_frame_equal(control, again)


def test_noise_oracle_one_seed():
    lists = lists_of(8)
    first = system(lists, 1)
    noise = np.zeros(lists.listed.shape)
    noise[lists.listed] = np.random.default_rng(3).normal(size=lists.listed.sum())
    expected = oracle_summary(oracle(sweep(lists, first, noise, ["MAP"], over="run"), "MAP"))
    result = noise_oracle(lists, first, ["MAP"], over="run", seeds=[3]).loc["MAP", 3]
    assert result[expected.index].to_dict() == expected.to_dict()


def test_noise_oracle_perfect_system():
    lists = lists_of(9)
    control = noise_oracle(lists, lists.relevance, ["nDCG"], seeds=range(3))
    assert (control["gain"] == 0).all() and (control["value"] == 1).all()
