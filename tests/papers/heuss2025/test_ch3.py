"""Chapter 3 of heuss2025: measures of lists, operating points, curves, and certain lists."""

import numpy as np
import pandas as pd
import pytest

from everycell.retrieval.encoded import Encoded
from everycell.retrieval.evaluation import evaluate
from everycell.statistics.laplace import LastLayer
from papers.heuss2025.ch3 import (
    change_shares,
    crossing_documents,
    example_lists,
    loss_note,
    operating_cells,
    settings_by_loss,
    spread_of_deviations,
)
from papers.heuss2025.ch3_curves import (
    Curves,
    advantages,
    changes,
    interval,
    order_violations,
)
from papers.heuss2025.ch3_figures import (
    control_figure,
    crossing_figure,
    density_figure,
    panel_points,
    trade_off_figure,
)
from papers.heuss2025.ch3_scores import (
    candidate_pairs,
    product_vectors,
    scores_by_fold,
    train_head,
    training_pairs,
)
from papers.heuss2025.ch3_trade_offs import (
    METRICS,
    UNIFORM,
    measures,
    measures_by_strength,
    ranked_lists,
    read_lists,
    scores_over_heads,
)

RNG = np.random.default_rng(7)
SCORES = pd.DataFrame(
    [(f"q{q}", f"d{d:02}") for q in range(24) for d in range(30)], columns=["query", "document"]
).assign(mean=RNG.normal(size=720), deviation=RNG.uniform(0.1, 0.8, 720))
NEUTRAL = {f"d{d:02}": [1.0, 0.0, 1.0, 0.4][d % 4] for d in range(30)}
QRELS = SCORES[["query", "document"]].assign(
    relevance=np.where(SCORES["mean"] + RNG.normal(size=720) > 1.2, RNG.integers(1, 4, 720), 0)
)
LISTS = ranked_lists(SCORES, NEUTRAL, QRELS)
METHODS = {"protected_from": 1.0, "constrained": 20, "significance": 0.1}


@pytest.fixture(scope="module")
def measured():
    return measures_by_strength(LISTS, **METHODS, uniform_alphas=[0.5, 1.0, 2.0])


def test_measures_equal_trec_eval():
    run = SCORES.rename(columns={"mean": "score"})
    expected = evaluate(run, QRELS, ["nDCG@10", "nDCG@100"])
    for item in LISTS:
        result = measures(item, np.arange(len(item.documents)))
        np.testing.assert_allclose(result[:2], expected.loc[item.query], atol=1e-6)


def test_ranked_lists_topic_without_relevant_documents():
    qrels = QRELS[QRELS["query"] != "q3"]
    assert [item.query for item in ranked_lists(SCORES, NEUTRAL, qrels)] == [
        f"q{q}" for q in range(24) if q != 3
    ]


def test_measures_by_strength_all_queries(measured):
    assert (measured.groupby(["method", "alpha"])["query"].nunique() == len(LISTS)).all()
    means = measured.groupby(["method", "alpha"])[list(METRICS)].mean()
    start = means.loc[("UNFAIR", 0.0)]
    for method in ("PUFR", UNIFORM, "CVXOPT"):
        assert (means.loc[method, "nFaiRR@10"] >= start["nFaiRR@10"] - 1e-9).all()
    assert means.loc[("PUFR", 18.0), "nFaiRR@10"] == pytest.approx(1.0)


def test_settings_by_loss_fairest_strength(measured):
    losses = [0.01, 0.03]
    means = measured.groupby(["method", "alpha"])[list(METRICS)].mean()
    base = means.loc[("UNFAIR", 0.0), "nDCG@100"]
    for loss, strengths in settings_by_loss(measured, losses).items():
        for method, alpha in strengths.items():
            assert means.loc[(method, alpha), "nDCG@100"] >= base - float(loss) - 1e-9
            within = means.loc[method][means.loc[method, "nDCG@100"] >= base - float(loss)]
            assert means.loc[(method, alpha), "nFaiRR@10"] == within["nFaiRR@10"].max()
    cells = operating_cells(measured, losses, 0.05)
    assert set(cells["allowed_loss"]) == {"none", "0.01", "0.03"}
    assert (cells.loc[cells["row"].isin(["PUFR", "UNFAIR"]), "marker"] == "").all()
    of_all = operating_cells(measured, losses, 2.0).set_index(["allowed_loss", "row", "metric"])
    assert set(of_all.loc[of_all["marker"] == "*"].index.get_level_values("row")) == {
        row for row in cells["row"] if row not in ("PUFR", "UNFAIR")
    }


