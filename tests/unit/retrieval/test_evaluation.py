"""Measures of rankings: both ways give pytrec_eval's numbers, on rankings full of ties."""

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.retrieval.evaluation import evaluate, relevant_ranks
from everycell.retrieval.judged_lists import judge, ranking_measures
from everycell.trec.runs import trec_order

#: Measure -> pytrec_eval's name, written out by hand.
PEERS = {
    "MAP": "map",
    "MAP@2": "map_cut_2",
    "nDCG": "ndcg",
    "nDCG@1": "ndcg_cut_1",
    "nDCG@3": "ndcg_cut_3",
    "nDCG@50": "ndcg_cut_50",
    "RR": "recip_rank",
    "P@1": "P_1",
    "P@50": "P_50",
    "R@2": "recall_2",
    "R@50": "recall_50",
}
MEASURES = list(PEERS)


def frame(rows, value):
    return pd.DataFrame(rows, columns=["query", "document", value]).astype(
        {"query": "str", "document": "str"}
    )


def nested(data, value):
    out = {}
    for query, document, number in data[["query", "document", value]].itertuples(index=False):
        out.setdefault(query, {})[document] = number
    return out


def peer(run, qrels, relevance_level=1):
    """pytrec_eval's values, one column a measure, for the topics that both have."""
    evaluator = pytrec_eval.RelevanceEvaluator(
        nested(qrels, "relevance"), set(PEERS.values()), relevance_level=relevance_level
    )
    table = pd.DataFrame(evaluator.evaluate(nested(run, "score"))).T
    return pd.DataFrame({ours: table[theirs] for ours, theirs in PEERS.items()})


def random_data(seed, n_topics=40, n_candidates=30, levels=4):
    """A run with few distinct scores, ids whose order is not that of numbers, graded qrels."""
    rng = np.random.default_rng(seed)
    run, qrels = [], []
    for topic in range(n_topics):
        size = rng.integers(1, n_candidates + 1)
        for document in rng.choice(200, size, replace=False):
            name = f"{'dDé'[document % 3]}{document}"
            run.append((f"q{topic}", name, rng.integers(levels) / 3))
            if rng.random() < 0.8:
                qrels.append((f"q{topic}", name, rng.integers(-2, 4)))
        # Relevant, but never retrieved.
        qrels.append((f"q{topic}", "elsewhere", 1 + topic % 2))
    return frame(run, "score"), frame(qrels, "relevance")


@pytest.mark.compares("evaluate", "measure_ranks", "relevant_ranks")
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_evaluate_equals_pytrec_eval_with_ties(seed, level):
    run, qrels = random_data(seed)
    expected = peer(run, qrels, level)
    result = evaluate(run, qrels, MEASURES, relevance_level=level)
    np.testing.assert_array_equal(result, expected.loc[result.index])
    lists = judge(run, qrels, relevance_level=level, without_relevant="zero")
    fast = ranking_measures(lists, lists.scores(run), MEASURES)
    for measure in MEASURES:
        np.testing.assert_allclose(
            fast[measure], expected.loc[lists.queries, measure], atol=1e-12, err_msg=measure
        )


ids = st.text("aB9é~", min_size=1, max_size=2)
scores = st.sampled_from([0.0, -0.0, 1.0, 1.0 + 1e-9, 1.0 + 1e-6, -3.0, 1e30])
topic = st.dictionaries(ids, st.tuples(scores, st.none() | st.integers(-2, 3)), min_size=1)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(ids, topic, min_size=1, max_size=3), st.integers(1, 2))
def test_evaluate_equals_pytrec_eval_random(data, level):
    rows = [(q, d, *pair) for q, documents in data.items() for d, pair in documents.items()]
    run = frame([row[:3] for row in rows], "score")
    # Each topic has a judgement, as all topics of qrels have.
    judged = [(q, d, rel) for q, d, _, rel in rows if rel is not None]
    qrels = frame(judged + [(q, "elsewhere", 1) for q in data], "relevance")
    expected = peer(run, qrels, level)
    result = evaluate(run, qrels, MEASURES, relevance_level=level)
    np.testing.assert_array_equal(result, expected.loc[result.index])
    lists = judge(run, qrels, relevance_level=level, without_relevant="zero")
    fast = ranking_measures(lists, lists.scores(run), MEASURES)
    for measure in MEASURES:
        np.testing.assert_allclose(fast[measure], expected.loc[lists.queries, measure], atol=1e-12)
        assert ((fast[measure] >= 0) & (fast[measure] <= 1 + 1e-12)).all()


