"""Data tables of chapter 3: ratings (3.1), splits (3.2) and test sets (3.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from everycell.collections.satisfaction_samples import USER, Sample, Turn
from everycell.collections.user_satisfaction import (
    RATINGS,
    RULES,
    SATISFIED_FROM,
    RatedDialogue,
    split_samples,
)
from everycell.statistics.agreement import cohens_kappa, fleiss_kappa, percent_agreement

#: Rule that reproduces Table 3.2; the counts of Table 3.1 use it too.
BEHIND_3_2 = next(iter(RULES))
#: Minimum number of raters of a dialogue.
RATERS = 3
#: Decimals of the agreement statistics.
AGREEMENT = {"ratings": 0, "percent agreement": 1, "Cohen kappa": 2, "Fleiss kappa": 2}
#: Interpretation of the split -> options that it changes; the first reproduces Table 3.2.
READINGS: Mapping[str, Mapping[str, Any]] = {
    "as in the table": {},
    "training samples with their own dialogue's label": {"same_label": False},
    "a window of the user's utterances": {"window": USER},
    "both": {"same_label": False, "window": USER},
    **{f"rating: {name}": {"rule": rule} for name, rule in list(RULES.items())[1:]},
}
#: Part of the samples -> test set of Table 3.5.
COLLECTIONS = {"main": "Main", "cf": "CF"}


def collect_ratings(dialogues: Iterable[RatedDialogue]) -> list[tuple[int, ...]]:
    """Ratings of each user utterance, and of each complete dialogue.

    Ratings of complete dialogues are included because only then do the sums equal the published
    ones.
    """
    return [
        ratings
        for dialogue in dialogues
        for ratings in (*filter(None, dialogue.ratings), dialogue.overall)
    ]


def rating_counts(ratings: Iterable[int]) -> dict[str, int]:
    """Rows of Table 3.1: each rating, then the two classes."""
    counts = Counter(ratings)
    rows = {f"rating {rating}": counts[rating] for rating in RATINGS}
    rows["Dissatisfaction"] = sum(counts[rating] for rating in RATINGS if rating < SATISFIED_FROM)
    rows["Satisfaction"] = sum(counts.values()) - rows["Dissatisfaction"]
    return rows


def counts_by_rule(ratings: Sequence[tuple[int, ...]]) -> pd.DataFrame:
    """Rating counts under each rule for combining several ratings."""
    rows: list[tuple[str, str, int]] = []
    for name, rule in RULES.items():
        counts = rating_counts(map(rule, ratings))
        rows += [(name, row, count) for row, count in counts.items()]
    return pd.DataFrame(rows, columns=["rule", "metric", "value"])


def rater_agreement(ratings: Sequence[tuple[int, ...]]) -> pd.DataFrame:
    """Agreement of the raters, on five ratings and on two classes."""
    first_ratings = np.array([item[:RATERS] for item in ratings])
    scales = {"five ratings": first_ratings, "binary": first_ratings >= SATISFIED_FROM}
    rows = []
    for scale, labels in scales.items():
        values = (
            len(labels),
            percent_agreement(labels[:, 0], labels[:, 1]),
            cohens_kappa(labels[:, 0], labels[:, 1]),
            fleiss_kappa(labels),
        )
        rows += [(scale, *cell) for cell in zip(AGREEMENT, values, strict=True)]
    return pd.DataFrame(rows, columns=["scale", "metric", "value"])


def class_sizes(satisfied: Iterable[bool]) -> dict[str, int]:
    """Rows of Tables 3.2 and 3.5."""
    counts = Counter(map(bool, satisfied))
    return {
        "Satisfaction": counts[True],
        "Dissatisfaction": counts[False],
        "Total": counts.total(),
    }


def part_sizes(
    dialogues: Sequence[RatedDialogue],
    held_out_turns: Sequence[Sequence[tuple[Turn, ...]]],
    benchmark: str,
) -> pd.DataFrame:
    """Sizes of training, validation and test parts, by interpretation of the split."""
    rows, (valid, test) = [], held_out_turns
    for reading, options in READINGS.items():
        split: dict[str, list[Sample]] = split_samples(
            dialogues, valid, test, benchmark, **options
        )._asdict()
        for part, samples in split.items():
            sizes = class_sizes(sample.satisfied for sample in samples)
            rows += [(reading, row, part, count) for row, count in sizes.items()]
    return pd.DataFrame(rows, columns=["reading", "row", "part", "value"])


def collection_sizes(tests: pd.DataFrame) -> pd.DataFrame:
    """Cells of Table 3.5, counted from the samples."""
    rows = []
    samples = tests[tests["part"].isin(COLLECTIONS)]
    for (dataset, part), labels in samples.groupby(["benchmark", "part"], sort=False)["satisfied"]:
        sizes = class_sizes(labels)
        rows += [(row, dataset, COLLECTIONS[part], "count", n) for row, n in sizes.items()]
    return pd.DataFrame(rows, columns=["row", "dataset", "collection", "metric", "value"])


def shared_histories(pairs: pd.DataFrame) -> pd.DataFrame:
    """Count pairs whose dialogues are identical before the last utterance."""
    rows = [
        (name, metric, int(count))
        for name, group in (("all pairs", pairs), ("label flipped", pairs[pairs["confirmed"]]))
        for metric, count in (
            ("pairs", len(group)),
            ("same history", group["same"].sum()),
            ("same but for apologies", group["same_without_apologies"].sum()),
        )
    ]
    return pd.DataFrame(rows, columns=["generated", "metric", "value"])