def test_settings_by_loss_too_large_loss(measured):
    worse = measured["method"].eq("FA*IR")
    without = measured.assign(**{"nDCG@100": measured["nDCG@100"].mask(worse, 0.0)})
    assert "FA*IR" in settings_by_loss(measured, [0.01])["0.01"]
    assert "FA*IR" not in settings_by_loss(without, [0.01])["0.01"]


def curves_of(rows, samples=200):
    frame = pd.DataFrame(rows, columns=["method", "alpha", "query", "nDCG@10", "nFaiRR@10"])
    copies = frame.assign(**{"nDCG@100": frame["nDCG@10"], "nFaiRR@50": frame["nFaiRR@10"]})
    return Curves(copies, samples, np.random.default_rng(0))


TWO = [("UNFAIR", 0.0, "a", 0.6, 0.8), ("UNFAIR", 0.0, "b", 0.4, 0.8)]
#: PUFR loses 0.1 for 0.1 of fairness, FA*IR twice as much.
PAIR = [
    *TWO,
    *[("PUFR", 1.0, q, u - 0.1, 0.9) for _, _, q, u, _ in TWO],
    *[("FA*IR", 0.5, q, u - 0.2, 0.9) for _, _, q, u, _ in TWO],
]


def test_advantages_at_the_same_fairness():
    result = advantages(curves_of(PAIR), ["first 10"], ["FA*IR"], [0.85], (0.82, 0.88))
    assert result["fairness"].tolist() == ["0.85", "0.88 less 0.82"]
    np.testing.assert_allclose(result[["value", "low", "high"]].iloc[0], 0.05)
    np.testing.assert_allclose(result["value"].iloc[1], 0.08 - 0.02)
    beyond = advantages(curves_of(PAIR), ["first 10"], ["FA*IR"], [0.95], (0.82, 0.88))
    assert beyond["fairness"].tolist() == ["0.88 less 0.82"]


def test_order_violations_step_back():
    back = [*PAIR, *[("PUFR", 2.0, q, u - 0.07, 0.88) for _, _, q, u, _ in TWO]]
    result = order_violations(curves_of(back), ["PUFR", "FA*IR"]).set_index(["method", "metric"])
    assert result.loc[("PUFR", "nDCG@10"), "value"] == pytest.approx(0.03)
    assert result.loc[("PUFR", "nFaiRR@10"), "value"] == pytest.approx(0.02)
    assert (result.loc["FA*IR", "value"] == 0).all()


def test_changes_between_strengths():
    more = [*PAIR, *[("PUFR", 3.0, q, u - 0.12, 0.95) for _, _, q, u, _ in TWO]]
    result = changes(curves_of(more), "PUFR", [(0, 1), (1, 3)]).set_index(["metric", "span"])
    assert result.loc[("nFaiRR@10", "0 to 1"), "value"] == pytest.approx(0.1)
    assert result.loc[("nFaiRR@10", "1 to 3"), "value"] == pytest.approx(0.05)
    assert result.loc[("nFaiRR@10", "0 to 1, less 1 to 3"), "value"] == pytest.approx(0.05)


def test_advantages_interval_of_uneven_queries():
    uneven = [
        *TWO,
        *[("PUFR", 1.0, q, u, 0.9) for _, _, q, u, _ in TWO],
        ("FA*IR", 0.5, "a", 0.1, 0.9),
        ("FA*IR", 0.5, "b", 0.4, 0.9),
    ]
    row = advantages(curves_of(uneven), ["first 10"], ["FA*IR"], [0.9], (0.9, 0.9)).iloc[0]
    assert row["low"] == pytest.approx(0) and row["high"] == pytest.approx(0.5)
    assert row["value"] == pytest.approx(0.25)


def test_crossing_documents_by_strength():
    result = crossing_documents(LISTS, [0.0, 50.0], 30)
    assert (result.loc[result["alpha"] == "0", "value"] == 0).all()
    assert (result.loc[result["alpha"] == "50", "value"] == 29).all()


