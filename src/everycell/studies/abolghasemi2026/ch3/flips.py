"""Shares of generated utterances that flip a label (Table 3.4), with intervals."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

#: Label of the originals -> label of their confirmed counterfactuals.
FLIPPED = {"Satisfaction": "Dissatisfaction", "Dissatisfaction": "Satisfaction"}
#: Row for the difference between the two labels.
DIFFERENCE = "Satisfaction less Dissatisfaction"
#: Decimals of the supplementary table of intervals.
INTERVALS = {"samples": 0, "flipped": 0, "share": 1, "low": 1, "high": 1}

#: Flipped samples and all samples, by label of the original and data set.
Counts = Mapping[tuple[str, str], tuple[int, int]]


def flip_counts(sizes: pd.DataFrame) -> dict[tuple[str, str], tuple[int, int]]:
    """Count flipped samples by the sizes of the test sets (Table 3.5)."""
    counts = sizes.set_index(["dataset", "collection", "row"])["value"]
    return {
        (row, dataset): (int(counts[dataset, "CF", after]), int(counts[dataset, "Main", before]))
        for row, (before, after) in {
            **{label: (label, flipped_label) for label, flipped_label in FLIPPED.items()},
            "Overall": ("Total", "Total"),
        }.items()
        for dataset in sizes["dataset"].unique()
    }


def flip_shares(counts: Counts) -> pd.DataFrame:
    """Cells of Table 3.4, in percent."""
    rows = [(*names, "CSS", 100 * flipped / n) for names, (flipped, n) in counts.items()]
    return pd.DataFrame(rows, columns=["row", "dataset", "metric", "value"])


def flip_intervals(counts: Counts) -> pd.DataFrame:
    """Flipped samples with 95 % intervals of their shares and of the labels' difference."""
    rows = []
    for (row, dataset), (flipped, n) in counts.items():
        low, high = proportion_confint(flipped, n, method="wilson")
        values = (n, flipped, 100 * flipped / n, 100 * low, 100 * high)
        rows += [(row, dataset, *cell) for cell in zip(INTERVALS, values, strict=True)]
    first, second = FLIPPED
    for dataset in dict.fromkeys(dataset for _, dataset in counts):
        if (first, dataset) in counts and (second, dataset) in counts:
            (flipped_1, n_1), (flipped_2, n_2) = counts[first, dataset], counts[second, dataset]
            bounds = confint_proportions_2indep(flipped_1, n_1, flipped_2, n_2, method="newcomb")
            values = (flipped_1 / n_1 - flipped_2 / n_2, *bounds)
            cells = zip(("share", "low", "high"), values, strict=True)
            rows += [(DIFFERENCE, dataset, metric, 100 * value) for metric, value in cells]
    return pd.DataFrame(rows, columns=["row", "dataset", "metric", "value"])
