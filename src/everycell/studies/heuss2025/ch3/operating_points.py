"""Table 3.1: the fairest setting of each method for an allowed loss of utility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from everycell.statistics.hypothesis_tests import t_tests
from everycell.studies.heuss2025.ch3.settings import TRAINED
from everycell.studies.heuss2025.ch3.trade_offs import METRICS

#: Methods of the table; those that train a ranker are included if their runs are configured.
ROWS = ("UNFAIR", "PUFR", "CVXOPT", "FA*IR", *TRAINED)
REFERENCE = "PUFR"
#: `allowed_loss` of the original ranking.
NO_LOSS = "none"


def settings_by_loss(
    measured: pd.DataFrame, losses: Sequence[float]
) -> Mapping[str, Mapping[str, float]]:
    """Strength of each method with the best nFaiRR@10 within each allowed loss of nDCG@100."""
    means = measured.groupby(["method", "alpha"], sort=False)[list(METRICS)].mean().reset_index()
    base = means.loc[means["method"] == "UNFAIR", "nDCG@100"].iloc[0]
    by_loss: dict[str, dict[str, float]] = {}
    for loss in losses:
        within = means[means["nDCG@100"] >= base - loss - 1e-12]
        order = within.sort_values(
            ["nFaiRR@10", "nFaiRR@50", "alpha"], ascending=[False, False, True], kind="stable"
        )
        best = order.drop_duplicates("method").set_index("method")["alpha"]
        by_loss[f"{loss:g}"] = {row: float(best[row]) for row in ROWS[1:] if row in best.index}
    return by_loss


def _settings_beyond_losses(
    measured: pd.DataFrame, best_settings: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    """Trained methods that exceed every allowed loss -> strength with the least loss."""
    means = measured.groupby(["method", "alpha"])["nDCG@100"].mean()
    methods = means.index.get_level_values("method")
    within = {row for strengths in best_settings.values() for row in strengths}
    return {
        row: float(means.loc[row].idxmax())
        for row in TRAINED
        if row in methods and row not in within
    }


def operating_cells(measured: pd.DataFrame, losses: Sequence[float], level: float) -> pd.DataFrame:
    """Cells of Table 3.1; asterisks mark paired t-tests over queries, uncorrected."""
    cells = []
    best_settings = settings_by_loss(measured, losses)
    settings = {
        NO_LOSS: {"UNFAIR": 0.0, **_settings_beyond_losses(measured, best_settings)},
        **best_settings,
    }
    for loss, strengths in settings.items():
        samples = {
            row: measured[(measured["method"] == row) & (measured["alpha"] == alpha)]
            .set_index("query")[list(METRICS)]
            .sort_index()
            for row, alpha in strengths.items()
        }
        for row, values in samples.items():
            cells.append((loss, row, "alpha", strengths[row], ""))
            for metric in METRICS:
                key = (loss, row, metric)
                marker = ""
                if row != REFERENCE and REFERENCE in samples:
                    pair = pd.DataFrame(
                        {row: values[metric], REFERENCE: samples[REFERENCE][metric]}
                    ).dropna()
                    test = t_tests(pair, [(row, REFERENCE)], paired=True, correction="none")
                    marker = "*" if float(test["p"].iloc[0]) < level else ""
                cells.append((*key, float(values[metric].mean()), marker))
    return pd.DataFrame(cells, columns=["allowed_loss", "row", "metric", "value", "marker"])
