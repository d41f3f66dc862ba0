"""Annotators' labels of dialogues in chapter 3 of abolghasemi2026: pool, file and agreement.

Source: abolghasemi2026, sections 3.5.4 and 3.6.1. Two annotators label every dialogue, a third one
those on which they disagree; real dialogues are mixed with the counterfactual ones. Labels are
satisfaction with the last utterance of the system, and its coherence with the dialogue.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.base.csv_files import read_table, row_number
from everycell.base.errors import DataError
from everycell.collections.satisfaction_samples import Sample
from everycell.statistics.agreement import cohens_kappa, percent_agreement
from papers.abolghasemi2026.ch3_counterfactuals import (
    Rewriting,
    dialogue_text,
    rewritten_dialogue,
)

#: Columns of the file of labels, which has a row per dialogue and annotator.
COLUMNS = ("dialogue", "annotator", "satisfied", "coherent")
#: Answers in the file.
ANSWERS: Mapping[str, bool] = {"yes": True, "no": False}
#: Rows of Table 3.3: question, measure, and column of the labels.
AGREEMENT = (
    ("Dialogue Coherence", "percent agreement", "coherent"),
    ("Satisfaction Label", "Cohen kappa", "satisfied"),
)


def make_pool(
    rewritings: Sequence[Rewriting], originals: Sequence[Sample], *, actual: int, seed: int
) -> pd.DataFrame:
    """Rewritten dialogues mixed with real ones of each benchmark, in random order.

    Names of dialogues do not reveal their kind. `satisfied` is the label of the original.
    """
    drawn = []
    for benchmark in dict.fromkeys(sample.benchmark for sample in originals):
        samples = [sample for sample in originals if sample.benchmark == benchmark]
        drawn += random.Random(f"{seed} {benchmark}").sample(samples, min(actual, len(samples)))
    dialogues = [(rewritten_dialogue(rewriting), rewriting.sample) for rewriting in rewritings]
    rows = [
        (
            _name(dialogue.id, seed),
            dialogue.benchmark,
            dialogue is not original,
            original.satisfied,
            dialogue_text(dialogue),
        )
        for dialogue, original in [*dialogues, *((sample, sample) for sample in drawn)]
    ]
    columns = ["dialogue", "benchmark", "counterfactual", "satisfied", "text"]
    return pd.DataFrame(rows, columns=columns).sort_values("dialogue", ignore_index=True)


def _name(sample_id: str, seed: int) -> str:
    return hashlib.sha256(f"{seed} {sample_id}".encode()).hexdigest()[:12]


def read_labels(path: Path, dialogues: Sequence[str]) -> pd.DataFrame:
    """Read a file of labels, checked against the dialogues of the pool."""
    table = read_table(path, COLUMNS)[list(COLUMNS)]
    for question in ("satisfied", "coherent"):
        _refuse(path, table, question, ~table[question].isin(ANSWERS), expected="yes or no")
    # With a space before or after it, a name would be another one.
    annotators = table["annotator"]
    is_name = (annotators != "") & (annotators == annotators.str.strip())
    _refuse(path, table, "annotator", ~is_name, expected="a name without spaces around it")
    _refuse(
        path,
        table,
        "dialogue",
        ~table["dialogue"].isin(dialogues),
        fault="which is not in the pool",
        fix="remove the row, or label the pool of this configuration",
    )
    _refuse(
        path,
        table,
        "annotator",
        table.duplicated(["dialogue", "annotator"]),
        fault="who has labelled this dialogue in a row before",
        fix="remove one of the rows",
    )
    labels = table.assign(
        **{question: table[question].map(ANSWERS) for question in ("satisfied", "coherent")}
    )
    initial_annotators(labels, dialogues, path)
    final_labels(labels, path)
    return labels


def _refuse(
    path: Path, table: pd.DataFrame, column: str, invalid: pd.Series, **message: str
) -> None:
    if invalid.any():
        row = int(invalid.to_numpy().argmax())
        value = table[column].iloc[row]
        raise DataError(path, f"row {row_number(path, row)}", column, value, **message)


def initial_annotators(
    labels: pd.DataFrame, dialogues: Sequence[str], path: Path | None = None
) -> list[str]:
    """The first two annotators, in the order of the file, who have labelled every dialogue."""
    required = set(dialogues)
    complete = [
        annotator
        for annotator, labelled in labels.groupby("annotator", sort=False)["dialogue"]
        if required <= set(labelled)
    ]
    if len(complete) < 2:
        raise DataError(
            path,
            fault=f"has {len(complete)} of the required two annotators who labelled all "
            f"{len(required)} dialogues",
            fix="add the missing labels",
        )
    return complete[:2]


def final_labels(labels: pd.DataFrame, path: Path | None = None) -> pd.Series:
    """Satisfaction by dialogue: the label of most annotators."""
    shares = labels.groupby("dialogue", sort=False)["satisfied"].mean()
    if (shares == 0.5).any():
        dialogue = shares.index[shares == 0.5][0]
        raise DataError(
            path,
            f"dialogue {dialogue}",
            "satisfied",
            fault="has as many labels yes as no",
            fix="add the label of one more annotator",
        )
    return shares > 0.5


#: Value of kappa if both annotators give the same label to all dialogues.
UNDEFINED = "undefined"


def agreements(labels: pd.DataFrame, pool: pd.DataFrame) -> pd.DataFrame:
    """Cells of Table 3.3: agreement of the first two annotators on the rewritten dialogues."""
    first, second = _paired_labels(labels, pool)
    rows = []
    for row, metric, column in AGREEMENT:
        measure = cohens_kappa if metric == "Cohen kappa" else percent_agreement
        for benchmark, part in pool[pool["counterfactual"]].groupby("benchmark"):
            pair = (answers.loc[part["dialogue"], column] for answers in (first, second))
            value = measure(*map(list, pair))
            rows.append((row, benchmark, metric, UNDEFINED if np.isnan(value) else value))
    return pd.DataFrame(rows, columns=["row", "dataset", "metric", "value"])


def agreements_by_kind(labels: pd.DataFrame, pool: pd.DataFrame) -> pd.DataFrame:
    """Both measures of both questions, on rewritten and on real dialogues."""
    first, second = _paired_labels(labels, pool)
    rows: list[tuple[object, ...]] = []
    for (benchmark, rewritten), part in pool.groupby(["benchmark", "counterfactual"]):
        kind = "rewritten" if rewritten else "real"
        rows.append((benchmark, kind, "", "dialogues", len(part)))
        for row, _, column in AGREEMENT:
            pair = [list(answers.loc[part["dialogue"], column]) for answers in (first, second)]
            rows.append((benchmark, kind, row, "percent agreement", percent_agreement(*pair)))
            rows.append((benchmark, kind, row, "Cohen kappa", cohens_kappa(*pair)))
    table = pd.DataFrame(rows, columns=["dataset", "dialogues", "row", "metric", "value"])
    return table.dropna(subset="value")


def _paired_labels(labels: pd.DataFrame, pool: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    first, second = (
        labels[labels["annotator"] == annotator].set_index("dialogue")
        for annotator in initial_annotators(labels, pool["dialogue"].tolist())
    )
    return first, second


def flips(labels: pd.DataFrame, pool: pd.DataFrame) -> dict[tuple[str, str], tuple[int, int]]:
    """Flipped and all rewritten dialogues, by label of the original and data set (Table 3.4)."""
    final = final_labels(labels)
    rewritten = pool[pool["counterfactual"]]
    is_flipped = rewritten["satisfied"].to_numpy() != final[rewritten["dialogue"]].to_numpy()
    counts = {}
    kinds = {"Satisfaction": [True], "Dissatisfaction": [False], "Overall": [True, False]}
    for row, kind in kinds.items():
        for benchmark in sorted(rewritten["benchmark"].unique()):
            selected = (rewritten["benchmark"] == benchmark) & rewritten["satisfied"].isin(kind)
            if selected.any():
                counts[row, benchmark] = int(is_flipped[selected].sum()), int(selected.sum())
    return counts


def sizes_from_flips(
    main: pd.DataFrame, flip_counts: Mapping[tuple[str, str], tuple[int, int]]
) -> pd.DataFrame:
    """Cells of Table 3.5: all originals, and the rewritten dialogues whose label is flipped."""
    rows = []
    for benchmark, labels in main.groupby("benchmark")["satisfied"]:
        satisfied = int(labels.sum())
        counts = {
            "Main": (satisfied, len(labels) - satisfied),
            # A flipped dialogue has the other label.
            "CF": tuple(
                flip_counts.get((row, benchmark), (0, 0))[0]
                for row in ("Dissatisfaction", "Satisfaction")
            ),
        }
        for collection, pair in counts.items():
            for row, count in zip(
                ("Satisfaction", "Dissatisfaction", "Total"), (*pair, sum(pair)), strict=True
            ):
                rows.append((row, benchmark, collection, "count", count))
    return pd.DataFrame(rows, columns=["row", "dataset", "collection", "metric", "value"])
