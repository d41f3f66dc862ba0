"""Released predictions of a language model and two classifiers for CAsT-answerability."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from everycell.collections.answerability import (
    PARTITIONS,
    check_single_partition,
    check_values,
    read_labelled_rows,
    reject_rows,
)
from everycell.collections.snippet_files import parse_list_or_set
from everycell.collections.snippets import AnnotationError

#: Tolerance for the sum of a sentence's two probabilities; in the released files, which have single
#: precision, the sum is within 1e-7 of 1.
SUM_TOLERANCE = 1e-4


def read_passage_predictions(path: Path) -> pd.DataFrame:
    """Read a language model's predictions of whether passages are answerable."""
    labels = {"answerability": "answerable", "predicted_value": "predicted"}
    keys = ["turn_id", "passage_id"]
    raw = read_labelled_rows(path, [*keys, *labels])
    for column in labels:
        check_values(path, raw, column, ["0", "1"])
        first = raw.groupby(keys)[column].transform("first")
        reject_rows(
            path, raw, column, raw[column] != first, "the value of earlier rows of this passage"
        )
    return raw[["turn_id", "passage_id"]].assign(
        **{name: raw[column] == "1" for column, name in labels.items()}
    )


def read_sentence_scores(path: Path) -> pd.DataFrame:
    """Read a classifier's probabilities for the sentences of passages."""
    keys, column = ["turn_id", "passage_id"], "sentence_probabilities"
    raw = read_labelled_rows(path, [*keys, "partition", column])
    check_values(path, raw, "partition", PARTITIONS)
    check_single_partition(path, raw, "turn_id")
    reject_rows(path, raw, "passage_id", raw.duplicated(keys), "each passage once per turn")
    scores = []
    for number, value in enumerate(raw[column], start=1):
        pairs = parse_list_or_set(value, list, f"{path}, row {number}: {column}")
        is_valid, passage_scores = False, ()
        try:
            passage_scores = tuple(float(answers) for _, answers in pairs)
            is_valid = bool(pairs) and all(
                min(pair) >= 0 and math.isclose(sum(pair), 1, abs_tol=SUM_TOLERANCE)
                for pair in pairs
            )
        except (TypeError, ValueError):
            pass
        if not is_valid:
            raise AnnotationError(
                f"{path}, row {number}: {column} is {value[:40]!r}; expected a list with one pair "
                "of probabilities per sentence, each summing to 1, so fetch the file again (delete "
                "it first)."
            )
        scores.append(passage_scores)
    return raw[[*keys, "partition"]].assign(scores=scores)


def join_scores(scores: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Join the scores of several classifiers, with one row per passage."""
    keys = ["turn_id", "passage_id", "partition"]
    columns = [part.set_index(keys)["scores"].rename(name) for name, part in scores.items()]
    table = pd.concat(columns, axis=1)
    is_missing = table.isna()
    if is_missing.to_numpy().any():
        turn, passage, partition, classifier = is_missing.stack().idxmax()
        raise AnnotationError(
            f"The scores of {classifier!r} lack passage {passage} of turn {turn} in the partition "
            f"{partition}; use scores of the same passages, or fetch the files again."
        )
    return table.reset_index()
