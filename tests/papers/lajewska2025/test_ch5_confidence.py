"""lajewska2025, section 5.4.3: confidence and agreement, by what counts as one observation."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from papers.lajewska2025.cast_snippets_data import (
    CONFIDENCE,
    CONFIDENCE_FILE,
    FILES,
    read_annotations,
)
from papers.lajewska2025.ch5_confidence import (
    AS_RELEASED,
    add_agreement,
    centre_within_groups,
    clustered_correlation,
    confidence_relations,
    confidence_spread,
    draw_relation,
    figure_marks,
    mean_passages,
    nested_variance_shares,
    read_released,
)


def clusters(size=20, number=12, slope=1.0, seed=3):
    """Clusters with a negative correlation of means and a positive one within clusters."""
    dice = np.random.default_rng(seed)
    of = np.repeat(np.arange(number), size)
    x = dice.normal(0, 1, size * number) + 3 * of
    y = slope * (x - 3 * of) - 3 * of + dice.normal(0, 0.5, size * number)
    return pd.DataFrame({"x": x, "y": y, "of": of})


def test_clustered_correlation_sign():
    data = clusters()
    assert clustered_correlation(data, "x", "y", "of")["r"] < -0.9
    assert (
        clustered_correlation(centre_within_groups(data, ["x", "y"], "of"), "x", "y", "of")["low"]
        > 0.8
    )


def test_clustered_correlation_single_rows():
    dice = np.random.default_rng(1)
    x = dice.normal(size=400)
    data = pd.DataFrame({"x": x, "y": 0.5 * x + dice.normal(size=400)})
    result = clustered_correlation(data, "x", "y", resamples=4000)
    fisher = stats.pearsonr(data["x"], data["y"])
    assert result["r"] == pytest.approx(fisher.statistic) and result["p"] == fisher.pvalue
    low, high = fisher.confidence_interval()
    assert (result["low"], result["high"]) == pytest.approx((low, high), abs=0.02)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(1, 5)), min_size=4).filter(
        lambda rows: len({row[2] for row in rows}) > 1
    )
)
def test_shares_of_spread_sum_to_one(rows):
    data = pd.DataFrame(rows, columns=["a", "b", "value"])
    shares = nested_variance_shares(data, "value", ["a", "b"])
    assert sum(shares.values()) == pytest.approx(1)
    assert all(-1e-12 <= share <= 1 + 1e-12 for share in shares.values())


@pytest.fixture(scope="module")
def annotations(mirror):
    paths = [mirror / f"{key}.gz" for key in FILES["dataset"]]
    batches = [
        read_annotations([path]).assign(batch=f"{path.parent.name} {path.name}") for path in paths
    ]
    return add_agreement(pd.concat(batches, ignore_index=True))


@pytest.mark.released
def test_mean_passages_released(annotations, mirror):
    ours = mean_passages(annotations).set_index(["turn_id", "text_id"])
    theirs = read_released(mirror / f"{CONFIDENCE_FILE}.gz").set_index(["turn_id", "text_id"])
    both = ours.join(theirs.add_suffix("_released"), how="outer")
    assert len(both) == len(ours) == 1855
    np.testing.assert_allclose(both["confidence"], both["confidence_released"])
    gap = (both["agreement"] - both["agreement_released"]).abs()
    # Theirs closes gaps of one character.
    assert (gap > 1e-9).sum() == 103 and gap.max() < 0.02


@pytest.mark.released
def test_clustered_correlation_passages_and_workers(annotations, mirror):
    result = confidence_relations(
        annotations, read_released(mirror / f"{CONFIDENCE_FILE}.gz"), resamples=200, seed=1
    )
    table = result.pivot(index="reading", columns="metric", values="value")
    of_passages = table.loc[AS_RELEASED]
    assert round(of_passages["r"], 2) == 0.28 and of_passages["p"] < 1e-30
    for name in ("passages of one question", "annotations of one worker", "means of questions"):
        assert table.loc[name, "low"] > 0, name
    for name in ("means of workers", "means of teams"):
        assert table.loc[name, "low"] < 0 < table.loc[name, "high"] and table.loc[name, "p"] > 0.3
    shares = confidence_spread(annotations).set_index("level")["value"]
    assert shares["between workers"] > 4 * shares["between batches of a worker"]
    left, right = draw_relation(figure_marks(annotations)).axes
    assert len(left.collections[1].get_offsets()) == 12
    assert len(right.collections[0].get_offsets()) == 15


def test_confidence_levels():
    assert CONFIDENCE[0] == "very_low" and len(CONFIDENCE) == 5


def test_figure_marks_interval_by_hand():
    """Agreements of .2, .4, .4 and .6 at one level: a standard error of .0816, times 1.96."""
    agreements = {"p1": 0.2, "p2": 0.4, "p3": 0.4, "p4": 0.6, "p5": 0.9}
    annotations = pd.DataFrame(
        [
            (text, worker, 5 if text == "p5" else 4 if worker == "w1" else 2, value)
            for text, value in agreements.items()
            for worker in ("w1", "w2")
        ],
        columns=["text_id", "worker", "confidence", "agreement"],
    ).assign(turn_id="t1", batch="b1", team="w1 w2", without=0)
    marks = figure_marks(annotations).set_index(["part", "level"])
    low, high = 0.4 - 1.96 * 0.08165, 0.4 + 1.96 * 0.08165
    columns = ["n", "value", "low", "high"]
    assert marks.loc[("passages", 3.0), columns].tolist() == pytest.approx(
        [4, 0.4, low, high], 1e-4
    )
    # One passage has no spread.
    assert marks.loc[("passages", 5.0), columns].tolist() == [1, 0.9, 0.9, 0.9]
    workers = figure_marks(annotations).query("part == 'workers'").set_index("name")
    assert workers.loc["w2", columns].tolist() == pytest.approx([5, 0.5, 0.5, 0.5])
    assert workers["level"].to_dict() == pytest.approx({"w1": 4.2, "w2": 2.6})


def test_clustered_correlation_interval_of_two_clusters_by_hand():
    """Resamples: either cluster twice (1/4 each), or both (1/2)."""
    draw = np.random.default_rng(2)
    x = draw.normal(size=40)
    noise = np.repeat([0.2, 2.0], 20) * draw.normal(size=40)
    data = pd.DataFrame({"x": x, "y": x + noise, "of": np.repeat([0, 1], 20)})
    first, second = (
        stats.pearsonr(part["x"], part["y"]).statistic for _, part in data.groupby("of")
    )
    both = stats.pearsonr(data["x"], data["y"]).statistic
    assert second < both < first
    # The quantiles .2 and .8 are outside the half of the resamples that have both clusters.
    for confidence, expected in (
        (0.95, (second, first)),
        (0.6, (second, first)),
        (0.4, (both,) * 2),
    ):
        result = clustered_correlation(data, "x", "y", "of", confidence=confidence)
        assert (result["low"], result["high"]) == pytest.approx(expected)
