"""Worked example of chapter 2 of heuss2025: unknown exposure, before and after resampling."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from everycell.base.arrays import BoolArray, IntArray
from everycell.fair_ranking.fair_exposure import fair_exposure, logarithmic_rank_weights
from everycell.fair_ranking.felix import resample
from everycell.fair_ranking.marginals import entropy_marginals
from everycell.jobs.result_job import ResultJob
from everycell.render.figure_files import HATCHES, style
from everycell.render.palette import COLOURS, INK

ITEMS = "ABCD"
#: Items whose exposure is unknown if a ranking shows both.
PAIRS = ("AB", "CD")


def exposure_example(job: ResultJob) -> None:
    """Figure 2.1: a policy with rankings of unknown exposure, and the policy after resampling."""
    params = job.params
    rows = example_policies(params.merits, params.ranks, params.iterations, params.seed)
    job.write_figure(rows, draw_policies(rows))


def shows_pair(rankings: IntArray) -> BoolArray:
    """Whether each ranking shows both items of a pair."""
    pairs = [[ITEMS.index(item) for item in pair] for pair in PAIRS]
    return np.any([np.isin(rankings, pair).sum(axis=1) == 2 for pair in pairs], axis=0)


def example_policies(merits: list[float], ranks: int, iterations: int, seed: int) -> pd.DataFrame:
    """Rankings of two policies with the same exposures: one decomposition, and resampling."""
    weights = logarithmic_rank_weights(ranks)
    marginals = entropy_marginals(fair_exposure(np.array(merits, dtype=float), weights), weights)
    rows = []
    for panel, count in (("One decomposition", 1), ("Resampling", iterations)):
        rng = np.random.default_rng(seed)
        policy = resample(marginals, shows_pair, iterations=count, rng=rng).policy
        table = pd.DataFrame(
            {
                "panel": panel,
                "ranking": ["".join(ITEMS[item] for item in row) for row in policy.rankings],
                "probability": policy.weights,
                "unknown": shows_pair(policy.rankings),
            }
        )
        # A ranking may occur in several iterations.
        keys = ["panel", "ranking", "unknown"]
        rows.append(
            table.groupby(keys, as_index=False)["probability"]
            .sum()
            .sort_values(["unknown", "probability"], ascending=False, kind="stable")
        )
    return pd.concat(rows, ignore_index=True)


def draw_policies(rows: pd.DataFrame) -> Figure:
    """Draw the rankings of each policy as columns of items, those with unknown exposure first."""
    with style():
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        panels = list(rows.groupby("panel", sort=False))
        widest = max(len(rankings) for _, rankings in panels)
        for axes, (title, rankings) in zip(figure.subplots(len(panels), 1), panels, strict=True):
            unknown = rankings.loc[rankings["unknown"], "probability"].sum()
            axes.set_title(f"{title}: exposure unknown for {100 * unknown:.1f} % of the rankings")
            for column, row in enumerate(rankings.itertuples()):
                for rank, item in enumerate(row.ranking):
                    pair = next(number for number, pair in enumerate(PAIRS) if item in pair)
                    corner = (column + 0.1, -rank - 0.9)
                    look = {"facecolor": COLOURS[pair], "hatch": HATCHES[pair], "alpha": 0.45}
                    axes.add_patch(Rectangle(corner, 0.8, 0.8, edgecolor=INK, **look))
                    axes.text(column + 0.5, -rank - 0.5, item, ha="center", va="center")
                label = f"{row.probability:.3f}" + ("\nunknown" if row.unknown else "")
                axes.text(column + 0.5, 0.1, label, ha="center", va="bottom", fontsize=8)
            axes.set(xlim=(0, widest), ylim=(-len(row.ranking), 1.0), yticks=[-0.5, -1.5])
            axes.set_yticklabels(["rank 1", "rank 2"])
            axes.set_xticks([])
            axes.grid(visible=False)
            for spine in axes.spines.values():
                spine.set_visible(False)
    return figure
