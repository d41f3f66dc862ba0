"""Example lists of four documents with one gendered word each, and their measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.metrics.nfairr import nfairr
from everycell.metrics.texfair import texfair

#: Published pattern -> label of such a document.
GROUPS = {"F": "only female terms (she)", "M": "only male terms (he)"}
#: Threshold of NFaiRR -> its meaning in this example.
MEANING = {0: "one term counts", 1: "one term is ignored"}
#: Words per document. The paper does not state it; the measures do not depend on it.
LENGTH = 10


def example_measures(published: pd.DataFrame, taus: Sequence[float]) -> pd.DataFrame:
    """Measures of each list at its last rank."""
    lists = published.assign(rank=published["x"].astype(int)).pivot(
        index="row", columns="rank", values="value"
    )
    counts = np.stack([(lists == group).to_numpy(dtype=float) for group in GROUPS], axis=-1)
    lengths = np.full(counts.shape[:2], LENGTH)
    measures = {measure_name(tau): nfairr(counts, tau=tau)[:, -1] for tau in taus} | {
        "TExFAIR": texfair(counts, lengths)[:, -1]
    }
    values = pd.DataFrame(measures, index=lists.index).melt(ignore_index=False, var_name="measure")
    return values.reset_index(names="list")


def measure_name(tau: float) -> str:
    """Name of NFaiRR with a threshold."""
    return f"NFaiRR, τ = {tau}"


def example_cells(published: pd.DataFrame, values: pd.DataFrame, tau: float) -> pd.DataFrame:
    """Cells of the figure: its documents, and NFaiRR of each list at one threshold."""
    keys = ["row", "series", "metric", "x_name", "x", "value"]
    scores = values[values["measure"] == measure_name(tau)].rename(columns={"list": "row"})
    last = published["x"].astype(int).max()
    scores = scores.assign(series="list", metric="NFaiRR", x_name="rank", x=f"1-{last}")
    return pd.concat([published[keys], scores[keys]], ignore_index=True)


class FigureFrames(NamedTuple):
    """Arguments of `everycell.retrieval.fairness_figures.documents_in_lists`."""

    documents: pd.DataFrame
    values: pd.DataFrame


def figure_frames(published: pd.DataFrame, values: pd.DataFrame) -> FigureFrames:
    """Documents and bars, with the labels of the figure."""
    documents = published[["row", "x", "value"]].astype({"x": int})
    documents = documents.rename(columns={"row": "list", "x": "rank", "value": "group"})
    titles = {name: f"{name} list" for name in values["list"].unique()}
    labels = {
        measure_name(tau): f"{measure_name(tau)}:\n{meaning}" for tau, meaning in MEANING.items()
    }
    return FigureFrames(
        documents.replace({"list": titles}), values.replace({"list": titles, "measure": labels})
    )
