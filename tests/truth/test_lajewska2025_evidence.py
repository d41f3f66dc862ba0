"""Numbers that errata of lajewska2025 give as evidence, computed again from the released data."""

import pandas as pd
import pytest

from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.significance import compare_paired_and_unpaired
from everycell.sources import fetch
from everycell.trec.runs import read_qrels, read_run
from papers.lajewska2025.ch3_tuning import read_grid, tuned_points
from papers.lajewska2025.ch4 import power_analysis
from papers.lajewska2025.ch6_labels import CONDENSED, read_nugget_labels
from papers.lajewska2025.ch6_scores import nugget_scores
from papers.lajewska2025.ch7 import failing_workers
from papers.lajewska2025.user_study_data import (
    ANSWERABILITY,
    VIEWPOINTS,
    failed_checks,
    read_response_limitations,
    read_transparency,
)

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


def test_attention_checks_of_accepted_workers(mirror, tmp_path):
    """Chapters 4 and 7: failed checks, and no accepted worker with more than three of ten."""
    folder = "cis-response-limitations"
    counts = {
        name: failed_checks(fetch(f"{folder}/{name}.csv", tmp_path, mirror=mirror))
        for name in ("answerability_both_runs", "viewpoints")
    }
    sizes = {name: (int(failed.sum()), len(failed)) for name, failed in counts.items()}
    assert sizes == {"answerability_both_runs": (58, 960), "viewpoints": (5, 270)}
    ratings = fetch("transparent-cis/user_study.csv", tmp_path, mirror=mirror)
    workers = read_transparency(ratings)["Worker"]
    table = failing_workers(failed_checks(ratings), workers, 10).set_index("failed checks")["value"]
    assert table.loc[:3].tolist() == [70, 36, 26, 28] and table.sum() == 160


def test_power_of_first_runs(mirror, tmp_path):
    """Section 4.3.2: ratings per condition that the power analysis asks for."""
    needed = {}
    for study, name, rating in (
        (ANSWERABILITY, "answerability_first_run", "Factual Correctness"),
        (VIEWPOINTS, "viewpoints", "Diversity"),
    ):
        path = fetch(f"cis-response-limitations/{name}.csv", tmp_path, mirror=mirror)
        ratings = read_response_limitations(path, study)
        values = power_analysis(ratings, rating, alpha=0.05, power=0.8)
        needed[study.name] = values["per_group_needed"]
    assert needed == {"Answerability": 245, "Viewpoints": 15}


def test_grids_of_bm25(mirror, tmp_path):
    """Section 3.3.2: the best points, and recall near the parameters of two systems."""
    files = {
        year: f"cast-reproducibility/bm25_tuning/bm25_parameters_ranking_{year}.csv"
        for year in ("2020", "2021")
    }
    grids = {year: read_grid(fetch(key, tmp_path, mirror=mirror)) for year, key in files.items()}
    points = {"thesis": {"b": 0.45, "k1": 0.95}, "code": {"b": 0.45, "k1": 1.18}}
    table = tuned_points(grids, points).set_index(["cast_year", "point", "metric"])["value"]
    assert table["2020", "best, 1", "k1"] == 0.7
    assert [table["2021", f"best, {number}", "k1"] for number in (1, 2)] == [1.4, 1.3]
    assert table["2020", "code", "recall"] < table["2020", "thesis", "recall"]
    assert table["2021", "code", "recall"] > table["2021", "thesis", "recall"]