def worked_example():
    """Ranking by score: d3 (2), d2 and d1 tie (0 and 1), d4 last; d9 (1) is never ranked."""
    run = frame([("q", "d1", 5), ("q", "d2", 5), ("q", "d3", 7), ("q", "d4", -1)], "score")
    qrels = frame([("q", "d1", 1), ("q", "d2", 0), ("q", "d3", 2), ("q", "d9", 1)], "relevance")
    return run, qrels


def test_evaluate_by_hand():
    run, qrels = worked_example()
    assert trec_order(run)["document"].tolist() == ["d3", "d2", "d1", "d4"]
    ideal = 2 + 1 / np.log2(3) + 1 / 2
    by_hand = {
        "MAP": (1 / 1 + 2 / 3) / 3,
        "MAP@1": 1 / 3,
        "nDCG": (2 + 1 / 2) / ideal,
        "nDCG@2": 2 / (2 + 1 / np.log2(3)),
        "RR": 1.0,
        "P@3": 2 / 3,
        "P@10": 2 / 10,
        "R@1": 1 / 3,
        "R@10": 2 / 3,
    }
    result = evaluate(run, qrels, list(by_hand)).loc["q"]
    assert result.to_dict() == pytest.approx(by_hand)
    lists = judge(run, qrels)
    fast = ranking_measures(lists, lists.scores(run), list(by_hand))
    assert {measure: values[0] for measure, values in fast.items()} == pytest.approx(by_hand)


@pytest.mark.parametrize(("cutoff", "expected"), [(1, 0.0), (2, 0.0), (3, 1 / 3), (10, 1 / 3)])
def test_evaluate_reciprocal_rank_cutoff(cutoff, expected):
    run = frame([("q", "a", 3), ("q", "b", 2), ("q", "c", 1)], "score")
    qrels = frame([("q", "c", 1)], "relevance")
    measure = f"RR@{cutoff}"
    assert evaluate(run, qrels, [measure])[measure].item() == expected
    lists = judge(run, qrels)
    assert ranking_measures(lists, lists.scores(run), [measure])[measure] == expected


def incomplete():
    """q1 is answered, q2 is not, q3 has no relevant document; q4 is unknown to the qrels."""
    run = frame([("q4", "d", 1), ("q3", "d", 1), ("q1", "d", 1)], "score")
    qrels = frame([("q1", "d", 1), ("q2", "d", 1), ("q3", "d", 0)], "relevance")
    return run, qrels


@pytest.mark.parametrize("choice", ["missing_topics", "without_relevant"])
def test_evaluate_dropped_topics(choice):
    qrels = frame([("q1", "a", 2), ("q2", "b", 1), ("q3", "b", 1)], "relevance")
    run = frame([("q1", "b", 1), ("q1", "a", 2)], "score")
    result = evaluate(run, qrels, ["MAP", "nDCG"], relevance_level=2, **{choice: "drop"})
    assert result.to_dict("index") == {"q1": {"MAP": 1.0, "nDCG": 1.0}}


@pytest.mark.parametrize(
    ("missing", "without", "topics", "mean"),
    [
        ("zero", "zero", ["q1", "q2", "q3"], 1 / 3),
        ("drop", "zero", ["q1", "q3"], 1 / 2),
        ("zero", "drop", ["q1", "q2"], 1 / 2),
        ("drop", "drop", ["q1"], 1),
    ],
)
def test_topics_that_are_missing_or_have_nothing_relevant(missing, without, topics, mean):
    run, qrels = incomplete()
    choices = {"missing_topics": missing, "without_relevant": without}
    result = evaluate(run, qrels, **choices)
    assert result.index.tolist() == topics
    assert result["MAP"].mean() == pytest.approx(mean)
    lists = judge(run, qrels, **choices)
    assert lists.queries.tolist() == topics
    fast = ranking_measures(lists, lists.scores(run), ["MAP", "nDCG", "RR", "R@1", "P@1"])
    for measure, values in fast.items():
        assert values.mean() == pytest.approx(mean), measure


@pytest.mark.parametrize(
    ("choices", "where"),
    [
        (
            {"missing_topics": "error", "without_relevant": "zero"},
            {"row": "topic 'q2' of the qrels", "fault": "has no ranked documents (1 of 3 topics)"},
        ),
        (
            {"missing_topics": "zero", "without_relevant": "error"},
            {
                "row": "topic 'q3' of the qrels",
                "fault": "has no document of relevance 1 or more (1 of 3 topics)",
            },
        ),
        ({"relevance_level": 0}, {"column": "relevance_level", "value": 0}),
    ],
)
@pytest.mark.parametrize("function", [evaluate, judge])
def test_evaluate_invalid_choices(function, choices, where):
    with pytest.raises(DataError) as error:
        function(*incomplete(), **choices)
    assert vars(error.value).items() >= where.items()


