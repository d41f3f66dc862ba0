"""Two printed lists of four documents, each with one gendered word, and what measures say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.metrics.nfairr import nfairr
from everycell.metrics.texfair import texfair

#: Published pattern -> what the box of such a document says.
GROUPS = {"F": "only female terms (she)", "M": "only male terms (he)"}
#: Names in the figure of what a threshold means here.
MEANING = {0: "one term counts", 1: "one term counts as none"}
#: Words of each document, which the paper does not give; the measures do not depend on it.
LENGTH = 10


def example_measures(published: pd.DataFrame, taus: Sequence[float]) -> pd.DataFrame:
    """Measures of each printed list at its end."""
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
    """Cells of the figure: its documents as printed, and NFaiRR of each list with one threshold."""
    keys = ["row", "series", "metric", "x_name", "x", "value"]
    main = values[values["measure"] == measure_name(tau)].rename(columns={"list": "row"})
    last = published["x"].astype(int).max()
    main = main.assign(series="list", metric="NFaiRR", x_name="rank", x=f"1-{last}")
    return pd.concat([published[keys], main[keys]], ignore_index=True)


class Drawn(NamedTuple):
    """What `everycell.retrieval.fairness_figures.documents_in_lists` takes."""

    documents: pd.DataFrame
    values: pd.DataFrame


def figure_frames(published: pd.DataFrame, values: pd.DataFrame) -> Drawn:
    """Documents and bars with the names that the figure shows."""
    documents = published[["row", "x", "value"]].astype({"x": int})
    documents = documents.rename(columns={"row": "list", "x": "rank", "value": "group"})
    titles = {name: f"{name} list" for name in values["list"].unique()}
    labels = {
        measure_name(tau): f"{measure_name(tau)}:\n{meaning}" for tau, meaning in MEANING.items()
    }
    return Drawn(
        documents.replace({"list": titles}), values.replace({"list": titles, "measure": labels})
    )
