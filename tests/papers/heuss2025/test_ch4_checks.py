"""The experiment of heuss2025, chapter 4: planted features, features of runs, means, figure."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from everycell.explain.forests import read_forest
from papers.heuss2025.ch4 import Means, mean_attributions
from papers.heuss2025.ch4_explanations import (
    EXPLAINERS,
    MEASURES,
    SIZES,
    Setup,
    combine_weights,
    explain_lists,
)
from papers.heuss2025.ch4_features import (
    WEIGHTS,
    features_from_runs,
    planted_features,
    planted_weights,
)
from papers.heuss2025.ch4_figures import checks_figure
from papers.heuss2025.ch4_settings import LIME_VARIANTS
from papers.heuss2025.ch4_training import train_forest


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    """Attributions and checks of three planted lists, and how to make them again."""
    rng = np.random.default_rng(0)
    train, test = planted_features(40, rng), planted_features(3, rng)
    path = tmp_path_factory.mktemp("experiment") / "model.txt"
    path.write_text(train_forest(train, 0))
    names = list(test.columns[2:])
    # Short lists are quick.
    lists = {query: rows[names].to_numpy()[:8] for query, rows in test.groupby("query")}

    @cache
    def queries_frame(*queries):
        result = explain_lists(
            read_forest(path),
            {query: lists[query] for query in queries or lists},
            train[names].to_numpy(),
            names,
            Setup(10, 200),
            seed=7,
            planted=planted_weights(),
        )
        _, attributions, checks = zip(*result, strict=True)
        return pd.concat(attributions), pd.concat(checks)

    return queries_frame


def test_planted_labels_follow_the_weights():
    lists = planted_features(50, np.random.default_rng(0))
    vectors = lists.iloc[:, 2:].to_numpy()
    result = np.array([np.corrcoef(column, lists["relevance"])[0, 1] for column in vectors.T])
    assert np.argsort(-result)[:3].tolist() == np.argsort(-planted_weights())[:3].tolist()
    assert sorted(planted_weights()[planted_weights() > 0], reverse=True) == list(WEIGHTS)


def test_planted_features_rows(experiment):
    attributions, checks = experiment()
    names = {*EXPLAINERS, *LIME_VARIANTS, "Planted"}
    assert set(attributions["explainer"]) == set(checks["explainer"]) == names
    assert len(checks) == 3 * len(names) * 2 * len(MEASURES) * len(SIZES)
    assert checks["value"].notna().all()


def test_planted_features_found(experiment):
    attributions, _ = experiment()
    best = planted_weights().argmax() + 1
    for explainer in ("RShapK", "RShapW", "Greedy", "PWLime", "RLime"):
        own = attributions[attributions["explainer"] == explainer]
        first = own.groupby("feature")["value"].mean().idxmax()
        assert first == f"feature_{best}", explainer


def test_planted_features_lists_alone(experiment):
    together, alone = experiment(), experiment("1")
    for full, part in zip(together, alone, strict=True):
        pd.testing.assert_frame_equal(full[full["query"] == "1"], part)


def test_combine_weights_signs():
    """Weights of two documents: of opposite sign, and both negative."""
    result = combine_weights(np.array([[3.0, -1.0], [-1.0, -2.0]]))
    assert result["PWLime"].tolist() == [2.0, 1.5]
    signed, unsigned = (result[name].tolist() for name in LIME_VARIANTS)
    assert signed == [1.0, -1.5] and unsigned == [1.0, 1.5]


def test_train_forest_deterministic():
    lists = planted_features(10, np.random.default_rng(0))
    assert train_forest(lists, 0) == train_forest(lists, 0)


def test_features_of_runs_and_terms_by_hand():
    candidates = pd.DataFrame({"query": ["q", "q"], "document_id": ["a", "b"], "relevance": [2, 0]})
    run = pd.DataFrame({"query": "q", "document": ["b", "a"], "score": [1.5, 2.5]})
    result = features_from_runs(
        candidates, {"BM25": run}, {"q": "x y"}, {"a": "x x z", "b": "z", "c": "z"}
    )
    assert result["relevance"].tolist() == [2, 0]
    assert result["BM25"].tolist() == [2.5, 1.5]
    assert result["document length"].tolist() == [3, 1]
    assert result["covered query terms"].tolist() == [0.5, 0]
    # The term x is in one of three documents.
    assert result["rarity of shared terms"].tolist() == pytest.approx([np.log(3), 0])


def test_features_from_runs_missing_candidate():
    candidates = pd.DataFrame({"query": ["q"], "document_id": ["a"], "relevance": [1]})
    run = pd.DataFrame({"query": ["q"], "document": ["b"], "score": [1.0]})
    with pytest.raises(ValueError, match="The run BM25 does not have document a for query q"):
        features_from_runs(candidates, {"BM25": run}, {"q": "x"}, {"a": "x"})


def checks(values):
    """Checks of two lists from their values by explainer."""
    rows = [
        (query, explainer, "deletion", "Exposure difference", size, value)
        for explainer, both in values.items()
        for query, value in zip("ab", both, strict=True)
        for size in (1, 3)
    ]
    return pd.DataFrame(rows, columns=["query", "explainer", "check", "measure", "size", "value"])


def test_means_differences_and_ratios_by_hand():
    values = {"RShapK": (3.0, 5.0), "RShapW": (4.0, 4.0), "Greedy": (1.0, 1.0), "Random": (1, 3)}
    result = Means({"LTR": checks(values)}, 500, np.random.default_rng(0))
    curves = result.curves().set_index(["explainer", "size"])
    assert curves.loc[("RShapK", 1), ["value", "low", "high"]].tolist() == [4, 3, 5]
    differences = result.differences().set_index(["explainer", "other"])
    assert differences.loc[("RShapW", "RShapK"), ["value", "low", "high"]].tolist() == [0, -1, 1]
    # Both lists have 3 more: no sample of them has anything else.
    assert differences.loc[("RShapW", "Greedy"), ["value", "low", "high"]].tolist() == [3, 3, 3]
    ratios = result.ratios().set_index("explainer")
    assert ratios.loc["RShapK", "value"] == 2
    assert ratios.index.tolist() == ["RShapK", "RShapW", "Greedy"]


def test_mean_attributions_come_in_falling_order():
    rows = pd.DataFrame(
        {
            "query": ["a", "a", "b", "b"],
            "explainer": "RShapK",
            "feature": ["x", "y", "x", "y"],
            "value": [0.0, 1.0, 0.5, 1.0],
        }
    )
    result = mean_attributions({"LTR": rows}, "RShapK")
    assert result.values.tolist() == [["LTR", "y", 1.0], ["LTR", "x", 0.25]]


def test_checks_figure_panels():
    values = {"RShapK": (3.0, 5.0), "RShapW": (4.0, 4.0), "Greedy": (1.0, 1.0), "Random": (1, 3)}
    means = Means({name: checks(values) for name in ("A", "B")}, 50, np.random.default_rng(0))
    figure = checks_figure(means.curves())
    panels = np.reshape(figure.axes, (2, -1))
    assert panels[0, 0].get_title() and not panels[1, 0].get_title()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(values)
    assert [axes.get_ylabel().split("\n")[0] for axes in panels[:, 0]] == ["A", "B"]
    series = [[bars.get_label() for bars in axes.containers] for axes in figure.axes]
    assert all(set(names) <= set(values) for names in series)
    assert len(series[0]) == len(values)