def test_evaluate_nothing_left():
    run = frame([("q", "d", 1)], "score")
    qrels = frame([("q", "d", 0)], "relevance")
    with pytest.raises(DataError, match="All 1 topics of the qrels are dropped"):
        evaluate(run, qrels, without_relevant="drop")
    with pytest.raises(DataError, match=r"None of the 1 topics.*\['q'\].*\['r'\]"):
        evaluate(frame([("r", "d", 1)], "score"), qrels)
    with pytest.raises(ValueError, match="the run frame has no rows"):
        evaluate(run[:0], qrels)
    with pytest.raises(ValueError, match="the candidates frame has no rows"):
        judge(run[:0], qrels)


@pytest.mark.parametrize(
    "measure", ["map", "ERR@5", "nDCG@0", "P", "R", "nDCG@", "nDCG@1.5", "P@True"]
)
def test_parse_measure_unknown(measure):
    with refused("measure", measure):
        evaluate(*worked_example(), [measure])


@pytest.mark.parametrize("measures", ["MAP", []])
def test_parse_measures_not_a_list(measures):
    with refused("measures", measures):
        evaluate(*worked_example(), measures)


def test_scores_go_to_the_arrays_and_back():
    run, qrels = random_data(7)
    lists = judge(run, qrels)
    scored = lists.scores(run)
    assert (scored[~lists.listed] == 0).all() and (lists.documents[~lists.listed] == "").all()
    pd.testing.assert_frame_equal(trec_order(lists.run(scored)), trec_order(run))


def test_topics_come_in_the_order_of_the_qrels_whatever_the_order_of_the_run():
    run, qrels = random_data(8)
    shuffled = run.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(evaluate(shuffled, qrels), evaluate(run, qrels))
    assert evaluate(run, qrels).index.tolist() == qrels["query"].unique().tolist()
    a, b = (judge(data, qrels) for data in (run, shuffled))
    np.testing.assert_array_equal(a.scores(run), b.scores(run))


def test_ranking_measures_many_arrays():
    run, qrels = random_data(9)
    lists = judge(run, qrels)
    stack = np.random.default_rng(1).integers(0, 3, size=(2, 3, *lists.listed.shape))
    together = ranking_measures(lists, stack, MEASURES)
    for i, j in np.ndindex(2, 3):
        alone = ranking_measures(lists, stack[i, j], MEASURES)
        for measure in MEASURES:
            np.testing.assert_array_equal(together[measure][i, j], alone[measure])


def test_topics_selection():
    run, qrels = random_data(10)
    lists = judge(run, qrels)
    scored = lists.scores(run)
    full = ranking_measures(lists, scored)["MAP"]
    for selection in (slice(3, 9), [5, 2], np.arange(len(full)) % 2 == 0):
        part = ranking_measures(lists.topics(selection), scored[selection])["MAP"]
        np.testing.assert_array_equal(part, full[selection])


def test_ranking_measures_outside_lists():
    run, qrels = random_data(11)
    lists = judge(run, qrels)
    scored = lists.scores(run)
    filled = np.where(lists.listed, scored, np.nan)
    np.testing.assert_array_equal(
        ranking_measures(lists, filled)["nDCG"], ranking_measures(lists, scored)["nDCG"]
    )


def test_evaluate_other_ids():
    """Documented results of trec_eval for input that is refused elsewhere."""
    qrels = frame_of("relevance", q={"a": 1, "b": 0}, r={"a": 1})
    run = frame_of("score", q={"a": 1, "b": 2}, other={"a": 3})
    # A topic that only the qrels have counts 0, one that only the run has is left out.
    assert evaluate(run, qrels, ["RR"])["RR"].to_dict() == {"q": 0.5, "r": 0.0}
    # Judgements of other documents: nothing relevant is found.
    strange = frame_of("score", q={"A": 1, "B": 2}, r={"A": 1})
    assert (evaluate(strange, qrels, ["MAP", "nDCG"]) == 0).all(axis=None)
    # nDCG takes a label off the scale as it is, and one below 0 as 0.
    gains = {"a": 9, "b": -2, "c": 1}
    labels = frame_of("relevance", q=gains)
    result = evaluate(frame_of("score", q={"b": 3, "c": 2, "a": 1}), labels, ["nDCG", "RR"])
    expected = (1 / np.log2(3) + 9 / 2) / (9 + 1 / np.log2(3))
    assert result.loc["q"].tolist() == pytest.approx([expected, 0.5])


