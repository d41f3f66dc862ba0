"""Sizes and settings stated in the text of chapter 2, computed from the collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

#: Numbers of proposed terms (m) for which the text states the mean number of appended tokens.
EXPANSIONS = ("200", "300", "100")
#: Level of the quantile of lengths that the text states.
QUANTILE = 0.9


def list_sizes(candidates: pd.DataFrame) -> pd.DataFrame:
    """Number of queries, and maximum positives and negatives of a list, by split."""
    rows = []
    for (task, split), part in candidates.groupby(["task", "split"], sort=False):
        by_query = part.groupby("query_id")["relevance"]
        positives = by_query.sum()
        rows += [
            (task, split, "queries", len(positives)),
            (task, split, "positives", int(positives.max())),
            (task, split, "negatives", int((by_query.size() - positives).max())),
        ]
    return pd.DataFrame(rows, columns=["task", "split", "metric", "value"])


def stated_sizes(
    candidates: pd.DataFrame,
    terms: Mapping[str, pd.DataFrame],
    new_terms: Mapping[str, Sequence[pd.DataFrame]],
    grid: pd.DataFrame,
) -> pd.DataFrame:
    """Values of the numbers stated in the text, by claim."""
    sizes = list_sizes(candidates)
    test = sizes[sizes["split"] == "test"].groupby("metric")["value"].agg(list)
    papers = set(candidates["document_id"]) | set(candidates["query_id"])
    best_parameters = grid.loc[grid["nDCG"].idxmax()]
    numbers = {
        "SciDocs papers over the four tasks": f"about {round(len(papers), -4)}",
        "query papers per task": _span(test["queries"]),
        "candidates per query: positives up to": _span(test["positives"]),
        "candidates per query: negatives": _span(test["negatives"]),
        "BM25 k": f"{best_parameters['k1']:g}",
        "BM25 b": f"{best_parameters['b']:g}",
    }
    for name, frame in terms.items():
        paper_terms = frame[frame["document_id"].isin(papers)]
        lengths = paper_terms["terms"].str.split().str.len()
        numbers[f"mean tokens of abstract+title, {name} tokenizer"] = str(lengths.mean())
        quantile = np.quantile(lengths, QUANTILE)
        numbers[f"90% quantile of tokens, {name} (in printed order)"] = str(quantile)
    for size in EXPANSIONS:
        mean = np.mean([frame["added"].mean() for frame in new_terms[size]])
        numbers[f"new tokens appended on average with m={size}"] = str(mean)
    return pd.DataFrame(numbers.items(), columns=["claim", "value"])


def _span(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return f"{low}" if low == high else f"{low}-{high}"
