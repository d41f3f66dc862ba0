"""Table 5.6: accuracy of decisions on sentences, passages and rankings, and tests between systems.

A level has a key: "sentence", "passage" or "ranking", the aggregation over the sentences of a
passage, and the aggregation over the passages of a ranking ("" if there is no aggregation). The
cases of a level are three arrays of equal length: question, truth and decision of each case.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.dialogue.answerability import (
    THRESHOLDS,
    Aggregation,
    aggregate,
    best_threshold,
    decide,
    decide_levels,
    mcnemar_test,
)
from everycell.statistics.hypothesis_tests import t_tests
from everycell.studies.lajewska2025.ch5.rankings import READINGS, ranking_values
from papers.lajewska2025.answerability_data import labelled_pairs

Level = tuple[str, str, str]
Cases = tuple[npt.NDArray, npt.NDArray, npt.NDArray]

CHATGPT = "ChatGPT passage-level (zero-shot)"
#: Levels at which ChatGPT is compared with classifiers.
COMPARED_WITH_CHATGPT: tuple[Level, ...] = (("passage", "max", ""), ("ranking", "max", "mean"))


def accuracy(truth: npt.ArrayLike, decided: npt.ArrayLike) -> float:
    """Share of correct decisions."""
    return float((np.asarray(truth) == np.asarray(decided)).mean())


def name_level(level: str, passages: str, rankings: str) -> str:
    """Name of a level in tables."""
    steps = ", then ".join(part for part in (passages, rankings) if part)
    return f"{level} ({steps})" if steps else level


def format_thresholds(thresholds: Mapping[Aggregation, float]) -> str:
    """Text of the thresholds per aggregation."""
    return ", ".join(f"{how} {threshold:g}" for how, threshold in thresholds.items())


def passage_probabilities(passages: pd.DataFrame, scores: pd.Series) -> list[npt.NDArray]:
    """Probabilities of the sentences of each passage."""
    probabilities = scores.to_dict()
    return [
        np.array([probabilities[question, sentence] for sentence in sentences], dtype=scores.dtype)
        for question, sentences in zip(passages["question"], passages["sentences"], strict=True)
    ]


def classifier_cases(
    passages: pd.DataFrame,
    labelled: pd.DataFrame,
    scores: pd.Series,
    thresholds: Mapping[Aggregation, float],
) -> dict[Level, Cases]:
    """Decisions of a classifier at all levels.

    Sentences use the threshold of the maximum, which decides on a passage by one sentence.
    """
    by_pair = scores.to_dict()
    probabilities = np.array([by_pair[pair] for pair in labelled_pairs(labelled)], scores.dtype)
    sentence_decisions = decide(probabilities, thresholds["max"])
    questions, truth = (labelled[column].to_numpy() for column in ("question", "answers"))
    levels = decide_levels(
        passages, passage_probabilities(passages, scores), thresholds, repeated="tuples"
    )
    return {("sentence", "", ""): (questions, truth, sentence_decisions)} | {
        (level, first, second): (questions, truth, decided)
        for level, first, second, questions, truth, decided in levels
    }


def tune_thresholds(passages: pd.DataFrame, scores: pd.Series) -> dict[Aggregation, float]:
    """Thresholds with the most correct decisions on (validation) passages."""
    truth, sentences = passages["answerable"].to_numpy(), passage_probabilities(passages, scores)
    return {how: best_threshold(aggregate(sentences, how), truth) for how in THRESHOLDS}


def chatgpt_accuracy(
    predicted: pd.DataFrame, thresholds: Sequence[float]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Accuracy of ChatGPT on passages, and on rankings by its mean decision."""
    value = accuracy(predicted["answerable"], predicted["predicted"])
    rows, readings = [(CHATGPT, "passage", "", "", "accuracy", value)], []
    for reading, meaning in READINGS.items():
        lists = ranking_values(predicted, ["answerable", "predicted"], reading)
        truth = lists["answerable"].any(axis=1)
        scores = aggregate(list(lists["predicted"]), "mean")
        for threshold in thresholds:
            value = accuracy(truth, decide(scores, threshold))
            readings.append((meaning, f"T={threshold}", value))
            if reading == "tuples":
                rows.append((CHATGPT, "ranking", "", f"T={threshold}", "accuracy", value))
        readings.append((meaning, "always answerable", accuracy(truth, np.ones_like(truth))))
    columns = ["row", "level", "passage_aggregation", "ranking_aggregation", "metric", "value"]
    return (
        pd.DataFrame(rows, columns=columns),
        pd.DataFrame(readings, columns=["rankings of three", "metric", "value"]),
    )


