"""Whether estimators rank dissatisfied samples first: against scikit-learn, and by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from papers.abolghasemi2026.ch3_robustness import RANKED, ranking_quality


def answers(probabilities, *, size=60, **names):
    dice = np.random.default_rng(3)
    truth = dice.random(2 * size) < 0.6
    frame = pd.DataFrame(
        {
            "part": np.repeat(["main", "cf"], size),
            "id": [*map(str, range(size)), *(f"{number}-cf" for number in range(size))],
            "satisfied": truth,
            "probability": probabilities(truth, dice),
        }
    )
    frame["predicted"] = frame["probability"] <= 0.5
    names = {"benchmark": "toy", "model": "BERT", "setup": "x1", "seed": 0} | names
    return frame.assign(**names)


def of(frame, test_data):
    result = ranking_quality(frame, draws=400, seed=1)
    return result[result["test_data"] == test_data].set_index("metric")["value"]


def knows(truth, dice):
    """Probabilities that tell something, and never reach a half."""
    return 0.3 - 0.05 * truth + 0.1 * dice.random(len(truth))


def test_ranking_quality_always_satisfied():
    frame = answers(knows)
    for test_data, part in (("Main", ["main"]), ("CF", ["cf"]), ("Mixed", ["main", "cf"])):
        rows, result = frame[frame["part"].isin(part)], of(frame, test_data)
        truth = ~rows["satisfied"]
        assert result["one label"] == 100
        assert result["accuracy"] == pytest.approx(100 * rows["satisfied"].mean())
        assert result["AUROC"] == pytest.approx(100 * roc_auc_score(truth, rows["probability"]))
        expected = average_precision_score(truth, rows["probability"])
        assert result["AP"] == pytest.approx(100 * expected)
        assert 50 < result["low"] < result["AUROC"] <= result["high"]
        assert result["AP by chance"] == pytest.approx(100 * truth.mean())


def test_ranking_quality_random_scores():
    result = of(answers(lambda truth, dice: dice.random(len(truth))), "Mixed")
    assert result["low"] < 50 < result["high"] and result["one label"] == 0


def test_ranking_quality_missing_label():
    def some(truth, dice):
        return np.where(truth, np.nan, 0.9)

    assert of(answers(some), "Mixed")["AUROC"] == 100


def test_ranking_quality_mean_over_trainings():
    guesses = answers(lambda truth, dice: dice.random(len(truth)), seed=1)
    both = of(pd.concat([answers(knows), guesses]), "Main")
    alone = [of(answers(knows), "Main"), of(guesses.assign(seed=0), "Main")]
    for name in ("AUROC", "AP", "one label", "accuracy"):
        assert both[name] == pytest.approx(np.mean([item[name] for item in alone]))


def test_ranking_quality_without_counterfactuals():
    frame = answers(knows)
    result = ranking_quality(frame[frame["part"] == "main"], draws=100, seed=0)
    assert set(result["test_data"]) == {"Main"} and result["metric"].tolist() == list(RANKED)


def test_ranking_quality_interval_by_hand():
    """Of four dissatisfied samples one is ranked first and three are last.

    The AUROC of a resample is the share of the first among its dissatisfied samples.
    """
    n = 60
    frame = pd.DataFrame(
        {"part": "main", "id": [str(number) for number in range(n)], "satisfied": True}
    )
    frame["probability"] = 0.2
    # Four dissatisfied samples: three at the bottom (AUROC 0), one at the top (AUROC 100).
    frame.loc[:3, "satisfied"] = False
    frame.loc[:2, "probability"], frame.loc[3, "probability"] = 0.1, 0.3
    frame = frame.assign(predicted=True, benchmark="toy", model="BERT", setup="x1", seed=0)
    result = ranking_quality(frame, draws=4000, seed=1)
    result = result[result["test_data"] == "Main"].set_index("metric")["value"]
    assert result["AUROC"] == pytest.approx(25)
    # The share of the good one among the dissatisfied of a resample, by simulation.
    counts = np.random.default_rng(5).multinomial(n, np.full(n, 1 / n), size=20_000)[:, :4]
    shares = counts[:, 3] / np.where(counts.any(axis=1), counts.sum(axis=1), np.nan)
    low, high = 100 * np.nanquantile(shares, [0.025, 0.975])
    assert (result["low"], result["high"]) == pytest.approx((low, high), abs=3)
    assert high - 100 * np.nanquantile(shares, 0.95) > 6
