"""Answerability: labels and predictions as read, aggregation, rankings, McNemar, real counts."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from everycell.base.errors import DataError
from everycell.sources import fetch
from papers.lajewska2025.answerability_data import (
    FILES,
    join_scores,
    read_passage_labels,
    read_passage_predictions,
    read_passage_sentences,
    read_sentence_labels,
    read_sentence_scores,
    read_squad,
)
from papers.lajewska2025.ch5_aggregation import (
    THRESHOLDS,
    aggregate,
    best_threshold,
    decide,
    decide_levels,
    lexical_probabilities,
    mcnemar_test,
    rankings,
)

SCORES = st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=6), min_size=1, max_size=6)


@given(SCORES)
def test_aggregate_mean_and_maximum(groups):
    highest, mean = aggregate(groups, "max"), aggregate(groups, "mean")
    assert (mean <= highest + 1e-12).all()
    assert all(high in group for high, group in zip(highest, groups, strict=True))
    assert aggregate([group[::-1] for group in groups], "max").tolist() == highest.tolist()


def test_aggregate_two_steps():
    passages = [[0.1, 0.9], [0.2, 0.2], [0.0]]
    best = aggregate(passages, "max")
    assert best.tolist() == [0.9, 0.2, 0.0]
    assert decide(aggregate([best], "mean"), 0.25).tolist() == [True]
    assert decide(aggregate([aggregate(passages, "mean")], "mean"), 0.25).tolist() == [False]


@given(st.lists(st.sampled_from("abcdef"), max_size=8), st.integers(1, 4))
def test_rankings_repeated(passages, size):
    result = {how: rankings(passages, size, repeated=how) for how in ("distinct", "tuples", "rows")}
    assert len(result["distinct"]) == math.comb(len(set(passages)), size)
    assert len(result["rows"]) == math.comb(len(passages), size)
    assert len(result["distinct"]) <= len(result["tuples"]) <= len(result["rows"])
    ids = [tuple(passages[position] for position in ranking) for ranking in result["tuples"]]
    assert len(set(ids)) == len(ids)
    assert {frozenset(ranking) for ranking in ids if len(set(ranking)) == size} == {
        frozenset(passages[position] for position in ranking) for ranking in result["distinct"]
    }


@given(st.lists(st.tuples(*[st.booleans()] * 3), min_size=1, max_size=40))
def test_mcnemar_test_binomial(cases):
    truth, first, second = np.array(cases).T
    result = mcnemar_test(truth, first, second)
    apart = result.only_first + result.only_second
    assert apart == (first != second).sum()
    expected = binomtest(result.only_first, apart).pvalue if apart else 1.0
    assert result.p == pytest.approx(expected)
    mirrored = mcnemar_test(truth, second, first)
    assert mirrored == (result.only_second, result.only_first, pytest.approx(result.p))


def test_read_passage_labels_both_halves(tmp_path):
    path, other = tmp_path / "file.csv", tmp_path / "other.csv"
    path.write_text(
        "Input.turn_id,Input.passage_id,partition,no_answer_annotations,Input.query,Input.passage\n"
        "8_1,p9,test,3,why?,Now.\n"
    )
    other.write_text("turn_id,passage_id,partition,query,passage\n8_1,p9,test,why?,Now.\n")
    assert read_passage_labels(path, other)["answerable"].tolist() == [False, False]


SCORED = pd.DataFrame(
    {
        "turn_id": ["8_1", "8_1", "8_2"],
        "passage_id": ["p1", "p2", "p1"],
        "partition": "test",
        "scores": [(0.1,), (0.5, 0.9), (0.3,)],
    }
)


def test_join_scores_by_passage():
    other = SCORED.assign(scores=[(0.2,), (0.4, 0.8), (0.6,)])
    result = join_scores({"a": SCORED, "b": other[::-1]})
    assert result["a"].tolist() == SCORED["scores"].tolist()
    assert result["b"].tolist() == other["scores"].tolist()


PASSAGES = pd.DataFrame(
    {
        "turn_id": ["1", "1", "1", "2", "2"],
        "passage_id": ["a", "b", "a", "c", "d"],
        "answerable": [True, False, True, False, False],
    }
)
SENTENCES = [[0.9, 0.1], [0.3], [0.9, 0.1], [0.2, 0.2], [0.6, 0.0]]


def test_decide_levels_by_hand():
    result = decide_levels(PASSAGES, SENTENCES, size=2)
    assert [(one.level, one.passages, one.rankings) for one in result] == [
        ("passage", "max", ""),
        ("ranking", "max", "max"),
        ("ranking", "max", "mean"),
        ("passage", "mean", ""),
        ("ranking", "mean", "max"),
        ("ranking", "mean", "mean"),
    ]
    # Passages by maximum 0.9, 0.3, 0.9, 0.2, 0.6; by mean 0.5, 0.3, 0.5, 0.2, 0.3.
    assert [one.predicted.astype(int).tolist() for one in result] == [
        [1, 0, 1, 0, 1],
        [1, 1],
        [1, 1],
        [1, 1, 1, 0, 1],
        [1, 0],
        [1, 1],
    ]
    assert all(one.truth.tolist() == [True, False] for one in result if one.rankings)
    assert result[1].turns.tolist() == ["1", "2"]
    # Each place of a repeated passage counts: two rankings of the first turn more.
    assert len(decide_levels(PASSAGES, SENTENCES, size=2, repeated="rows")[1].predicted) == 4


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=20))
def test_best_threshold_no_worse_than_published(cases):
    scores, truth = np.array([one for one, _ in cases]), np.array([one for _, one in cases])

    def right(threshold):
        return np.count_nonzero(decide(scores, threshold) == truth)

    best = best_threshold(scores, truth)
    assert all(right(best) >= right(threshold) for threshold in THRESHOLDS.values())


def test_lexical_probabilities():
    training = [(f"q{n}", f"{'blue' if n % 2 else 'red'} thing{n}") for n in range(20)]
    answers = [bool(n % 2) for n in range(20)]
    result = lexical_probabilities(
        training, answers, [("q", "blue hat"), ("q", "red hat"), ("", "")]
    )
    assert result[0] > 0.5 > result[1] and ((result > 0) & (result < 1)).all()


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("<html>", ...),
        ('{"data": [{"paragraphs": [{"qas": [{"question": "who?"}]}]}]}', ...),
        (
            '{"data": [{"paragraphs": [{"context": "So.", "qas": '
            '[{"question": "who?", "answers": [{"text": "Ann"}]}]}]}]}',
            "Ann",
        ),
    ],
)
def test_read_squad_invalid(tmp_path, content, value):
    path = tmp_path / "train-v2.0.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_squad(path)
    assert (caught.value.path, caught.value.value) == (path, value)


@pytest.fixture(scope="module")
def files(mirror, tmp_path_factory):
    """Fetch the released files."""
    cache = tmp_path_factory.mktemp("cache")
    return {part: fetch(key, cache, mirror=mirror, network=False) for part, key in FILES.items()}


def test_read_passage_labels_released_counts(files):
    labels = read_passage_labels(files["snippets"], files["unanswerable"])
    assert labels.groupby("partition")["turn_id"].nunique().to_dict() == {
        "test": 38,
        "train": 296,
        "validation": 37,
    }
    assert labels.groupby("dataset")["answerable"].agg(["size", "sum"]).to_numpy().tolist() == [
        [1855, 1778],
        [1855, 0],
    ]
    assert (labels.groupby("passage_id")["partition"].nunique() > 1).sum() == 67
    sentences = read_passage_sentences(files["snippets"])
    assert len(sentences) == 12689 and sentences["answers"].sum() == 6397
    pairs = [
        read_sentence_labels(files[f"{half}_sentences"]) for half in ("snippets", "unanswerable")
    ]
    assert [(len(half), half["answers"].sum()) for half in pairs] == [(12687, 6395), (12751, 0)]
    # The same sentence in two passages, with a snippet in one of them.
    both = [half.groupby(["question", "sentence"])["answers"].nunique() for half in pairs]
    assert [int((half > 1).sum()) for half in both] == [21, 0]


def test_read_passage_predictions_agree_with_labels(files):
    labels = read_passage_labels(files["snippets"], files["unanswerable"])
    test = labels[labels["partition"] == "test"]
    predicted = read_passage_predictions(files["chatgpt_passages"])
    keys = ["turn_id", "passage_id", "answerable"]
    assert sorted(test[keys].itertuples(index=False, name=None)) == sorted(
        predicted[keys].itertuples(index=False, name=None)
    )


def test_aggregate_released_scores(files):
    scores = read_sentence_scores(files["classifier"])["scores"].tolist()
    theirs = pd.read_csv(files["classifier"])
    assert aggregate(scores, "max") == pytest.approx(theirs["max probability"])
    assert aggregate(scores, "mean") == pytest.approx(theirs["avg probability"])


def test_read_sentence_labels_partitions(files):
    """A classifier is not trained on sentences of questions on which it is tested."""
    labels = read_passage_labels(files["snippets"], files["unanswerable"])
    partitions = labels.groupby("question")["partition"].agg(set)
    for half in ("snippets", "unanswerable"):
        sentences = read_sentence_labels(files[f"{half}_sentences"])
        pairs = zip(sentences["question"], sentences["partition"], strict=True)
        assert all(partition in partitions[question] for question, partition in pairs)


def test_decide_levels_published_accuracy(files):
    predicted = read_passage_predictions(files["chatgpt_passages"])
    scores = predicted["predicted"].astype(float).to_numpy()[:, None]
    passage, _, ranking, *_ = decide_levels(
        predicted, list(scores), {"max": 0.5, "mean": 0.33}, repeated="tuples"
    )
    assert round((passage.truth == passage.predicted).mean(), 3) == 0.787
    assert len(ranking.truth) == 4539
    assert round((ranking.truth == ranking.predicted).mean(), 3) == 0.839


def test_best_threshold_lowest_of_equal():
    """Every threshold above .2 and up to .8 decides both cases correctly."""
    assert best_threshold([0.2, 0.8], [False, True]) == 0.25
    assert best_threshold([0.2, 0.8], [True, True]) == 0.05