def chatgpt_cases(
    passages: pd.DataFrame, predicted: pd.DataFrame, threshold: float
) -> dict[Level, Cases]:
    """ChatGPT's decisions on the passages and rankings that classifiers decide on."""
    # The reader checks that a passage listed twice for a turn has only one prediction.
    decisions = passages[["turn_id", "passage_id", "answerable"]].merge(
        predicted.drop_duplicates(),
        how="left",
        on=["turn_id", "passage_id", "answerable"],
        validate="many_to_one",
    )
    levels = decide_levels(
        decisions,
        [[float(decided)] for decided in decisions["predicted"]],
        {"max": 0.5, "mean": threshold},
        repeated="tuples",
    )
    return {
        (level, first, second): (questions, truth, decided)
        for level, first, second, questions, truth, decided in levels
    }


def accuracy_cells(decisions: Mapping[str, Mapping[Level, Cases]]) -> pd.DataFrame:
    """Accuracy of classifiers, in the layout of Table 5.6."""
    return pd.DataFrame(
        [
            (
                row,
                level,
                first.capitalize(),
                second.capitalize(),
                "accuracy",
                accuracy(truth, decided),
            )
            for row, levels in decisions.items()
            for (level, first, second), (_, truth, decided) in levels.items()
        ],
        columns=["row", "level", "passage_aggregation", "ranking_aggregation", "metric", "value"],
    )


def constant_accuracy(levels: Mapping[Level, Cases]) -> Iterator[tuple[str, str, float]]:
    """Accuracy of constant decisions: the decision, the level, the accuracy."""
    for key, (_, truth, _) in levels.items():
        for row, constant in (("nothing has an answer", False), ("everything has one", True)):
            yield row, name_level(*key), accuracy(truth, np.full_like(truth, constant))


def system_tests(
    decisions: Mapping[str, Mapping[Level, Cases]], chatgpt: Mapping[Level, Cases]
) -> pd.DataFrame:
    """Tests between all pairs of classifiers, and between each classifier and ChatGPT."""
    tests = [
        (first, second, name_level(*key), metric, value)
        for first, second in itertools.combinations(decisions, 2)
        for key in decisions[first]
        for metric, value in _compare(decisions[first][key], decisions[second][key])
    ] + [
        (name, CHATGPT, name_level(*key), metric, value)
        for name in decisions
        for key in COMPARED_WITH_CHATGPT
        for metric, value in _compare(decisions[name][key], chatgpt[key])
    ]
    return pd.DataFrame(tests, columns=["first", "second", "decided", "metric", "value"])


def _compare(first: Cases, second: Cases) -> list[tuple[str, float]]:
    """McNemar's test, and a paired t-test over questions, of two systems at a level."""
    (questions, truth, decided), (_, _, decided_by_second) = first, second
    mcnemar = mcnemar_test(truth, decided, decided_by_second)
    correct = pd.DataFrame({"first": truth == decided, "second": truth == decided_by_second})
    p = t_tests(correct.groupby(questions).mean(), correction="none")["p"].item()
    return [*mcnemar._asdict().items(), ("p of questions", p)]


def unanswerable_cells(scored: pd.DataFrame, classifiers: Sequence[str]) -> pd.DataFrame:
    """Accuracy of two classifiers on unanswerable passages, with McNemar's test."""
    truth = np.zeros(len(scored), dtype=bool)
    rows: list[tuple[str, str, str, float]] = []
    for how, threshold in THRESHOLDS.items():
        by_classifier = {
            name: decide(aggregate(scored[name].tolist(), how), threshold) for name in classifiers
        }
        for name, decided in by_classifier.items():
            rows.append((name, how, "passages", len(scored)))
            rows.append((name, how, "accuracy", accuracy(truth, decided)))
        mcnemar = mcnemar_test(truth, *by_classifier.values())
        rows.append(("McNemar's test of the two", how, "p", mcnemar.p))
    return pd.DataFrame(rows, columns=["row", "aggregation", "metric", "value"])
