"""Numbers that errata of lajewska2025 give as evidence, computed again from the released data."""

import pandas as pd
import pytest

from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.significance import compare_paired_and_unpaired
from everycell.sources import fetch
from everycell.trec.runs import read_qrels, read_run
from papers.lajewska2025.ch6_labels import CONDENSED, read_nugget_labels
from papers.lajewska2025.ch6_scores import nugget_scores

pytestmark = pytest.mark.released


def test_recall_differs_significantly(mirror, tmp_path):
    """Section 3.4: p-values of R@500 for the seven pairs of Table 3.3."""
    two_stage, fused = "bm25_mono-t5", "ance_bm25-b-45-k-95_mono-duo-t5"
    runs = [
        *(f"t5-{rewriter}_{two_stage}" for rewriter in ("canard", "qrecc")),
        *(f"t5-{rewriter}_{fused}" for rewriter in ("canard", "qrecc")),
        *(f"prf-17-26_t5-{rewriter}_{fused}" for rewriter in ("canard", "qrecc")),
    ]
    folder = "cast-reproducibility"
    qrels = read_qrels(fetch(f"{folder}/qrels/2021.txt", tmp_path, mirror=mirror))
    recall = pd.DataFrame(
        {
            name: evaluate(
                read_run(fetch(f"{folder}/runs-2021/{name}_2021.trec", tmp_path, mirror=mirror)),
                qrels,
                ["R@500"],
                relevance_level=2,
            )["R@500"]
            for name in runs
        }
    )
    assert len(recall) == 158
    pairs = [(0, 1), (2, 3), (4, 5), (0, 2), (1, 3), (2, 4), (3, 5)]
    tests = compare_paired_and_unpaired(
        recall, [(runs[a], runs[b]) for a, b in pairs], comparisons=14
    )
    assert tests["p_paired"].round(3).tolist() == [0.026, 0.041, 0.089, 0, 0, 0.140, 0.008]
    unpaired = [0.231, 0.210, 0.291, 0.032, 0.040, 0.897, 0.760]
    assert tests["p_unpaired"].round(3).tolist() == unpaired
    assert (tests["p_paired_corrected"] < 0.05).tolist() == [False] * 3 + [True] * 2 + [False] * 2
    assert not (tests["p_unpaired_corrected"] < 0.05).any()


def test_cot_baseline_by_gpt4o(mirror, tmp_path):
    """Table 6.7: how near the mean is to the limit of rounding, and what one label moves."""
    labels = read_nugget_labels(fetch(CONDENSED, tmp_path, mirror=mirror))
    scores = nugget_scores(labels.nuggets, labels.responses, "V_strict")
    mean = scores[scores["judge"] == "gpt4"].groupby("run")["value"].mean()
    near = mean[mean.round(3) == 0.333]
    assert len(near) == 1 and near.round(5).item() == 0.33252
    vital = labels.nuggets[
        (labels.nuggets["judge"] == "gpt4")
        & (labels.nuggets["run"] == near.index[0])
        & (labels.nuggets["importance"] == "vital")
    ]
    maximum = vital.groupby("topic").size().max()
    assert maximum == 22
    assert near.item() - 0.3325 < 1 / maximum / 301
