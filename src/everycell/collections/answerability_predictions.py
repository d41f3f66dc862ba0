"""Released predictions for CAsT-answerability: of a language model, and of two classifiers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from everycell.collections.answerability import (
    PARTITIONS,
    labelled_rows,
    refuse_levels,
    refuse_rows,
    refuse_two_partitions,
)
from everycell.collections.snippet_files import literal
from everycell.collections.snippets import AnnotationError

#: How far the sum of a sentence's two probabilities may be from 1; in the released files, in
#: single precision, it is within 1e-7.
SUM_TOLERANCE = 1e-4


def read_passage_predictions(path: Path) -> pd.DataFrame:
    """A language model's predictions for passages: answerable or not."""
    labels = {"answerability": "answerable", "predicted_value": "predicted"}
    keys = ["turn_id", "passage_id"]
    raw = labelled_rows(path, [*keys, *labels])
    for column in labels:
        refuse_levels(path, raw, column, ["0", "1"])
        before = raw.groupby(keys)[column].transform("first")
        refuse_rows(
            path, raw, column, raw[column] != before, "the value of an earlier row for this passage"
        )
    return raw[["turn_id", "passage_id"]].assign(
        **{name: raw[column] == "1" for column, name in labels.items()}
    )


def read_sentence_scores(path: Path) -> pd.DataFrame:
    """Probabilities that a classifier gave the sentences of passages."""
    keys, column = ["turn_id", "passage_id"], "sentence_probabilities"
    raw = labelled_rows(path, [*keys, "partition", column])
    refuse_levels(path, raw, "partition", PARTITIONS)
    refuse_two_partitions(path, raw, "turn_id")
    refuse_rows(path, raw, "passage_id", raw.duplicated(keys), "a passage once per turn")
    scores = []
    for number, value in enumerate(raw[column], start=1):
        pairs = literal(value, list, f"{path}, row {number}: {column}")
        sound, of_passage = False, ()
        try:
            of_passage = tuple(float(answers) for _, answers in pairs)
            sound = bool(pairs) and all(
                min(pair) >= 0 and math.isclose(sum(pair), 1, abs_tol=SUM_TOLERANCE)
                for pair in pairs
            )
        except (TypeError, ValueError):
            pass
        if not sound:
            raise AnnotationError(
                f"{path}, row {number}: {column} is {value[:40]!r}; expected a list with a pair "
                "of probabilities, which sum to 1, for each sentence, so fetch the file again "
                "(delete it first)."
            )
        scores.append(of_passage)
    return raw[[*keys, "partition"]].assign(scores=scores)


def paired_scores(scores: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Scores of several classifiers for the same passages, one row per passage."""
    keys = ["turn_id", "passage_id", "partition"]
    columns = [part.set_index(keys)["scores"].rename(name) for name, part in scores.items()]
    both = pd.concat(columns, axis=1)
    lost = both.isna()
    if lost.to_numpy().any():
        turn, passage, partition, of = lost.stack().idxmax()
        raise AnnotationError(
            f"The scores of {of!r} lack passage {passage} of turn {turn} in the partition "
            f"{partition}; give scores of the same passages, or fetch the files again."
        )
    return both.reset_index()
