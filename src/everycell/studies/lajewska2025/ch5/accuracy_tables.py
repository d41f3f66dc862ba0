"""Table 5.6 and its supplementary tables, from labels and probabilities of sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from everycell.dialogue.answerability import THRESHOLDS, lexical_probabilities
from everycell.studies.lajewska2025.ch5.accuracy import (
    accuracy,
    accuracy_cells,
    chatgpt_cases,
    classifier_cases,
    constant_accuracy,
    format_thresholds,
    name_level,
    system_tests,
    tune_thresholds,
)
from papers.lajewska2025.answerability_data import judged_pairs, labelled_pairs

#: Input with released predictions -> row.
CLASSIFIERS = {
    "classifier": "CAsT-answerability",
    "augmented_classifier": "CAsT-answerability augmented with SQuAD 2.0",
}
#: Our own training runs: name of the scores -> row of the supplementary tables. Those of the full
#: tier also have a row in the published table.
PUBLISHED = {"full": CLASSIFIERS["classifier"], "squad": CLASSIFIERS["augmented_classifier"]}
NAMES = PUBLISHED | {
    "tiny": "BERT-tiny, all trained",
    "frozen": "MiniLM, not fine-tuned, regression",
}
WORDS = "TF-IDF of words, regression"


class AccuracyTables(NamedTuple):
    """Tables of our own training runs."""

    by_training: pd.DataFrame | None
    classifiers: pd.DataFrame
    tests: pd.DataFrame


def accuracy_tables(
    passages: pd.DataFrame,
    labelled: pd.DataFrame,
    trained: Mapping[str, Sequence[pd.Series]],
    predicted: pd.DataFrame,
    threshold: float,
) -> AccuracyTables:
    """Accuracy of trained classifiers; `trained` has one series of probabilities per run.

    Supplementary tables use the first training run. `predicted` has ChatGPT's decisions; a ranking
    is answerable if their mean reaches `threshold`.
    """
    test, validation = (passages[passages["partition"] == name] for name in ("test", "validation"))
    labelled_test = labelled[labelled["partition"] == "test"]
    systems = {row: scores[0] for row, scores in trained.items()}
    systems[WORDS] = lexical_scores(passages, labelled)
    decisions = {
        row: classifier_cases(test, labelled_test, scores, THRESHOLDS)
        for row, scores in systems.items()
    }
    by_training = [
        accuracy_cells({row: classifier_cases(test, labelled_test, scores, THRESHOLDS)})
        for row in PUBLISHED.values()
        for scores in trained.get(row, ())
    ]
    rows = [(row, "", level, value) for row, level, value in constant_accuracy(decisions[WORDS])]
    for row, scores in systems.items():
        tuned = tune_thresholds(validation, scores)
        for label, levels in (
            (format_thresholds(THRESHOLDS), decisions[row]),
            (
                f"{format_thresholds(tuned)}, tuned",
                classifier_cases(test, labelled_test, scores, tuned),
            ),
        ):
            rows += [
                (row, label, name_level(*key), accuracy(truth, decided))
                for key, (_, truth, decided) in levels.items()
            ]
    return AccuracyTables(
        pd.concat(by_training, ignore_index=True) if by_training else None,
        pd.DataFrame(rows, columns=["classifier", "thresholds", "metric", "value"]),
        system_tests(decisions, chatgpt_cases(test, predicted, threshold)),
    )


def lexical_scores(passages: pd.DataFrame, labelled: pd.DataFrame) -> pd.Series:
    """Probabilities of a regression over TF-IDF weights, by question and sentence."""
    training = labelled[labelled["partition"] == "train"]
    pairs = judged_pairs(passages, labelled)
    return pd.Series(
        lexical_probabilities(labelled_pairs(training), training["answers"], pairs),
        index=pd.MultiIndex.from_tuples(pairs, names=["question", "sentence"]),
    )
