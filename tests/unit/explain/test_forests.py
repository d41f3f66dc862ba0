"""Forests: scores of masked documents against LightGBM's own, and files that are refused."""

import lightgbm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.explain.forests import forest_of, read_forest
from everycell.explain.games import (
    ListwiseGame,
    masked_scores,
    pointwise_shapley_values,
    tree_shapley_values,
)
from everycell.explain.shapley import all_coalitions
from everycell.explain.value_functions import kendall, ranks_of

FEATURES = 8


def trained(objective="lambdarank", rows=600, missing=0.0, labels=None, **options):
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(rows, FEATURES)).round(1)
    grades = np.digitize(vectors @ np.arange(FEATURES), [-5, 0, 5, 15])
    grades = grades if labels is None else labels(grades)
    vectors[rng.random(vectors.shape) < missing] = np.nan
    data = lightgbm.Dataset(vectors, grades, group=[30] * (rows // 30))
    parameters = {"objective": objective, "verbose": -1, "num_threads": 1} | options
    return lightgbm.train(parameters, data, num_boost_round=20), vectors


@pytest.fixture(scope="module")
def ranker(tmp_path_factory):
    model, vectors = trained()
    path = tmp_path_factory.mktemp("forest") / "model.txt"
    model.save_model(path)
    return read_forest(path), model, vectors


def saved(model, tmp_path):
    path = tmp_path / "model.txt"
    model.save_model(path)
    return path


def test_forest_equals_lightgbm(ranker):
    forest, model, vectors = ranker
    assert forest(vectors) == pytest.approx(model.predict(vectors), abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_masked_scores_equal_masked_vectors(ranker, data):
    forest, model, vectors = ranker
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    documents, background = rng.choice(vectors, 5), rng.choice(vectors, 3)
    # More than a word of coalitions, and not a whole number of words.
    coalitions = rng.random((data.draw(st.integers(1, 150)), FEATURES)) < rng.random()
    result = forest.masked_scores(documents, background, coalitions)
    expected = masked_scores(model.predict, documents, background, coalitions)
    assert result == pytest.approx(expected, abs=1e-12)


def test_forest_equal_leaves(ranker):
    forest, _, vectors = ranker
    twice = np.concatenate([vectors[:5], vectors[:5]])
    result = forest.masked_scores(twice, vectors[:7], all_coalitions(FEATURES))
    assert (result[..., :5] == result[..., 5:]).all()


def test_listwise_game_equals_prediction(ranker):
    forest, model, vectors = ranker
    documents, background = vectors[:6], vectors[100:110]
    value = kendall(ranks_of(forest(documents)))
    walked, predicted = (
        ListwiseGame(one, documents, background, value)(all_coalitions(FEATURES))
        for one in (forest, model.predict)
    )
    assert walked == pytest.approx(predicted, abs=1e-12)


def test_forest_missing_zero(tmp_path):
    model, vectors = trained(zero_as_missing=True)
    forest = read_forest(saved(model, tmp_path))
    assert (forest.zeros_left != (forest.thresholds >= 0)).any()
    vectors[::3, ::2] = 0
    assert forest(vectors) == pytest.approx(model.predict(vectors), abs=1e-12)


OBJECTIVES = ("regression", "regression_l1", "huber", "lambdarank", "rank_xendcg")
#: Values at which LightGBM's rules for missing values, zeros and infinity differ.
SPECIAL = [np.nan, 0.0, -0.0, 1e-36, -1e-36, 1e-35, -1e-35, 1.1e-35, -1.1e-35]
SPECIAL += [1e300, -1e300, 1e305, np.inf, -np.inf]


@settings(max_examples=25, deadline=None)
@given(
    objective=st.sampled_from(OBJECTIVES),
    boosting=st.sampled_from(["gbdt", "dart"]),
    use_missing=st.booleans(),
    zero_as_missing=st.booleans(),
    missing=st.sampled_from([0.0, 0.3]),
    zeros=st.sampled_from([0.0, 0.4]),
    seed=st.integers(0, 2**32 - 1),
)
def test_read_forest_missing_values(
    tmp_path_factory, objective, boosting, use_missing, zero_as_missing, missing, zeros, seed
):
    rng = np.random.default_rng(seed)
    # Columns of positive, of negative and of all numbers, one constant.
    vectors = rng.normal(size=(300, 5))
    vectors[:, :3] = np.abs(vectors[:, :3]) * [1, -1, 1]
    vectors[:, 4] = 1
    labels = np.digitize(vectors[:, :4] @ [1, 2, 3, 4], [0, 2, 4]).astype(float)
    vectors[rng.random(vectors.shape) < zeros] = 0
    vectors[rng.random(vectors.shape) < missing] = np.nan
    data = lightgbm.Dataset(vectors, labels, group=[30] * 10)
    parameters = {
        "objective": objective,
        "boosting": boosting,
        "use_missing": use_missing,
        "zero_as_missing": zero_as_missing,
        "min_data_in_leaf": 5,
        "num_leaves": 8,
        "verbose": -1,
        "num_threads": 1,
    }
    model = lightgbm.train(parameters, data, num_boost_round=6)
    forest = read_forest(saved(model, tmp_path_factory.mktemp("forest")))
    unseen = rng.normal(size=(200, 5))
    special = rng.random(unseen.shape) < 0.4
    unseen[special] = rng.choice(SPECIAL, size=int(special.sum()))
    assert forest(vectors) == pytest.approx(model.predict(vectors), abs=1e-9)
    assert forest(unseen) == pytest.approx(model.predict(unseen), abs=1e-9)
    documents, background = unseen[:4], unseen[4:7]
    coalitions = rng.random((70, 5)) < 0.5
    assert forest.masked_scores(documents, background, coalitions) == pytest.approx(
        masked_scores(model.predict, documents, background, coalitions), abs=1e-9
    )


def test_listwise_game_missing_values(tmp_path):
    rng = np.random.default_rng(3)
    model, vectors = trained(missing=0.3)
    forest = read_forest(saved(model, tmp_path))
    documents, background = vectors[:6], vectors[rng.choice(600, 10)]
    assert np.isnan(documents).any()
    assert np.isnan(background).any()
    value = kendall(ranks_of(model.predict(documents)))
    result = ListwiseGame(forest, documents, background, value)(all_coalitions(FEATURES))
    peer = [
        value(ranks_of(s))
        for s in masked_scores(model.predict, documents, background, all_coalitions(FEATURES))
    ]
    assert result == pytest.approx(np.mean(peer, axis=0), abs=1e-12)
    with pytest.raises(ValueError, match="documents, row 1: feature [0-9] is nan"):
        ListwiseGame(model.predict, documents, background, value)
    with pytest.raises(ValueError, match="feature [0-9] is inf"):
        ListwiseGame(forest, np.full((2, FEATURES), np.inf), background, value)


def test_tree_shapley_values_missing_values(tmp_path):
    model, vectors = trained(missing=0.3)
    forest = read_forest(saved(model, tmp_path))
    full = np.nan_to_num(vectors)
    assert tree_shapley_values(forest, full[:2], full[5:9]) == pytest.approx(
        pointwise_shapley_values(forest, full[:2], full[5:9]), abs=1e-5
    )
    for documents, background in ((vectors, full), (full, vectors)):
        with pytest.raises(ValueError, match="feature 1 is nan"):
            tree_shapley_values(forest, documents[:9], background[:9])
    model, vectors = trained(zero_as_missing=True)
    with pytest.raises(ValueError, match="treats 0 as missing"):
        tree_shapley_values(read_forest(saved(model, tmp_path)), vectors[:2], vectors[5:9])


def test_ranks_of_missing_score():
    with pytest.raises(ValueError, match="score is nan"):
        ranks_of([0.5, np.nan])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "binary"}, "objective 'binary sigmoid:1' transforms"),
        ({"objective": "cross_entropy"}, "objective 'cross_entropy' transforms"),
        ({"objective": "poisson"}, "objective 'poisson"),
        ({"objective": "gamma"}, "objective 'gamma' transforms"),
        ({"objective": "tweedie"}, "objective 'tweedie"),
        ({"objective": "regression", "reg_sqrt": True}, "objective 'regression sqrt' transforms"),
        ({"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}, "random forest"),
    ],
)
def test_read_forest_transformed_scores(tmp_path, options, message):
    model, _ = trained(
        **options, labels=lambda labels: (labels > 2) + 0.5 * (options.get("objective") == "gamma")
    )
    with pytest.raises(ValueError, match=message):
        read_forest(saved(model, tmp_path))


@pytest.mark.compares("tree_shapley_values")
def test_tree_shapley_values_equal_tree_explainer(ranker):
    forest, _, vectors = ranker
    documents, background = vectors[:4], vectors[50:80]
    # The package holds thresholds as 32-bit floats.
    assert tree_shapley_values(forest, documents, background) == pytest.approx(
        pointwise_shapley_values(forest, documents, background), abs=1e-5
    )


def test_read_forest_other_features(ranker):
    forest, _, vectors = ranker
    with pytest.raises(ValueError, match=r"shape of the documents is \(600, 7\).* has 8 features"):
        forest(vectors[:, :7])
    for sizes in ((7, 8), (8, 7), (9, 9)):
        tables = [np.ones((4, size)) for size in sizes]
        with pytest.raises(ValueError, match="numbers of features is .*; expected 8 in both"):
            tree_shapley_values(forest, *tables)


def test_read_forest_other_file(tmp_path):
    path = tmp_path / "model.txt"
    path.write_text("no model")
    with pytest.raises(ValueError, match="model.txt cannot be read as a LightGBM ranking model"):
        read_forest(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        # LightGBM's own parser ends the process on some of these.
        ("left_child=1 -1", "left_child=0 -1", "do not form a tree"),
        ("left_child=1 -1", "left_child=1 -9", "do not form a tree"),
        ("decision_type=2 2", "decision_type=3 2", "unknown type"),
        ("split_feature=0 1", "split_feature=0 7", "not among the 2"),
        ("leaf_value=-0.2 0.2 -0.1", "leaf_value=-0.2 0.2", "2 values, expected 3"),
        ("threshold=0.5 0.25", "threshold=0.5 nan", "not finite"),
        ("max_feature_idx=1", "max_feature_idx=9", "does not match feature_names"),
    ],
)
def test_read_forest_broken_tree(tmp_path, old, new, message):
    full = (
        "tree\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=1\nfeature_names=a b\n\n"
        "Tree=0\nnum_leaves=3\nnum_cat=0\nsplit_feature=0 1\nthreshold=0.5 0.25\n"
        "decision_type=2 2\nleft_child=1 -1\nright_child=-2 -3\nleaf_value=-0.2 0.2 -0.1\n\n\n"
        "end of trees\n"
    )
    path = tmp_path / "model.txt"
    path.write_text(full)
    assert read_forest(path)(np.array([[0.9, 0.0], [0.1, 0.1]])).round(9).tolist() == [0.2, -0.2]
    assert old in full
    path.write_text(full.replace(old, new))
    with pytest.raises(ValueError, match=f"model.txt cannot be read .*{message}"):
        read_forest(path)


def test_read_forest_several_classes(tmp_path):
    model, _ = trained("multiclass", num_class=5)
    with pytest.raises(ValueError, match="5 trees per iteration: use a model with one score"):
        read_forest(saved(model, tmp_path))


def test_read_forest_linear_trees(tmp_path):
    model, _ = trained("regression", linear_tree=True)
    with pytest.raises(ValueError, match="linear trees: train"):
        read_forest(saved(model, tmp_path))


def test_read_forest_categorical_splits(tmp_path):
    rng = np.random.default_rng(1)
    kinds = rng.integers(0, 6, size=(500, 1)).astype(float)
    data = lightgbm.Dataset(kinds, kinds[:, 0] % 2, categorical_feature=[0])
    model = lightgbm.train({"objective": "regression", "verbose": -1}, data, num_boost_round=3)
    with pytest.raises(ValueError, match="categorical splits: train"):
        read_forest(saved(model, tmp_path))


def test_read_forest_no_trees():
    with pytest.raises(ValueError, match="no trees: train it"):
        forest_of([], ["length"])
