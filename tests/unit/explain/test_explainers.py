"""Explainers of ranked lists: KernelSHAP against enumeration, single documents, LIME, checks."""

import lightgbm
import numpy as np
import pytest
from data_errors import refused

from everycell.explain.explainers import (
    ExplainedList,
    checks,
    greedy,
    listwise_lime,
    mean_listwise_lime,
    mean_pointwise_lime,
    pointwise_lime,
    pointwise_shap,
    ranking_shap,
    sharp,
    top_lime_weights,
)
from everycell.explain.forests import read_forest
from everycell.explain.games import RankGame, masked_scores, tree_shapley_values
from everycell.explain.shapley import all_coalitions, kernel_shapley_values, shapley_values
from everycell.explain.value_functions import kendall, ranks_of

#: Weights of the features that the labels come from; the others are noise.
WEIGHTS = np.array([0, 0, 4.0, 0, 2.0, 0, 0, 1.0, 0, 0])


@pytest.fixture(scope="module")
def explained(tmp_path_factory):
    rng = np.random.default_rng(3)
    vectors = rng.random((900, len(WEIGHTS)))
    # A column that is the same everywhere is read by no split.
    vectors[:, 0] = 1
    labels = np.digitize(vectors @ WEIGHTS, [2, 3, 4, 5])
    model = lightgbm.LGBMRanker(objective="lambdarank", verbose=-1, n_jobs=1)
    model.fit(vectors[:840], labels[:840], group=[30] * 28)
    path = tmp_path_factory.mktemp("explainers") / "model.txt"
    model.booster_.save_model(path)
    return ExplainedList(read_forest(path), vectors[840:852], vectors[:40])


def first_two(values):
    return np.argsort(-values, kind="stable")[:2].tolist()


@pytest.mark.compares("kernel_shapley_values")
def test_kernel_shapley_values_few_features():
    worth = np.random.default_rng(0).random(2**6)
    bits = 1 << np.arange(6)
    result = kernel_shapley_values(
        lambda coalitions: worth[coalitions @ bits], 6, rng=np.random.default_rng(1)
    )
    assert result == pytest.approx(shapley_values(worth), abs=1e-9)


def test_kernel_shapley_values_global_generator():
    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    kernel_shapley_values(
        lambda coalitions: coalitions.sum(axis=1), 15, rng=np.random.default_rng(1), coalitions=100
    )
    assert np.random.random() == expected


@pytest.mark.compares("ranking_shap")
def test_ranking_shap_near_enumeration(explained):
    value = kendall(explained.ranks)
    game = explained.game(value)
    result = ranking_shap(explained, value, np.random.default_rng(0), select=False)
    exact = shapley_values(game(all_coalitions(game.features)))
    assert result[explained.used_columns] == pytest.approx(exact, abs=0.01)
    ends = game(np.array([[True] * game.features, [False] * game.features]))
    assert result.sum() == pytest.approx(ends[0] - ends[1])


def test_explainers_unused_feature(explained):
    assert 0 not in explained.used_columns
    rng = np.random.default_rng(0)
    for values in (
        ranking_shap(explained, kendall(explained.ranks), rng, select=True),
        greedy(explained, kendall(explained.ranks), 3),
        pointwise_shap(explained),
        sharp(explained, rng),
        mean_pointwise_lime(explained, rng, 300),
        mean_listwise_lime(explained, rng, 300),
    ):
        assert values.shape == WEIGHTS.shape and values[0] == 0


def test_explainers_two_largest_features(explained):
    rng = np.random.default_rng(0)
    value = kendall(explained.ranks)
    assert first_two(ranking_shap(explained, value, rng, select=False)) == [2, 4]
    assert first_two(greedy(explained, value, 3)) == [2, 4]
    assert set(first_two(mean_pointwise_lime(explained, rng, 2000))) == {2, 4}
    assert set(first_two(mean_listwise_lime(explained, rng, 4000))) == {2, 4}