def test_change_shares_without_strength():
    options = {**METHODS, "samples": 50, "rng": np.random.default_rng(0)}
    remaining = change_shares(LISTS, {"PUFR": 0.0, "CVXOPT": 0.0, "FA*IR": 0.01}, **options)
    assert (remaining["value"] == 0).all()
    moved = change_shares(LISTS, {"PUFR": 18.0}, **options)
    assert (moved["value"] == 100).all()


def test_example_lists_five_documents():
    points = example_lists(LISTS, 1.0, 1.0)
    assert len(points) == 20 and points.groupby("list")["query"].nunique().eq(1).all()
    shift = points.pivot(index=["list", "document"], columns="when", values="mean")
    rises = points.drop_duplicates(["list", "document"]).set_index(["list", "document"])
    change = (shift["after"] - shift["before"]).where(rises["protected"], np.nan)
    assert (change.dropna() >= 0).all()
    assert len(density_figure(points).axes) == 4


def test_trade_off_figure_duplicate_marks(measured):
    with pytest.raises(ValueError, match="two marks for"):
        trade_off_figure(
            pd.DataFrame({"panel": ["a", "a"], "method": "m", "alpha": 1.0, "value": 1, "fair": 1})
        )


def test_scores_by_fold_held_out_queries():
    pairs = pd.DataFrame(
        {"query": np.repeat(["a", "b", "c", "d"], 5), "document": [*"vwxyz"] * 4, "relevance": 0}
    )
    folds = [
        pd.DataFrame(
            {"query": [*"abcd"], "split": ["test" if q in stored else "train" for q in "abcd"]}
        )
        for stored in ("ab", "cd")
    ]
    calls = []

    def model_of(number, training):
        calls.append(sorted(set(training["query"])))
        head = LastLayer(np.array([[float(number)]]), np.zeros(1))
        return head, lambda rows: np.ones((len(rows), 1))

    options = {"fisher_pairs": 4, "prior": 1.0, "samples": 4000, "seed": 1}
    result = scores_by_fold(pairs, folds, model_of, **options)
    assert calls == [["c", "d"], ["a", "b"]]
    assert result.groupby("query")["mean"].first().tolist() == [0, 0, 1, 1]
    # Four pairs at log odds 0 have information 1, to which the prior adds 1; so has the bias.
    np.testing.assert_allclose(result["deviation"].iloc[0], 1.0)
    again = scores_by_fold(pairs, folds, model_of, **options)
    pd.testing.assert_frame_equal(result, again)
    # Each fold has draws of its own: one head for both has other samples in each.
    head = LastLayer(np.zeros((1, 1)), np.zeros(1))
    both = scores_by_fold(
        pairs, folds, lambda *_: (head, lambda rows: np.ones((len(rows), 1))), **options
    )
    sampled = both.groupby("query")["sampled_mean"].first()
    assert sampled["a"] != sampled["c"]


def test_train_head_optimum():
    rows = RNG.normal(size=(200, 3))
    labels = (rows[:, 0] + RNG.normal(size=200) > 0).astype(int)
    head = train_head(rows, labels, strength=0.5)
    chance = 1 / (1 + np.exp(-head.log_odds(rows)))
    gradient = rows.T @ (labels - chance) - head.weights[0] / 0.5
    np.testing.assert_allclose(gradient, 0, atol=1e-4)


def test_read_lists_neutral_from(tmp_path):
    # No gender term, terms of both sides, terms of one side alone.
    counts = pd.DataFrame(
        {"document_id": ["a", "b", "c"], "length": 9, "f": [0, 3, 9], "m": [0, 2, 0]}
    )
    scores = pd.DataFrame(
        {"query": "1", "document": ["a", "b", "c"], "mean": 1.0, "deviation": 0.1}
    )
    qrels = pd.DataFrame({"query": ["1"], "document": ["a"], "relevance": [1]})
    paths = [tmp_path / f"{name}.parquet" for name in ("scores", "counts", "qrels")]
    for path, frame in zip(paths, (scores, counts, qrels), strict=True):
        frame.to_parquet(path)
    (graded,) = read_lists(*paths)
    (binary,) = read_lists(*paths, neutral_from=0.5)
    assert graded.neutralities.tolist() == pytest.approx([1.0, 0.8, 0.0])
    assert binary.neutralities.tolist() == [1.0, 1.0, 0.0]


