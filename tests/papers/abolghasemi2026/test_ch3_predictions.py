"""Tables of satisfaction estimators: published values, worked examples, invariants."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from papers.abolghasemi2026.ch3_predictions import (
    TEST_SETS,
    confusions,
    curve_by_dissatisfied_share,
    mean_overlaps,
    measure_confusions,
    overlap_rows,
    overlaps,
    select_predictions,
    select_setups,
    spread_of_f1,
)
from papers.abolghasemi2026.ch3_robustness import (
    apology_effects,
    doubling_gains,
    f1_gain,
    gains,
)
from papers.abolghasemi2026.ch3_training import AUGMENTED, CONTROL


def predictions(counts, **names):
    """Answers with given (satisfied right, wrong, dissatisfied right, wrong) of each part."""
    rows = []
    for part, (right, wrong, result, missed) in counts.items():
        satisfied = [True] * (right + wrong) + [False] * (result + missed)
        predicted = [True] * right + [False] * (wrong + result) + [True] * missed
        for number, (label, message) in enumerate(zip(satisfied, predicted, strict=True)):
            rows.append((part, f"{number}{'-cf' * (part == 'cf')}", label, message))
    frame = pd.DataFrame(rows, columns=["part", "id", "satisfied", "predicted"])
    names = {"benchmark": "MultiWOZ", "model": "Zephyr", "setup": "Few-shot", "seed": 0} | names
    return frame.assign(**names)


# Behind Table 3.6, MultiWOZ, Zephyr: (counts of Main and CF, printed rows).
ZEPHYR = {"main": (613, 198, 15, 25), "cf": (18, 1, 465, 59)}
PUBLISHED = {
    "Main": (73.80, 51.56, 56.54, 48.23),
    "CF": (88.95, 61.58, 91.74, 65.72),
    "Mixed": (79.70, 79.47, 80.57, 79.46),
}


@pytest.mark.parametrize("test_data", TEST_SETS)
def test_measure_confusions_published_rows(test_data):
    table = measure_confusions(confusions(predictions(ZEPHYR)))
    row = table[table["test_data"] == test_data].set_index("metric")["value"]
    assert tuple(row.round(2)) == PUBLISHED[test_data]


def test_confusions_without_counterfactuals():
    counts = confusions(predictions({"main": (3, 1, 1, 0)}))
    assert counts["test_data"].tolist() == ["Main"]


def test_select_setups_mean_over_trainings():
    good, bad = {"valid": (8, 0, 2, 0)}, {"valid": (8, 0, 0, 2)}
    middle = {"valid": (8, 0, 1, 1)}
    frame = pd.concat(
        [
            predictions(counts, setup=setup, seed=seed)
            for setup, seed, counts in [
                ("x1", 0, good),
                ("x1", 1, bad),
                ("x10", 0, middle),
                ("x10", 1, good),
                ("x20", 0, middle),
                ("x20", 1, good),
            ]
        ]
    )
    # Equal means: the first.
    assert select_setups(frame) == {("MultiWOZ", "Zephyr"): "x10"}


def test_mean_overlaps_per_training():
    one = predictions({"main": (2, 0, 0, 0), "cf": (0, 0, 2, 0)}, seed=0)
    none = predictions({"main": (2, 0, 0, 0), "cf": (0, 0, 0, 2)}, seed=1)
    both = pd.concat([one, none])
    assert overlaps(both) == [1, 0]
    rows = overlap_rows(both)
    assert rows.to_numpy().tolist() == [["Zephyr", "MultiWOZ", "JSI", value] for value in (1, 0)]
    assert mean_overlaps(rows)["value"].tolist() == [0.5]
    # A model that solves no sample in one training has no mean.
    assert mean_overlaps(rows.assign(value=[1, np.nan])).empty


def test_f1_gain_difference_and_sign():
    one = predictions({"main": (70, 10, 5, 5), "cf": (5, 5, 40, 40)})
    two = predictions({"main": (75, 5, 2, 8), "cf": (8, 2, 20, 60)})
    f1 = [
        measure_confusions(confusions(item))
        .query("test_data == 'Mixed' and metric == 'F1'")["value"]
        .item()
        for item in (one, two)
    ]
    gain, low, high = f1_gain(one, two, draws=300, seed=1)
    assert gain == pytest.approx(f1[0] - f1[1])
    assert low < gain < high
    back = f1_gain(two, one, draws=300, seed=1)
    assert back == pytest.approx((-gain, -high, -low))
    # Rows may come in any order.
    assert f1_gain(one.iloc[::-1], two, draws=300, seed=1) == pytest.approx((gain, low, high))


def test_f1_gain_plain_bootstrap():
    one = predictions({"main": (30, 10, 15, 5)})
    two = predictions({"main": (20, 20, 10, 10)})
    _, low, high = f1_gain(one, two, draws=600, seed=0)
    dice, truth = np.random.default_rng(7), one["satisfied"].to_numpy()
    result = []
    for _ in range(250):
        rows = dice.integers(0, len(one), len(one))
        first, second = (
            f1_score(truth[rows], item["predicted"].to_numpy()[rows], average="macro")
            for item in (one, two)
        )
        result.append(100 * (first - second))
    np.testing.assert_allclose([low, high], np.quantile(result, [0.025, 0.975]), atol=4)


def test_f1_gain_equal_and_different_samples():
    one = predictions({"main": (3, 1, 1, 1), "cf": (1, 1, 1, 0)})
    assert f1_gain(one, one, draws=20, seed=0) == (0, 0, 0)
    with pytest.raises(ValueError, match="samples or training runs differ"):
        f1_gain(one, one.iloc[1:], draws=20, seed=0)


def test_f1_gain_mean_over_trainings():
    right, wrong = {"main": (2, 0, 2, 0)}, {"main": (0, 2, 0, 2)}
    both = pd.concat([predictions(right, seed=0), predictions(wrong, seed=1)])
    never = pd.concat([predictions(wrong, seed=seed) for seed in (0, 1)])
    gain, low, high = f1_gain(both, never, draws=50, seed=0)
    assert gain == 50 and low <= gain <= high


COUNTS = st.tuples(*[st.integers(0, 12)] * 4)


@given(st.tuples(st.integers(1, 12), *[st.integers(0, 12)] * 3), COUNTS, st.integers(1, 4))
def test_curve_by_dissatisfied_share_starts_at_main(main, cf, orders):
    frame = predictions({"main": main, "cf": cf})
    result = curve_by_dissatisfied_share(frame, orders=orders, seed=1)
    first = measure_confusions(confusions(predictions({"main": main}))).set_index("metric")["value"]
    start = result[result["percent"] == result["percent"].min()].set_index("metric")
    assert start.loc["Acc", "value"] == pytest.approx(first["Acc"])
    assert start.loc["F1", "value"] == pytest.approx(first["F1"])
    assert (result["low"] <= result["value"]).all() and (result["value"] <= result["high"]).all()
    assert result["value"].between(0, 100).all()
    assert result["percent"].max() <= 100


def test_curve_by_dissatisfied_share_always_satisfied():
    frame = predictions({"main": (80, 0, 0, 20), "cf": (0, 0, 0, 300)})
    result = curve_by_dissatisfied_share(frame, orders=3, seed=0)
    accuracy = result[result["metric"] == "Acc"].set_index("percent")["value"]
    # 80 right of as many as make the share: no order changes that.
    np.testing.assert_allclose(accuracy[[20, 40, 60]], [80, 100 * 80 / 134, 40])
    np.testing.assert_allclose(result["low"], result["high"])
    assert (result.loc[result["metric"] == "recall of dissatisfaction", "value"] == 0).all()


def test_curve_by_dissatisfied_share_orders():
    frame = predictions({"main": (80, 0, 0, 20), "cf": (0, 0, 50, 50)})
    result = curve_by_dissatisfied_share(frame, orders=20, seed=0)
    inner = result[(result["metric"] == "Acc") & (result["percent"] == 40)]
    assert (inner["low"] < inner["high"]).all()
    pd.testing.assert_frame_equal(result, curve_by_dissatisfied_share(frame, orders=20, seed=0))


def test_spread_single_training():
    counts = [(9, 1, 2, 8), (10, 0, 5, 5)]
    frames = [predictions({"main": item}, seed=seed) for seed, item in enumerate(counts)]
    f1 = [
        measure_confusions(confusions(frame)).set_index("metric").loc["F1", "value"]
        for frame in frames
    ]
    both = measure_confusions(confusions(pd.concat(frames)))
    result = spread_of_f1(both, ["model"]).set_index("metric")["value"]
    assert result["mean F1"] == pytest.approx(np.mean(f1))
    assert result["deviation"] == pytest.approx(np.std(f1, ddof=1))
    assert (result["lowest F1"], result["highest F1"]) == (min(f1), max(f1))
    alone = spread_of_f1(measure_confusions(confusions(frames[0])), ["model"])
    assert set(alone["metric"]) == {"mean F1", "lowest F1", "highest F1", "trainings"}


SETUPS = {
    "w/o up-sampling": {"main": (9, 1, 2, 8), "cf": (5, 0, 1, 4)},
    AUGMENTED: {"main": (8, 2, 6, 4), "cf": (5, 0, 4, 1)},
    f"w/o up-sampling, {CONTROL}": {"main": (9, 1, 1, 9), "cf": (5, 0, 2, 3)},
}


def three_setups():
    frames = [predictions(counts, setup=name) for name, counts in SETUPS.items()]
    return pd.concat(frames, ignore_index=True)


def test_gains_setups_of_the_thesis():
    table = gains(three_setups(), draws=20, seed=0)
    assert set(table["instead_of"]) == {"w/o up-sampling"}
    f1 = {
        setup: measure_confusions(confusions(predictions(counts))).set_index(
            ["test_data", "metric"]
        )["value"]
        for setup, counts in SETUPS.items()
    }
    for test_data in TEST_SETS:
        row = table[(table["test_data"] == test_data) & (table["metric"] == "gain in F1")]
        expected = f1[AUGMENTED][test_data, "F1"] - f1["w/o up-sampling"][test_data, "F1"]
        assert row["value"].item() == pytest.approx(expected)
    assert gains(predictions(SETUPS["w/o up-sampling"]), draws=20, seed=0).empty


def test_doubling_gains_against_single_up_sampling():
    tenfold, twentyfold = {"main": (9, 1, 2, 8)}, {"main": (8, 2, 6, 4)}
    names = ("up-sampling x10", "up-sampling x20", f"up-sampling x10, {CONTROL}", "w/o up-sampling")
    counts = (tenfold, twentyfold, twentyfold, tenfold)
    frame = pd.concat(
        [predictions(item, setup=name) for name, item in zip(names, counts, strict=True)],
        ignore_index=True,
    )
    table = doubling_gains(frame, draws=20, seed=0)
    assert table["setup"].unique().tolist() == ["up-sampling x20"]
    assert table["instead_of"].unique().tolist() == ["up-sampling x10"]
    # Main is the only test set.
    assert set(table["test_data"]) == {"Main"}
    f1 = [
        measure_confusions(confusions(predictions(item))).set_index("metric").loc["F1", "value"]
        for item in (twentyfold, tenfold)
    ]
    gain = table.set_index("metric").loc["gain in F1", "value"]
    assert gain == pytest.approx(f1[0] - f1[1])


def test_apology_effects_answered_parts():
    plain = predictions({"main": (9, 1, 0, 10)}, model="BERT").assign(part="plain")
    requests = pd.concat([predictions(SETUPS["w/o up-sampling"], model="BERT"), plain])
    table = apology_effects(pd.concat([requests, predictions(SETUPS[AUGMENTED], model="other")]))
    assert set(table["model"]) == {"BERT"}
    recall = table[table["metric"] == "recall of dissatisfaction"].set_index("test_data")["value"]
    assert recall.to_dict() == pytest.approx({"Main": 20, "Main without apologies": 0, "CF": 20})


def test_select_predictions_augmented_setup():
    names = {("MultiWOZ", "Zephyr"): "w/o up-sampling"}
    output = select_predictions(three_setups(), names)
    assert dict(zip(output["model"], output["setup"], strict=True)) == {
        "Zephyr": "w/o up-sampling",
        "Zephyr + counterfactuals": AUGMENTED,
    }
    assert select_predictions(
        predictions({"main": (1, 1, 1, 1)}, setup="w/o up-sampling"), names
    ).empty


@pytest.mark.parametrize(
    ("cf", "expected"), [((0, 0, 1, 29), (100 / 30, 0, 100)), ((0, 0, 29, 1), (2900 / 30, 0, 100))]
)
def test_curve_by_dissatisfied_share_interval_of_the_orders(cf, expected):
    """One counterfactual is added, and one in 30 differs: more than 2.5 %, fewer than 5 %."""
    frame = predictions({"main": (9, 0, 0, 0), "cf": cf})
    table = curve_by_dissatisfied_share(frame, orders=3000, seed=0).set_index(["metric", "percent"])
    row = table.loc[("recall of dissatisfaction", 10)]
    assert (row["low"], row["high"]) == expected[1:]
    assert row["value"] == pytest.approx(expected[0], abs=1.5)
