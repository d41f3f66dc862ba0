"""Fair re-ranking of complete runs, and its cost in utility: `everycell measure rerank`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.csv_files import read_table, row_in_file
from everycell.base.errors import DataError, require
from everycell.base.frames import Schema
from everycell.base.untrusted import in_quotes
from everycell.fair_ranking.constrained import (
    best_by_assignment,
    best_by_integer_program,
    reciprocal_nfairr,
    scale_scores,
)
from everycell.fair_ranking.fa_ir import adjusted_significance, fa_ir, minimum_protected
from everycell.fair_ranking.pufr import pufr
from everycell.render.figure_files import DASHES, MARKERS, style
from everycell.render.figures import common_legend
from everycell.render.palette import COLOURS
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
    table = read_table(path, ("document", "neutrality"))
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
    """Re-rank every list of a run; the new scores decrease to 1 at the last rank.

    `alpha` is the number of standard deviations (pufr), the minimum share of protected documents
    (fair), or the minimum share of the largest possible fairness (assignment and milp, which
    re-rank only the top `depth`).
    """
    require(method in METHODS, "method", method, f"one of {', '.join(METHODS)}")
    sorted_run = trec_order(run)
    lacks_neutrality = ~sorted_run["document"].isin(neutralities.keys())
    if lacks_neutrality.any():
        document = sorted_run["document"][lacks_neutrality].iloc[0]
        fault, fix = "which has no neutrality", "give one for every document of the run"
        raise DataError(None, None, "document of the run", document, fault, fix=fix)
    if method == "pufr":
        if deviations is None:
            fault = "The method pufr needs the standard deviation of each score"
            raise DataError(fault=fault, fix="pass `deviations`")
        sorted_run = add_deviations(sorted_run, deviations)
    reranked_lists = []
    for query, ranked_list in sorted_run.groupby("query", sort=False):
        neutrality = ranked_list["document"].map(neutralities).to_numpy(dtype=float)
        protected = neutrality >= protected_from
        # Scores that are equal as 32-bit floats tie, as in `trec_order`.
        scores = ranked_list["score"].to_numpy(dtype=np.float32).astype(float)
        try:
            order: IntArray
            if method == "pufr":
                spreads = ranked_list["deviation"].to_numpy(dtype=float)
                order = pufr(scores, spreads, protected, alpha)
            elif method == "fair":
                level = significance
                if adjusted:
                    level = adjusted_significance(len(scores), alpha, significance)
                order = fa_ir(scores, protected, minimum_protected(len(scores), alpha, level))
            else:
                order = _constrained_order(scores, neutrality, alpha, depth, method)
        except ValueError as error:
            raise ValueError(f"Query {in_quotes(query)}: {error}") from None
        documents = ranked_list["document"].to_numpy()[order]
        new_scores = np.arange(len(documents), 0, -1, dtype=float)
        reranked_lists.append(
            pd.DataFrame({"query": query, "document": documents, "score": new_scores})
        )
    return pd.concat(reranked_lists, ignore_index=True)


def trade_off(
    runs: Mapping[float, pd.DataFrame],
    neutralities: Mapping[str, float],
    qrels: pd.DataFrame | None = None,
    *,
    cutoffs: Sequence[int] = (10,),
) -> pd.DataFrame:
    """Mean nFaiRR and, with `qrels`, nDCG of re-ranked runs, by alpha.

    nFaiRR is the measure of heuss2025 (`reciprocal_nfairr`), not NFaiRR of `everycell.metrics`.
    """
    rows = []
    for alpha, run in runs.items():
        sorted_run = trec_order(run)
        lists = [
            ranked_list["document"].map(neutralities).to_numpy(dtype=float)
            for _, ranked_list in sorted_run.groupby("query", sort=False)
        ]
        row: dict[str, float] = {"alpha": alpha}
        for cutoff in cutoffs:
            values = np.array([reciprocal_nfairr(neutrality, cutoff) for neutrality in lists])
            defined = values[~np.isnan(values)]
            row[f"nFaiRR@{cutoff}"] = float(defined.mean()) if defined.size else float("nan")
        if qrels is not None:
            measures = [f"nDCG@{cutoff}" for cutoff in cutoffs]
            row |= evaluate(run, qrels, measures, missing_topics="drop").mean().to_dict()
        rows.append(row)
    return pd.DataFrame(rows)


def trade_off_plot(table: pd.DataFrame) -> Figure:
    """Plot each measure against alpha."""
    with style():
        figure = Figure(figsize=(4.6, 3.0), layout="constrained")
        axes = figure.subplots()
        sorted_table = table.sort_values("alpha")
        for index, measure in enumerate(sorted_table.columns.drop("alpha")):
            axes.plot(
                sorted_table["alpha"],
                sorted_table[measure],
                color=COLOURS[index % len(COLOURS)],
                marker=MARKERS[index % len(MARKERS)],
                linestyle=DASHES[index % len(DASHES)],
                markersize=4,
                label=measure,
            )
        axes.set(xlabel="alpha", ylabel="Mean over queries")
        common_legend(figure)
    return figure


def add_deviations(run: pd.DataFrame, deviations: pd.DataFrame) -> pd.DataFrame:
    """Add a column with the standard deviation of each score."""
    columns = deviations[["query", "document", "score"]].rename(columns={"score": "deviation"})
    table = run.merge(columns, on=["query", "document"], how="left", validate="one_to_one")
    missing = table["deviation"].isna()
    if missing.any():
        pair = table[missing].iloc[0]
        row, fault = f"query {in_quotes(pair['query'])}", "which has no standard deviation"
        fix = "give one for each query and document of the run"
        raise DataError(None, row, "document", pair["document"], fault, fix=fix)
    return table


def _constrained_order(
    scores: FloatArray, neutrality: FloatArray, alpha: float, depth: int, method: str
) -> IntArray:
    require(depth >= 1, "depth", depth, "1 or more")
    solve: Callable[..., object] = best_by_assignment
    if method == "milp":
        solve = best_by_integer_program
    head = min(depth, len(scores))
    solution = solve(scale_scores(scores[:head]), neutrality[:head], alpha)
    return np.concatenate([solution.ranking, np.arange(head, len(scores))])  # type: ignore[attr-defined]