def test_scores_over_heads_order():
    scores = pd.DataFrame(
        {"query": "q", "document": ["a", "b"], "mean": [2.0, 1.0], "deviation": 0.1}
    ).assign(sampled_mean=[-0.5, -0.2], sampled_deviation=[0.3, 0.4])
    qrels = pd.DataFrame({"query": ["q"], "document": ["a"], "relevance": [1]})
    (ranked,) = ranked_lists(scores_over_heads(scores), {"a": 1.0, "b": 0.0}, qrels)
    assert ranked.documents == ["b", "a"]
    assert ranked.deviations.tolist() == [0.4, 0.3]


def test_spread_of_deviations_within_queries_and_over_all():
    scores = pd.DataFrame({"query": ["a", "a", "b", "b"], "deviation": [1.0, 3.0, 2.0, 2.0]})
    assert spread_of_deviations({"BM25": scores})["value"].round(1).tolist() == [25.0, 35.4]


def test_interval_of_samples():
    assert interval(np.array([5.0, *range(101)])) == (5.0, 2.5, 97.5)


def test_panel_points_means():
    rows = [("UNFAIR", 0.0, "q", 0.5, 0.8), ("PUFR", 1.0, "q", 0.4, 0.9)]
    frame = pd.DataFrame(rows, columns=["method", "alpha", "query", "nDCG@10", "nFaiRR@10"])
    points = panel_points({"BM25": frame}, ["PUFR"], "nDCG@10", "nFaiRR@10")
    assert points["fair"].tolist() == [0.8, 0.9]


def test_figures_panels():
    points = pd.DataFrame({"ranker": "MiniLM", "alpha": ["1", "2"], "rank": 1, "value": 3})
    assert len(crossing_figure(points.assign(low=1, high=5)).axes) == 2
    points = pd.DataFrame({"method": ["PUFR", "FA*IR"], "metric": "nDCG@10", "alpha": 0.5})
    axes = control_figure(points.assign(value=0.4)).axes
    assert [panel.get_title() for panel in axes] == ["PUFR", "FA*IR"]


def test_candidate_pairs_columns():
    candidates = pd.DataFrame({"query": ["q"], "document_id": ["a"], "relevance": [1]})
    assert candidate_pairs(candidates).columns.tolist() == ["query", "document", "relevance"]


def test_training_pairs_with_the_passage_of_another_query():
    judged = pd.DataFrame({"query": ["a", "b"], "document": ["1", "2"], "relevance": 1})
    pairs = training_pairs(judged, 4, np.random.default_rng(0)).to_numpy().tolist()
    assert pairs == [["a", "1"], ["b", "2"], ["a", "2"], ["b", "1"]]


def test_product_vectors_times_dimension():
    encoded = Encoded("vectors", np.eye(2), np.array([[1.0, 0.5]]), ["a", "b"], ["q"])
    vectors = product_vectors(encoded, pd.DataFrame({"query": ["q"], "document": ["b"]}))
    assert vectors.tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize(
    ("adv", "coder", "note"),
    [
        (0.5, 0.0, ""),
        (0.0, 0.0, "ADV keeps the largest allowed loss"),
        (0.5, 0.5, "CODER exceeds the largest allowed loss"),
    ],
)
def test_operating_cells_trained_methods(measured, adv, coder, note):
    """ADV has its published place outside the allowed losses, CODER its own within them."""
    own = measured[measured["method"] == "UNFAIR"]
    trained = [
        own.assign(method=method, alpha=alpha, **{"nDCG@100": own["nDCG@100"] - loss * alpha})
        for method, loss in (("ADV", adv), ("CODER", coder))
        for alpha in (1.0, 2.0)
    ]
    everything = pd.concat([measured, *trained])
    cells = operating_cells(everything, [0.01], 0.05)
    rows = cells[cells["metric"] == "alpha"].set_index(["allowed_loss", "row"])["value"]
    assert rows["none"].to_dict() == {"UNFAIR": 0.0, "ADV": 1.0}
    assert ("CODER" in rows["0.01"].index) == (coder == 0)
    assert loss_note(everything, [0.01]) == note
