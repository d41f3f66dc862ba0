"""The game of a ranked list: ranks, value functions by hand and by scipy, masks, bad input."""

import sys

import numpy as np
import pytest
from data_errors import refused
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import everycell.explain.games as module
from everycell.explain.compiled import put_ranks
from everycell.explain.games import (
    _COUNTED,
    ListwiseGame,
    RankGame,
    _ranks,
    pointwise_shapley_values,
)
from everycell.explain.shapley import all_coalitions, shapley_values
from everycell.explain.value_functions import (
    exposure_difference,
    exposures,
    kendall,
    negative_rank,
    ranks_of,
    weighted_rank_difference,
)

# Up to some more than two words of 64 ranks.
rankings = (st.integers(2, 8) | st.sampled_from([63, 64, 65, 130])).flatmap(
    lambda n: st.permutations(range(1, n + 1))
)


@pytest.mark.compares("ranks_of")
@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.sampled_from(["first", "last"]))
def test_ranks_of_equals_scipy(scores, ties):
    values = np.array(scores, dtype=float)
    if ties == "first":
        expected = stats.rankdata(-values, method="ordinal")
    else:
        expected = stats.rankdata(-values[::-1], method="ordinal")[::-1]
    assert ranks_of(values, ties).tolist() == expected.tolist()


# Rankings are looked at 64 at a time.
@given(
    m=st.sampled_from([1, 63, 64, 65, 130]),
    n=st.integers(1, 6),
    seed=st.integers(0, 2**32 - 1),
    last=st.booleans(),
)
def test_ranks_of_counted(m, n, seed, last):
    values = np.random.default_rng(seed).integers(0, 3, (m, n)).astype(float)
    result = np.empty(values.shape, dtype=np.int64)
    put_ranks(values, last, result)
    assert result.tolist() == ranks_of(values, "last" if last else "first").tolist()


@pytest.mark.parametrize("documents", [_COUNTED, _COUNTED + 1])
@pytest.mark.parametrize("ties", ["first", "last"])
def test_ranks_of_long_rankings(documents, ties):
    scores = np.random.default_rng(0).integers(0, 50, (3, documents)).astype(float)
    assert _ranks(scores, ties).tolist() == ranks_of(scores, ties).tolist()


@pytest.mark.parametrize("ties", ["first", "last"])
def test_ranks_of_without_numba(monkeypatch, ties):
    scores = np.random.default_rng(0).integers(0, 3, (50, 7)).astype(float)
    expected = _ranks(scores, ties)
    monkeypatch.setattr(module, "_IS_COMPILED", False)
    monkeypatch.setitem(sys.modules, "everycell.explain.compiled", None)
    assert _ranks(scores, ties).tolist() == expected.tolist()


def test_ranks_of_ties_of_released_code():
    # numpy.argsort(scores)[::-1] of equal scores.
    assert ranks_of(np.zeros(4), "last").tolist() == [4, 3, 2, 1]


@pytest.mark.compares("kendall")
@given(rankings, st.randoms(use_true_random=False))
def test_kendall_equals_scipy(reference, random):
    other = list(reference)
    random.shuffle(other)
    result = kendall(reference)(np.array([other]))[0]
    assert result == pytest.approx(stats.kendalltau(reference, other).statistic)


@given(rankings)
def test_value_functions_same_ranking(reference):
    same = np.array([reference])
    assert kendall(reference)(same)[0] == 1
    assert weighted_rank_difference(reference)(same)[0] == 0
    assert exposure_difference(reference)(same)[0] == 0


@pytest.mark.compares(
    "exposure", "exposures", "weighted_rank_difference", "negative_rank", "exposure_difference"
)
def test_value_functions_by_hand():
    ranks = np.array([[2, 3, 1]])
    assert weighted_rank_difference([1, 2, 3])(ranks)[0] == pytest.approx(
        (2 - 1) / 1 + (3 - 2) / np.log2(3) + (1 - 3) / 2
    )
    assert negative_rank(1)(ranks)[0] == -3
    assert exposures()(ranks)[0].tolist() == pytest.approx([1 / np.log2(3), 0.5, 1])
    assert exposure_difference([1, 2, 3])(ranks)[0] == pytest.approx(
        (1 - 1 / np.log2(3)) + (1 / np.log2(3) - 0.5) + (1 - 0.5)
    )


