"""Worked example of chapter 3 of heuss2025: the order that the uncertainty of scores allows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import norm

from everycell.fair_ranking.pufr import moved_scores, pufr
from everycell.jobs.result_job import ResultJob
from everycell.render.figure_files import TEXT_WIDTH, style
from everycell.render.figures import common_legend
from everycell.render.palette import GREEN, GREY, VERMILION

#: Label, colour and marker of documents, by whether they are protected.
_GROUPS = {True: ("protected", GREEN, "^"), False: ("not protected", VERMILION, "v")}
_STEPS = (
    "(a) Distributions",
    "(b) Intervals",
    "(c) Moved scores",
    "(d) New ranking",
)


def interval_example(job: ResultJob) -> None:
    """Figure 3.1: scores of a toy list before and after PUFR."""
    documents = job.params.documents
    rows = example_list(
        [document[0] for document in documents],
        [document[1] for document in documents],
        [document[2] for document in documents],
        job.params.alpha,
    )
    job.write_figure(rows, draw_steps(rows))


def example_list(
    means: list[float], deviations: list[float], protected: list[bool], alpha: float
) -> pd.DataFrame:
    """Documents with interval, moved score, and rank before and after PUFR."""
    order = pufr(means, deviations, protected, alpha)
    ranks = np.empty(len(order), dtype=int)
    ranks[order] = np.arange(1, len(order) + 1)
    centres, spreads = np.array(means), np.array(deviations)
    return pd.DataFrame(
        {
            "document": [f"D{number}" for number in range(1, len(means) + 1)],
            "protected": protected,
            "mean": means,
            "deviation": deviations,
            "low": centres - alpha * spreads,
            "high": centres + alpha * spreads,
            "moved": moved_scores(means, deviations, protected, {True: alpha, False: -alpha}),
            "rank": pufr(means, deviations, protected, 0.0).argsort() + 1,
            "new_rank": ranks,
        }
    )


def draw_steps(rows: pd.DataFrame) -> Figure:
    """Draw the four steps from distributions to the new ranking."""
    reach = 3 * rows["deviation"]
    limits = ((rows["mean"] - reach).min() - 0.2, (rows["mean"] + reach).max() + 0.6)
    with style():
        figure = Figure(figsize=(TEXT_WIDTH, 2.8), layout="constrained")
        panels = figure.subplots(1, 4, sharey=True)
        for step, (axes, title) in enumerate(zip(panels, _STEPS, strict=True)):
            axes.set_title(title, fontsize=8)
            axes.grid(visible=False)
            for row in rows.itertuples():
                _draw_document(axes, row, step, rows["deviation"].min())
            axes.set(ylim=(len(rows) + 0.7, 0.3))
            if step < 3:
                axes.set(xlabel="Score", xlim=limits)
            else:
                axes.set(xticks=[], xlim=(0, 1))
        panels[0].set_yticks(rows["rank"], [f"rank {rank}" for rank in rows["rank"]])
        common_legend(figure)
    return figure


def _draw_document(axes: Axes, row, step: int, smallest: float) -> None:
    """Draw a document in one of the steps; `smallest` is the smallest deviation of the list."""
    label, colour, marker = _GROUPS[bool(row.protected)]
    look = {"color": colour, "label": label}
    if step == 3:
        change = "" if row.new_rank == row.rank else f" (was {row.rank})"
        position = (0.5, row.new_rank)
        axes.text(*position, f"{row.document}{change}", color=colour, ha="center", va="center")
        return
    if step == 0:
        scores = np.linspace(row.mean - 3 * row.deviation, row.mean + 3 * row.deviation, 101)
        density = norm.pdf(scores, row.mean, row.deviation) / norm.pdf(0, 0, smallest)
        axes.plot(scores, row.rank - 0.7 * density, linewidth=1.0, **look)
    else:
        axes.plot([row.low, row.high], [row.rank] * 2, linewidth=2, alpha=0.6, **look)
    axes.plot([row.mean], [row.rank], marker="x", markersize=5, color=GREY if step == 2 else colour)
    if step == 2:
        axes.plot([row.moved], [row.rank], marker=marker, markersize=6, color=colour)
    end = row.mean + 3 * row.deviation
    axes.annotate(
        row.document, (end, row.rank), (3, 0), textcoords="offset points", fontsize=7, va="center"
    )
