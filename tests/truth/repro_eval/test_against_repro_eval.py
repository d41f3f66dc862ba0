"""Measures of reproduction against values that repro_eval gave (values.py), on runs with ties."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from everycell.retrieval.reproducibility import compare_runs, ranking_agreement
from everycell.trec.runs import read_qrels, read_run

pytestmark = pytest.mark.compares(
    "ranking_agreement", "score_agreement", "effect_agreement", "compare_runs"
)

FOLDER = Path(__file__).parent
#: Documents of each list, and the persistence of RBO.
LENGTH, P = 12, 0.8
#: Name in values.csv -> frame and column of ours.
OURS = {
    "original": ("scores", "original"),
    "RMSE": ("scores", "rmse"),
    "paired": ("scores", "p_paired"),
    "unpaired": ("scores", "p_unpaired"),
    "ER": ("effects", "effect_ratio"),
    "DeltaRI": ("effects", "delta_relative_improvement"),
}


@pytest.fixture(scope="module")
def truth() -> pd.Series:
    return pd.read_csv(FOLDER / "values.csv").set_index(["name", "of"])["value"]


@pytest.fixture(scope="module")
def runs() -> dict[str, pd.DataFrame]:
    # The files are in order of score, ties in any order: no rank disagrees with its score.
    return {path.stem: read_run(path, ranks="error") for path in FOLDER.glob("*.run")}


def test_runs_ties_and_full_lists(runs):
    assert len(runs) == 4
    for run in runs.values():
        assert (run.groupby("query").size() == LENGTH).all()
        assert run.duplicated(["query", "score"]).sum() > 5


@pytest.mark.parametrize("depth", [5, LENGTH])
def test_order(runs, truth, depth):
    pair = (runs["original"], runs["reproduced"])
    result = ranking_agreement(*pair, depth=depth, union="ids", variant="truncated", p=P).mean()
    assert result["kendall_tau_union"] == pytest.approx(truth["KTU", str(depth)], abs=1e-12)
    # repro_eval divides by the greatest value that a sum of so many depths can have.
    assert result["rbo"] / (1 - P**depth) == pytest.approx(truth["RBO", str(depth)], abs=1e-12)


def test_scores_and_effects(runs, truth):
    measures = truth["RMSE"].index.tolist()
    result = compare_runs(
        runs["original"],
        runs["reproduced"],
        read_qrels(FOLDER / "qrels.txt", scale=(0, 2)),
        measures,
        baselines=(runs["original_baseline"], runs["reproduced_baseline"]),
    )
    assert len(measures) == 6
    for name, (frame, column) in OURS.items():
        ours = getattr(result, frame)[column]
        for measure, value in truth[name].items():
            # Where no topic differs it has no p; here such runs have p = 1.
            expected = 1 if name.endswith("paired") and np.isnan(value) else value
            assert ours[measure] == pytest.approx(expected, abs=1e-9), (name, measure)
    assert truth[["paired", "unpaired"]].isna().sum() == 2