def test_listwise_game_by_hand():
    documents = np.array([[1.0, 5.0], [2.0, 0.0]])
    background = np.array([[0.0, 9.0], [3.0, 7.0]])
    game = ListwiseGame(lambda x: x @ [1.0, 1.0], documents, background, negative_rank(0))
    # Nothing kept: a tie, the first document is first. The first feature: 1 + b against 2 + b.
    # The second: b + 5 against b + 0. Both: 6 against 2.
    assert game(all_coalitions(2)).tolist() == [-1, -2, -1, -1]


def model(vectors):
    return np.sin(vectors).sum(axis=1)


def test_listwise_game_batches(monkeypatch):
    rng = np.random.default_rng(0)
    documents, background = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    games = [
        ListwiseGame(model, documents, background, exposures()),
        ListwiseGame(model, documents, background, kendall([2, 1, 4, 3])),
        RankGame(model, documents, background),
    ]
    full = [game(all_coalitions(3)) for game in games]
    # One sample of all 8 coalitions has 32 vectors; then also the coalitions are divided.
    for vectors in (100, 45, 3):
        monkeypatch.setattr(module, "_VECTORS", vectors)
        for game, expected in zip(games, full, strict=True):
            np.testing.assert_array_equal(game(all_coalitions(3)), expected)


def test_listwise_game_memory(monkeypatch):
    monkeypatch.setattr(module, "_VECTORS", 60)
    documents, background = np.eye(3), np.zeros((10, 3))
    calls = []

    def value(ranks):
        calls.append(len(ranks))
        return exposures()(ranks)

    ListwiseGame(model, documents, background, value)(all_coalitions(3))
    # 60 numbers are two coalitions with three exposures for each of ten samples.
    assert max(calls) <= 20 and sum(calls[1:]) == 8 * 10


def test_rank_game_no_coalition():
    game = RankGame(model, np.eye(3), np.zeros((2, 3)))
    assert game(np.zeros((0, 3), dtype=bool)).shape == (0, 3)


def test_listwise_game_unused_feature():
    rng = np.random.default_rng(1)
    documents, background = rng.normal(size=(5, 3)), rng.normal(size=(20, 3))
    reference = ranks_of(documents[:, 0] - documents[:, 2])
    game = ListwiseGame(lambda x: x[:, 0] - x[:, 2], documents, background, kendall(reference))
    result = shapley_values(game(all_coalitions(3)))
    assert result[1] == pytest.approx(0, abs=1e-12)
    assert result.sum() == pytest.approx(1 - game(np.zeros((1, 3), dtype=bool))[0])


@pytest.mark.compares("pointwise_shapley_values")
def test_pointwise_shapley_values_linear_model():
    rng = np.random.default_rng(2)
    documents, background = rng.normal(size=(3, 4)), rng.normal(size=(50, 4))
    weights = np.array([1.0, -2.0, 0.0, 0.5])
    result = pointwise_shapley_values(lambda x: x @ weights, documents, background)
    np.testing.assert_allclose(result, weights * (documents - background.mean(axis=0)), atol=1e-12)


def test_kendall_one_document():
    with refused("number of documents", 1):
        kendall([1])


@pytest.mark.parametrize("reference", [[1, 1], [0, 1], [1, 3], [[1, 2]]])
def test_kendall_invalid_reference(reference):
    with refused("reference", reference):
        kendall(reference)


@pytest.mark.parametrize(
    ("documents", "background", "path", "column", "value"),
    [
        (
            np.zeros((2, 3)),
            np.zeros((2, 2)),
            "None",
            "features of documents and background",
            (3, 2),
        ),
        (np.zeros((0, 3)), np.zeros((2, 3)), "None", "shape of the documents", (0, 3)),
        (np.zeros((2, 3)), np.zeros((0, 3)), "None", "shape of the background", (0, 3)),
        (np.array([[1.0, np.nan]]), np.zeros((1, 2)), "documents", "feature 2", np.nan),
        (np.zeros((1, 2)), np.array([[np.inf, 0.0]]), "background", "feature 1", np.inf),
    ],
)
def test_listwise_game_invalid_vectors(documents, background, path, column, value):
    row = None if path == "None" else "row 1"
    with refused(column, value, path=path, row=row):
        ListwiseGame(lambda x: x[:, 0], documents, background, exposures())