def test_rank_game_equals_masked_lists(explained):
    restricted = explained.restricted_list
    coalitions = np.random.default_rng(0).random((9, len(explained.used_columns))) < 0.5
    result = RankGame(restricted.forest, restricted.documents, restricted.background)(coalitions)
    masked = masked_scores(
        restricted.forest, restricted.documents, restricted.background, coalitions
    )
    scores = explained.forest(explained.documents)
    for row in range(len(coalitions)):
        for document in range(len(scores)):
            ranks = []
            for sample in range(len(restricted.background)):
                changed = scores.copy()
                changed[document] = masked[sample, row, document]
                ranks.append(ranks_of(changed)[document])
            assert result[row, document] == pytest.approx(-np.mean(ranks))


@pytest.mark.compares("sharp")
def test_sharp_equals_mean_over_documents(explained):
    restricted = explained.restricted_list
    game = RankGame(restricted.forest, restricted.documents, restricted.background)
    item = shapley_values(game(all_coalitions(len(explained.used_columns))))
    result = sharp(explained, np.random.default_rng(0))[explained.used_columns]
    assert result == pytest.approx(item.mean(axis=1), abs=0.05)


@pytest.mark.compares("checks")
def test_checks_ties():
    calls = []

    def game(coalitions):
        calls.append(coalitions.tolist())
        return coalitions.sum(axis=1).astype(float)

    attributions = np.array([[1.0, 2.0, 1.0], [0.0, 0.0, 3.0]])
    result = checks(game, attributions, [2, 5])
    (requests,) = calls
    assert requests[:4] == [[True, True, False], [True] * 3, [True, False, True], [True] * 3]
    assert requests[4:] == [[False, False, True], [False] * 3, [False, True, False], [False] * 3]
    assert result.preservation.tolist() == [[2, 3], [2, 3]]
    assert result.deletion.tolist() == [[1, 0], [1, 0]]


def test_checks_invalid_attribution():
    with refused("attribution", np.nan):
        checks(lambda coalitions: coalitions.sum(axis=1), np.array([[np.nan, 1]]), [1])


@pytest.mark.compares(
    "top_lime_weights", "mean_pointwise_lime", "mean_listwise_lime", "pointwise_shap", "greedy"
)
def test_mean_attributions(explained):
    """Means over the documents; of absolute weights for scores, which may differ in sign."""
    restricted = explained.restricted_list
    parts = (restricted.forest, restricted.documents, restricted.background)
    top = np.flatnonzero(explained.ranks <= 5)
    assert len(top) == 5

    def expected(values):
        result = np.zeros(len(WEIGHTS))
        result[explained.used_columns] = values
        return pytest.approx(result)

    weights = pointwise_lime(
        parts[0], parts[1][top], parts[2], samples=50, rng=np.random.default_rng(4)
    )
    assert (weights.min(axis=0) < 0).any() and (weights.max(axis=0) > 0).all()
    rows = top_lime_weights(explained, np.random.default_rng(4), 50)
    assert all(row == expected(weight) for row, weight in zip(rows, weights, strict=True))
    result = mean_pointwise_lime(explained, np.random.default_rng(4), 50)
    assert result == expected(np.abs(weights).mean(axis=0))
    weights = listwise_lime(
        *parts, kendall(explained.ranks), samples=50, rng=np.random.default_rng(4)
    )
    result = mean_listwise_lime(explained, np.random.default_rng(4), 50)
    assert result == expected(weights.mean(axis=0))
    item = tree_shapley_values(explained.forest, explained.documents[top], explained.background)
    assert pointwise_shap(explained) == pytest.approx(item.mean(axis=0))
    # Greedy selection: the limit for the first feature, one less for each further one.
    assert sorted(greedy(explained, kendall(explained.ranks), 3))[-3:] == [1, 2, 3]


def test_checks_ties_of_many_features():
    """Ties go to the first feature, whatever their number."""
    requests = []

    def game(coalitions):
        requests.append(coalitions[0])
        return coalitions.sum(axis=1).astype(float)

    checks(game, np.array([0.5, 0.9] * 50), [52])
    assert np.flatnonzero(requests[0]).tolist() == sorted([*range(1, 100, 2), 0, 2])
