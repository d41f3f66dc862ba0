"""Measures of reproduction: worked by hand, against counted pairs and scipy, and broken input."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from everycell.base.errors import DataError
from everycell.metrics.rbo import rbo
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.reproducibility import (
    compare_runs,
    effect_agreement,
    ranking_agreement,
    score_agreement,
)


def run(**topics):
    """A run of lists of one-letter documents, best first."""
    return pd.DataFrame(
        [
            (query, document, float(-rank))
            for query, documents in topics.items()
            for rank, document in enumerate(documents)
        ],
        columns=["query", "document", "score"],
    ).astype({"query": "str", "document": "str"})


def values(**measures):
    """Values of topics q0, q1, ..."""
    frame = pd.DataFrame(measures)
    return frame.set_index(pd.Index([f"q{i}" for i in range(len(frame))], name="query"))


def counted_tau(first, second):
    """Concordant minus discordant pairs over all pairs."""
    signs = [
        np.sign(a - b) * np.sign(c - d)
        for (a, c), (b, d) in itertools.combinations(zip(first, second, strict=True), 2)
    ]
    return sum(signs) / len(signs)


@pytest.mark.parametrize(
    ("original", "reproduced", "tau"),
    [
        ("abc", "abc", 1),
        ("abc", "cba", -1),
        # Numbers 1 2 3 and 2 1 4: two pairs of three agree.
        ("abc", "bad", 1 / 3),
        # Documents of one list do not matter if the order is that of the union.
        ("abc", "abd", 1),
        ("abc", "def", 1),
        # The longer list is cut.
        ("abcd", "ba", -1),
    ],
)
def test_ranking_agreement_tau_by_hand(original, reproduced, tau):
    result = ranking_agreement(run(q=original), run(q=reproduced))
    assert result["kendall_tau_union"].item() == pytest.approx(tau)


def test_ranking_agreement_union():
    # Union b a c gives 1 2 and 2 3; by the alphabet a b c it is 2 1 and 1 3.
    original, reproduced = run(q="ba"), run(q="ac")
    for union, tau in (("original", 1), ("ids", -1)):
        result = ranking_agreement(original, reproduced, union=union)
        assert result["kendall_tau_union"].item() == tau


def test_ranking_agreement_rbo():
    result = ranking_agreement(run(q="abc", r="xyz"), run(r="uvw", q="bad"), p=0.5)
    assert result.index.tolist() == ["q", "r"]
    assert result["rbo"].tolist() == pytest.approx([rbo("abc", "bad", 0.5), 0])
    truncated = ranking_agreement(run(q="abc"), run(q="bad"), p=0.5, variant="truncated")
    # Weights 1, 1/2, 1/4 of the agreements 0, 1, 2/3, over their sum.
    assert truncated["rbo"].item() / (1 - 0.5**3) == pytest.approx((0.5 + 0.25 * 2 / 3) / 1.75)


def test_ranking_agreement_depth_and_ties():
    # The tie of b and c is broken by id, descending: a c b.
    tied = run(q="abc").assign(score=[2.0, 1, 1])
    assert ranking_agreement(tied, run(q="acb"))["rbo"].item() == pytest.approx(1)
    cut = ranking_agreement(run(q="abcd"), run(q="abdc"), depth=2)
    assert cut["rbo"].item() == pytest.approx(1)
    alone = ranking_agreement(run(q="abcd"), run(q="abdc"), depth=1)
    assert np.isnan(alone["kendall_tau_union"].item())


lists = st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=8, unique=True)


@pytest.mark.slow
@settings(max_examples=30)
@given(lists, lists)
def test_ranking_agreement_invariants(first, second):
    original, reproduced = run(q=first), run(q=second)
    result = ranking_agreement(original, reproduced).loc["q"]
    assert -1 <= result["kendall_tau_union"] <= 1
    assert 0 <= result["rbo"] <= 1 + 1e-12
    assert ranking_agreement(original, original).loc["q"].tolist() == pytest.approx([1, 1])
    # Other names change nothing unless documents are numbered by name.
    names = str.maketrans("abcdefgh", "hcafbgde")
    renamed = [
        frame.assign(document=frame["document"].str.translate(names))
        for frame in (original, reproduced)
    ]
    assert ranking_agreement(*renamed).loc["q"].tolist() == pytest.approx(result.tolist())
    by_id = ranking_agreement(original, reproduced, union="ids").loc["q", "kendall_tau_union"]
    length = min(len(first), len(second))
    numbers = [[ord(document) for document in listed[:length]] for listed in (first, second)]
    assert by_id == pytest.approx(counted_tau(*numbers))


def test_scores_by_hand_and_by_scipy():
    original = values(MAP=[0.2, 0.4, 0.6], RR=[1.0, 0.5, 0.25])
    reproduced = values(RR=[1.0, 0.5, 0.25], MAP=[0.3, 0.4, 0.4]).iloc[[2, 0, 1]]
    result = score_agreement(original, reproduced)
    assert result.index.tolist() == ["MAP", "RR"]
    # Differences 0.1, 0 and 0.2.
    assert result.loc["MAP", "rmse"] == pytest.approx((0.05 / 3) ** 0.5)
    for test, column in ((stats.ttest_rel, "p_paired"), (stats.ttest_ind, "p_unpaired")):
        expected = test([0.2, 0.4, 0.6], [0.3, 0.4, 0.4]).pvalue
        assert result.loc["MAP", column] == pytest.approx(expected)
    assert result.loc["RR", ["topics", "rmse", "p_paired", "p_unpaired"]].tolist() == [3, 0, 1, 1]
    assert result["original"].tolist() == pytest.approx([0.4, 7 / 12])


def test_effects_by_hand():
    result = effect_agreement(
        values(MAP=[0.2, 0.4]),
        values(MAP=[0.4, 0.6]),
        # A replication: other topics, three of them.
        values(MAP=[0.1, 0.2, 0.3]).rename(index="other-{}".format),
        values(MAP=[0.2, 0.2, 0.5]).rename(index="other-{}".format),
    ).loc["MAP"]
    assert result["effect_original"] == pytest.approx(0.2)
    assert result["effect_reproduced"] == pytest.approx(0.1)
    assert result["effect_ratio"] == pytest.approx(0.5)
    assert result["improvement_original"] == pytest.approx(2 / 3)
    assert result["improvement_reproduced"] == pytest.approx(0.5)
    assert result["delta_relative_improvement"] == pytest.approx(1 / 6)


def test_effect_agreement_no_effect():
    some, none = values(MAP=[0.1, 0.3]), values(MAP=[0.0, 0.0])
    no_effect = effect_agreement(some, some, none, some).loc["MAP"]
    assert np.isnan(no_effect["effect_ratio"])
    assert np.isnan(no_effect["delta_relative_improvement"])
    turned = effect_agreement(none, some, some, none).loc["MAP"]
    assert turned["effect_ratio"] == pytest.approx(-1)


shares = st.lists(st.floats(0, 1), min_size=2, max_size=6)


@settings(max_examples=30)
@given(shares, st.floats(0.05, 0.5), st.floats(0.1, 1))
def test_effect_agreement_invariants(scores, gain, scale):
    baseline = values(MAP=scores)
    # The mean of the baseline must not vanish in rounding.
    baseline = baseline + 0.1
    same = effect_agreement(baseline, baseline + gain, baseline, baseline + gain).loc["MAP"]
    assert same["effect_ratio"] == pytest.approx(1)
    assert same["delta_relative_improvement"] == pytest.approx(0)
    # Scaling all scores scales the effect and leaves the relative improvement.
    scaled = effect_agreement(
        baseline, baseline + gain, scale * baseline, scale * (baseline + gain)
    ).loc["MAP"]
    assert scaled["effect_ratio"] == pytest.approx(scale)
    assert scaled["delta_relative_improvement"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ranking_agreement(run(q="ab"), run(q="ab"), depth=0), "depth is 0"),
        (
            lambda: ranking_agreement(run(q="aa"), run(q="ab")),
            "document is 'a', which occurs twice",
        ),
    ],
)
def test_compare_runs_broken_input(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


def qrels(**topics):
    """Judgements of one-letter documents, each 1."""
    return run(**topics).assign(relevance=1)[["query", "document", "relevance"]]


def test_compare_runs_equals_parts():
    first, second = run(q="abcd", r="xyz", s="mn"), run(s="nm", r="zxy", q="bacd")
    judged = qrels(r="y", q="bx", s="n")
    result = compare_runs(first, second, judged, ["MAP", "RR@1"], depths=[2, 3], p=0.6)
    values = [evaluate(frame, judged, ["MAP", "RR@1"]) for frame in (first, second)]
    pd.testing.assert_frame_equal(result.scores, score_agreement(*values))
    assert result.effects is None
    assert result.by_topic.index.tolist() == ["r", "q", "s"]
    for depth in (2, 3):
        order = ranking_agreement(first, second, depth=depth, p=0.6)
        assert result.order.loc[depth].tolist() == pytest.approx([3, *order.mean()])
        columns = [f"kendall_tau_union@{depth}", f"rbo@{depth}"]
        by_topic = result.by_topic[columns].loc[order.index]
        np.testing.assert_allclose(by_topic.to_numpy(), order.to_numpy())
    for name, frame in zip(("original", "reproduced"), values, strict=True):
        assert result.by_topic[f"MAP {name}"].tolist() == frame["MAP"].tolist()


def test_compare_runs_baselines():
    runs = [run(q="ab", r="xy"), run(q="ba", r="xy"), run(q="cb", r="yx"), run(q="cb", r="xz")]
    judged = qrels(q="b", r="x")
    result = compare_runs(*runs[:2], judged, ["RR"], baselines=(runs[2], runs[3])).effects
    values = [evaluate(frame, judged, ["RR"]) for frame in runs]
    expected = effect_agreement(values[2], values[0], values[3], values[1])
    pd.testing.assert_frame_equal(result, expected)
    # (1/2 + 1) / 2 over (1/2 + 1/2) / 2, and (1 + 1) / 2 over (1/2 + 1) / 2.
    assert result.loc["RR", "effect_ratio"] == pytest.approx(1)
    assert result.loc["RR", "delta_relative_improvement"] == pytest.approx(1 / 2 - 1 / 3)


def test_compare_runs_missing_topics():
    first, second = run(q="ab", r="xy", s="m"), run(q="ab", r="xy", u="ab")
    judged = qrels(q="a", r="y", s="m")
    zero = compare_runs(first, second, judged, ["RR"], missing_topics="zero")
    assert zero.scores.loc["RR", ["topics", "original", "reproduced"]].tolist() == pytest.approx(
        [3, 2.5 / 3, 0.5]
    )
    assert zero.order["topics"].tolist() == [2]
    assert np.isnan(zero.by_topic.loc["s", "rbo@1000"])
    dropped = compare_runs(first, second, judged, ["RR"], missing_topics="drop")
    assert dropped.scores.loc["RR", ["topics", "original", "reproduced", "rmse"]].tolist() == [
        2, 0.75, 0.75, 0,
    ]  # fmt: skip
    assert dropped.by_topic.index.tolist() == ["q", "r"]
    # A baseline without a topic leaves it out for all runs.
    baselines = (run(q="ba", s="m"), first)
    with pytest.raises(DataError, match="1 of 3 topics can be compared"):
        compare_runs(first, second, judged, baselines=baselines, missing_topics="drop")


def test_compare_runs_irrelevant_topic():
    judged = pd.concat([qrels(q="b"), qrels(r="x").assign(relevance=0)])
    same = run(q="ab", r="xy")
    result = compare_runs(same, same, judged, ["RR"])
    assert result.scores.loc["RR", ["topics", "original"]].tolist() == [2, 0.25]


PAIR = {"q": "ab", "r": "xy"}


@pytest.mark.parametrize(
    ("first", "second", "judged", "choices", "where"),
    [
        (
            {"q": "ab"},
            PAIR,
            PAIR,
            {},
            {
                "path": "The original run",
                "fault": "has no documents for topic 'r' of the qrels (1 of 2 topics)",
            },
        ),
        (
            PAIR,
            {"81_1": "ab", "81_2": "xy"},
            PAIR,
            {},
            {
                "path": "The reproduced run",
                "fault": "has no topic of the qrels: it begins with '81_1', the qrels with 'q'",
            },
        ),
        (
            PAIR,
            PAIR,
            {"q": "AB", "r": "XY"},
            {},
            {
                "path": "The original run",
                "fault": "has no document that is judged for its topic: it has documents such as "
                "'a', the qrels documents such as 'A'",
            },
        ),
        (
            {"q": "ab"},
            {"r": "xy"},
            PAIR,
            {"missing_topics": "zero"},
            {
                "fault": "No topic of the qrels is in both runs: the original run has topics such "
                "as 'q', the reproduced run topics such as 'r'"
            },
        ),
        (
            {"q": "ab"},
            {"r": "xy"},
            PAIR,
            {"missing_topics": "drop"},
            {"fault": "0 of 2 topics can be compared"},
        ),
        (PAIR, PAIR, PAIR, {"relevance_level": 2}, {"path": "The qrels"}),
        *(
            (PAIR, PAIR, PAIR, {column: value}, {"column": column, "value": value})
            for column, value in (
                ("depths", [5, 5]),
                ("depths", []),
                ("missing_topics", "skip"),
                ("union", "score"),
            )
        ),
        (PAIR, PAIR, PAIR, {"measures": ["MRRR"]}, {"column": "measure", "value": "MRRR"}),
    ],
)
def test_compare_runs_invalid(first, second, judged, choices, where):
    with pytest.raises(DataError) as error:
        compare_runs(run(**first), run(**second), qrels(**judged), **choices)
    assert vars(error.value).items() >= where.items()


def test_compare_runs_repeated_document():
    with pytest.raises(ValueError, match="document is 'a', which occurs twice for query 'q'"):
        compare_runs(run(q="aa", r="xy"), run(**PAIR), qrels(**PAIR))
