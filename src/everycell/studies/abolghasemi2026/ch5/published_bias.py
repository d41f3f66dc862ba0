"""Bias and citation counts derived from tables of attribution quality.

The mean of differences equals the difference of means, so bias tables (CAB) follow from tables of
attribution quality, whether published or reproduced. Sensitivity (CAS) does not.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from everycell.studies.abolghasemi2026.ch5.modes import (
    CITED,
    OTHER_AUTHOR,
    PRECISION,
    RECALL,
    SETTING,
    displayed_author,
)


def bias_cells(quality: pd.DataFrame) -> pd.DataFrame:
    """Attribution bias (CAB) of all settings, from their attribution quality."""
    pairs = with_opposite_labels(quality[quality["metric"].isin([PRECISION, RECALL])])
    return pairs.assign(
        metric=pairs["metric"].str.replace("attribution", "CAB delta"),
        value=pairs["human"] - pairs["machine"],
    )[[*SETTING, "metric", "value"]]


def recalls_from_counts(counts: pd.DataFrame) -> pd.DataFrame:
    """Recall from the mean number of cited relevant documents.

    With one relevant document per query, the mean number as a percentage is the recall.
    """
    part = counts[counts["metric"] == CITED].drop(columns="value", errors="ignore")
    return part.assign(metric=RECALL, value=100 * counts.loc[part.index, "value"].astype(float))


def counts_from_recalls(quality: pd.DataFrame) -> pd.DataFrame:
    """Mean number of cited relevant documents, the inverse of `recalls_from_counts`."""
    part = quality[quality["metric"] == RECALL].drop(columns="value", errors="ignore")
    return part.assign(metric=CITED, value=quality.loc[part.index, "value"].astype(float) / 100)


def queries_behind(means: Sequence[str], *, largest: int = 1000) -> int | None:
    """Smallest number of queries that is consistent with all published means of counts."""

    def is_possible(mean: str, n: int) -> bool:
        tolerance = 0.5 * 10.0 ** -len(mean.partition(".")[2])
        return abs(round(float(mean) * n) / n - float(mean)) <= tolerance * (1 + 1e-9)

    numbers = range(1, largest + 1)
    return next((n for n in numbers if all(is_possible(mean, n) for mean in means)), None)


def with_opposite_labels(quality: pd.DataFrame) -> pd.DataFrame:
    """Quality under the two labellings with opposite authors, one row per setting and metric.

    The columns `human` and `machine` name the label of the relevant documents; the other documents
    have the opposite label.
    """
    table = _with_labels(quality)
    labelled = table[table["label_relevant"].map(OTHER_AUTHOR) == table["label_nonrelevant"]]
    keys = [*SETTING, "metric"]
    sides = (
        labelled.loc[labelled["label_relevant"] == label, [*keys, "value"]].rename(
            columns={"value": name}
        )
        for label, name in (("Human", "human"), ("LLM", "machine"))
    )
    first, second = sides
    return first.merge(second, on=keys, validate="one_to_one")


def _with_labels(quality: pd.DataFrame) -> pd.DataFrame:
    """Quality with the labels of the relevant and of the other documents."""
    sides = {
        "relevant": "mode_relevant" if "mode_relevant" in quality else "rag_mode",
        "nonrelevant": "mode_nonrelevant" if "mode_nonrelevant" in quality else "rag_mode",
    }
    labels = {
        f"label_{side}": [
            displayed_author(author, mode)
            for author, mode in zip(quality[f"{side}_author"], quality[column], strict=True)
        ]
        for side, column in sides.items()
    }
    return quality.assign(**labels).astype({"value": float})
