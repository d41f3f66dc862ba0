"""Whole runs re-ranked against bias, and the cost in utility: `everycell measure rerank`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from everycell.collections.rating_files import read_table, row_in_file
from everycell.engine.arrays import FloatArray, IntArray
from everycell.engine.frames import Schema
from everycell.engine.render.figure_files import COLOURS, DASHES, MARKERS, style
from everycell.engine.render.marks import common_legend
from everycell.engine.untrusted import in_quotes
from everycell.fair_ranking.constrained import (
    best_by_assignment,
    best_by_integer_program,
    gains,
)
from everycell.fair_ranking.fa_ir import adjusted_significance, fa_ir, minimum_protected
from everycell.fair_ranking.neutral_exposure import reciprocal_nfairr
from everycell.fair_ranking.uncertainty import pufr
from everycell.retrieval.evaluation import evaluate
from everycell.trec.runs import trec_order

Method = Literal["pufr", "fair", "assignment", "milp"]
METHODS: tuple[str, ...] = get_args(Method)
NEUTRALITIES = Schema(
    "neutralities", ids=("document",), ranges={"neutrality": (0, 1)}, key=("document",)
)


def read_neutralities(path: Path | str) -> dict[str, float]:
    """Read the neutrality of documents."""
    path = Path(path)
    table = read_table(path, ("document", "neutrality"), error=ValueError)
    NEUTRALITIES.check(table, lambda row: row_in_file(path, row))
    return dict(zip(table["document"], table["neutrality"].astype(float), strict=True))


def rerank_run(
    run: pd.DataFrame,
    neutralities: Mapping[str, float],
    method: Method,
    alpha: float,
    *,
    deviations: pd.DataFrame | None = None,
    protected_from: float = 1.0,
    depth: int = 50,
    significance: float = 0.1,
    adjusted: bool = False,
) -> pd.DataFrame:
    """Re-rank every list of a run; the new scores count down to 1.

    `alpha` is a number of standard deviations (pufr), the least share of protected documents
    (fair), or the least share of the best fairness (assignment and milp, for the first `depth`).
    """
    if method not in METHODS:
        raise ValueError(f"The method is {method!r}: give one of {', '.join(METHODS)}.")
    ordered = trec_order(run)
    unknown = ~ordered["document"].isin(neutralities.keys())
    if unknown.any():
        raise ValueError(
            f"The document {in_quotes(ordered['document'][unknown].iloc[0])} of the run has no "
            "neutrality: give one for each document of the run."
        )
    if method == "pufr":
        if deviations is None:
            raise ValueError(
                "The method pufr needs the standard deviation of each score: give them."
            )
        ordered = with_deviations(ordered, deviations)
    parts = []
    for query, part in ordered.groupby("query", sort=False):
        neutral = part["document"].map(neutralities).to_numpy(dtype=float)
        protected = neutral >= protected_from
        scores = part["score"].to_numpy(dtype=float)
        try:
            order: IntArray
            if method == "pufr":
                order = pufr(scores, part["deviation"].to_numpy(dtype=float), protected, alpha)
            elif method == "fair":
                level = significance
                if adjusted:
                    level = adjusted_significance(len(scores), alpha, significance)
                order = fa_ir(scores, protected, minimum_protected(len(scores), alpha, level))
            else:
                order = _constrained(scores, neutral, alpha, depth, method)
        except ValueError as error:
            raise ValueError(f"Query {in_quotes(query)}: {error}") from None
        documents = part["document"].to_numpy()[order]
        ranks = np.arange(len(documents), 0, -1, dtype=float)
        parts.append(pd.DataFrame({"query": query, "document": documents, "score": ranks}))
    return pd.concat(parts, ignore_index=True)


def trade_off(
    runs: Mapping[float, pd.DataFrame],
    neutralities: Mapping[str, float],
    qrels: pd.DataFrame | None = None,
    *,
    cutoffs: Sequence[int] = (10,),
) -> pd.DataFrame:
    """Fairness and utility of re-ranked runs."""
    rows = []
    for alpha, run in runs.items():
        ordered = trec_order(run)
        lists = [
            part["document"].map(neutralities).to_numpy(dtype=float)
            for _, part in ordered.groupby("query", sort=False)
        ]
        row: dict[str, float] = {"alpha": alpha}
        for cutoff in cutoffs:
            values = np.array([reciprocal_nfairr(neutral, cutoff) for neutral in lists])
            known = values[~np.isnan(values)]
            row[f"nFaiRR@{cutoff}"] = float(known.mean()) if known.size else float("nan")
        if qrels is not None:
            measures = [f"nDCG@{cutoff}" for cutoff in cutoffs]
            row |= evaluate(run, qrels, measures, missing_topics="drop").mean().to_dict()
        rows.append(row)
    return pd.DataFrame(rows)


def trade_off_plot(table: pd.DataFrame) -> Figure:
    """Plot each measure over the strength."""
    with style():
        figure = Figure(figsize=(4.6, 3.0), layout="constrained")
        axes = figure.subplots()
        ordered = table.sort_values("alpha")
        for index, measure in enumerate(ordered.columns.drop("alpha")):
            axes.plot(
                ordered["alpha"],
                ordered[measure],
                color=COLOURS[index % len(COLOURS)],
                marker=MARKERS[index % len(MARKERS)],
                linestyle=DASHES[index % len(DASHES)],
                markersize=4,
                label=measure,
            )
        axes.set(xlabel="alpha", ylabel="Mean over queries")
        common_legend(figure)
    return figure


def with_deviations(run: pd.DataFrame, deviations: pd.DataFrame) -> pd.DataFrame:
    """Add the standard deviation of each score.

    Examples
    --------
    >>> run = pd.DataFrame({"query": "q", "document": ["a", "b"], "score": [2.0, 1.9]})
    >>> with_deviations(run, run.assign(score=[0.1, 0.2]))["deviation"].tolist()
    [0.1, 0.2]
    """
    names = deviations[["query", "document", "score"]].rename(columns={"score": "deviation"})
    both = run.merge(names, on=["query", "document"], how="left", validate="one_to_one")
    lacking = both["deviation"].isna()
    if lacking.any():
        pair = both[lacking].iloc[0]
        raise ValueError(
            f"The document {in_quotes(pair['document'])} of query {in_quotes(pair['query'])} has "
            "no standard deviation: give one for each pair of the run."
        )
    return both


def _constrained(
    scores: FloatArray,
    neutral: FloatArray,
    alpha: float,
    depth: int,
    method: str,
) -> IntArray:
    if depth < 1:
        raise ValueError(f"the depth is {depth}: re-order 1 document or more.")
    solve: Callable[..., object] = best_by_assignment
    if method == "milp":
        solve = best_by_integer_program
    head = min(depth, len(scores))
    solution = solve(gains(scores[:head]), neutral[:head], alpha)
    return np.concatenate([solution.ranking, np.arange(head, len(scores))])  # type: ignore[attr-defined]