def frame_of(column, **topics):
    """Frame of a value for each document of each topic."""
    return pd.DataFrame(
        [
            (topic, document, value)
            for topic, values in topics.items()
            for document, value in values.items()
        ],
        columns=["query", "document", column],
    )


@pytest.mark.parametrize("grade", [-1, -2, -7])
@pytest.mark.parametrize("documents", [1, 3])
def test_evaluate_negative_topic(grade, documents):
    """pytrec_eval itself hangs, or ends the process, here."""
    names = list("abc")[:documents]
    qrels = frame([("q", name, grade) for name in names], "relevance")
    run = frame([("q", name, 1.0) for name in names], "score")
    for _ in range(2):
        assert (evaluate(run, qrels, MEASURES).to_numpy() == 0).all()


@given(st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_evaluate_negative_relevance(seed):
    rng = np.random.default_rng(seed)
    names = [f"d{i}" for i in range(8)]
    grades = [2, *rng.integers(-2, 3, 7).tolist()]
    qrels = frame(list(zip("q" * 8, names, grades, strict=True)), "relevance")
    run = frame(list(zip("q" * 8, names, rng.random(8), strict=True)), "score")
    evaluator = pytrec_eval.RelevanceEvaluator(nested(qrels, "relevance"), set(PEERS.values()))
    expected = evaluator.evaluate(nested(run, "score"))["q"]
    result = evaluate(run, qrels, MEASURES).loc["q"]
    assert {name: result[name] for name in MEASURES} == {
        name: expected[trec] for name, trec in PEERS.items()
    }


@pytest.mark.parametrize("level", [1.5, True, "1", 0])
def test_check_level_invalid(level):
    qrels = frame([("q", "a", 1)], "relevance")
    run = frame([("q", "a", 1.0)], "score")
    with refused("relevance_level", level):
        evaluate(run, qrels, relevance_level=level)


def long_lists(seed, levels):
    """Three topics in mixed rows, 3,000 documents each, with scores of a few or many levels."""
    rng = np.random.default_rng(seed)
    names = [f"d{number}" for number in range(3000)]
    rows = pd.MultiIndex.from_product([["r", "q", "s"], names], names=["query", "document"])
    frame = rows.to_frame(index=False).sample(frac=1, random_state=seed, ignore_index=True)
    return (
        frame.assign(score=rng.integers(-levels, levels, len(frame)) / 7),
        frame.assign(relevance=rng.integers(-1, 4, len(frame)))[::3],
    )


@pytest.mark.parametrize("levels", [1, 3, 10_000])
def test_relevant_ranks_equal_trec_order(levels):
    run, qrels = long_lists(levels, levels)
    topics = pd.Index(["q", "r", "s"])
    result = relevant_ranks(run, qrels, topics)
    ordered = trec_order(run)
    ordered["rank"] = ordered.groupby("query").cumcount() + 1
    expected = ordered.merge(qrels[qrels["relevance"] > 0], on=["query", "document"])
    expected = expected.sort_values(["query", "rank"])
    assert topics[result.topic].tolist() == expected["query"].tolist()
    assert result.rank.tolist() == expected["rank"].tolist()
    assert result.relevance.tolist() == expected["relevance"].tolist()


@pytest.mark.parametrize("levels", [3, 10_000])
def test_evaluate_long_lists_same_bits(levels):
    run, qrels = long_lists(levels, levels)
    judged = qrels.assign(relevance=qrels["relevance"].clip(lower=0))
    nested = [
        {query: dict(zip(rows["document"], rows[column].tolist(), strict=True))
         for query, rows in frame.groupby("query")}
        for frame, column in ((judged, "relevance"), (run, "score"))
    ]  # fmt: skip
    evaluator = pytrec_eval.RelevanceEvaluator(nested[0], {"map", "ndcg", "ndcg_cut_2000"})
    expected = evaluator.evaluate(nested[1])
    result = evaluate(run, qrels, ["MAP", "nDCG", "nDCG@2000"])
    for query, row in result.iterrows():
        theirs = expected[query]
        assert row.tolist() == [theirs["map"], theirs["ndcg"], theirs["ndcg_cut_2000"]]
