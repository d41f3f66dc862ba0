"""Ranking quality of satisfaction estimators, without a threshold.

Supplementary to Table 3.6: an estimator that labels every sample satisfied may still rank the
dissatisfied ones first.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from everycell.collections.satisfaction_samples import COUNTERFACTUAL
from everycell.statistics.discrimination import discrimination
from everycell.studies.abolghasemi2026.ch3.answers import ESTIMATOR, TEST_SETS

#: Columns of the table.
RANKED = ("accuracy", "one label", "AUROC", "low", "high", "AP", "AP by chance")


def ranking_quality(answers: pd.DataFrame, *, draws: int, seed: int) -> pd.DataFrame:
    """Area under the ROC curve and average precision of each estimator on each test set."""
    rows = []
    for (benchmark, model, setup), own_answers in answers.groupby(ESTIMATOR, sort=False):
        for test_data, parts in TEST_SETS.items():
            if set(parts) <= set(own_answers["part"]):
                test_answers = own_answers[own_answers["part"].isin(parts)]
                values = _ranking_values(test_answers, draws=draws, seed=seed)
                rows.append((test_data, model, setup, benchmark, *values))
    columns = ["test_data", "model", "setup", "benchmark"]
    table = pd.DataFrame(rows, columns=[*columns, *RANKED])
    table["test_data"] = pd.Categorical(table["test_data"], list(TEST_SETS))
    table = table.sort_values("test_data", kind="stable").astype({"test_data": str})
    return table.melt(id_vars=columns, var_name="metric").dropna(subset="value")


def _ranking_values(answers: pd.DataFrame, *, draws: int, seed: int) -> tuple[float, ...]:
    """Values of the columns `RANKED` for one estimator in one setup, on one test set."""
    answers = answers.reset_index(drop=True)
    pairs, names = pd.factorize(answers["id"].str.removesuffix(COUNTERFACTUAL))
    dice = np.random.default_rng(seed)
    draw_counts = dice.multinomial(len(names), np.full(len(names), 1 / len(names)), size=draws)
    # The first row of weights counts each pair once: the observed sample.
    weights = np.vstack([np.ones(len(names)), draw_counts])[:, pairs]
    trainings = [rows for _, rows in answers.groupby("seed")]
    results = [
        discrimination(~rows["satisfied"], rows["probability"].fillna(0.5), weights[:, rows.index])
        for rows in trainings
    ]
    auroc = 100 * np.mean([result.auroc for result in results], axis=0)
    is_correct = answers["satisfied"] == answers["predicted"]
    return (
        100 * is_correct.mean(),
        100 * float(np.mean([rows["predicted"].nunique() == 1 for rows in trainings])),
        float(auroc[0]),
        *np.nanquantile(auroc[1:], [0.025, 0.975]).tolist(),
        100 * float(np.mean([result.average_precision[0] for result in results])),
        100 * float((~answers["satisfied"]).mean()),
    )
