"""Table 5.6: accuracy of decisions on sentences, passages and rankings, and tests between systems.

A level is named by a key: the level ("sentence", "passage" or "ranking"), the aggregation of the
sentences of a passage and that of the passages of a ranking ("" where there is none). The cases of
a level are three arrays of one length: the question of each case, the truth and the decision.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.dialogue.answerability import (
    THRESHOLDS,
    How,
    aggregate,
    best_threshold,
    decide,
    decide_levels,
    mcnemar_test,
)
from everycell.statistics.hypothesis_tests import t_tests
from everycell.studies.lajewska2025.answerability_data import labelled_pairs
from everycell.studies.lajewska2025.ch5.rankings import READINGS, ranking_values

Level = tuple[str, str, str]
Cases = tuple[npt.NDArray, npt.NDArray, npt.NDArray]

CHATGPT = "ChatGPT passage-level (zero-shot)"
#: Levels in which ChatGPT is compared with classifiers.
COMPARED_WITH_CHATGPT: tuple[Level, ...] = (("passage", "max", ""), ("ranking", "max", "mean"))


def accuracy(truth: npt.ArrayLike, decided: npt.ArrayLike) -> float:
    """Share of right decisions."""
    return float((np.asarray(truth) == np.asarray(decided)).mean())


def name_level(level: str, passages: str, rankings: str) -> str:
    """Name of a level.

    Examples
    --------
    >>> name_level("ranking", "max", "mean"), name_level("sentence", "", "")
    ('ranking (max, then mean)', 'sentence')
    """
    steps = ", then ".join(part for part in (passages, rankings) if part)
    return f"{level} ({steps})" if steps else level


def format_thresholds(thresholds: Mapping[How, float]) -> str:
    """Thresholds of each aggregation.

    Examples
    --------
    >>> format_thresholds({"max": 0.5, "mean": 0.25})
    'max 0.5, mean 0.25'
    """
    return ", ".join(f"{how} {threshold:g}" for how, threshold in thresholds.items())


def passage_probabilities(passages: pd.DataFrame, scores: pd.Series) -> list[npt.NDArray]:
    """Probabilities of the sentences of each passage."""
    of_pair = scores.to_dict()
    return [
        np.array([of_pair[question, sentence] for sentence in sentences], dtype=scores.dtype)
        for question, sentences in zip(passages["question"], passages["sentences"], strict=True)
    ]


def cases(
    passages: pd.DataFrame,
    labelled: pd.DataFrame,
    scores: pd.Series,
    thresholds: Mapping[How, float],
) -> dict[Level, Cases]:
    """Decisions of a classifier at all levels.

    The threshold of a sentence is that of the maximum, which takes one sentence for its passage.
    """
    of_pair = scores.to_dict()
    judged = np.array([of_pair[pair] for pair in labelled_pairs(labelled)], dtype=scores.dtype)
    of_sentences = decide(judged, thresholds["max"])
    questions, truth = (labelled[column].to_numpy() for column in ("question", "answers"))
    levels = decide_levels(
        passages, passage_probabilities(passages, scores), thresholds, repeated="tuples"
    )
    return {("sentence", "", ""): (questions, truth, of_sentences)} | {
        (level, first, second): (of, right, decided)
        for level, first, second, of, right, decided in levels
    }


def tune_thresholds(passages: pd.DataFrame, scores: pd.Series) -> dict[How, float]:
    """Thresholds with the best decisions on passages, for those of the validation partition."""
    truth, sentences = passages["answerable"].to_numpy(), passage_probabilities(passages, scores)
    return {how: best_threshold(aggregate(sentences, how), truth) for how in THRESHOLDS}


def chatgpt_accuracy(
    predicted: pd.DataFrame, thresholds: Sequence[float]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """ChatGPT's decisions on passages, and what follows for rankings from their mean."""
    right = accuracy(predicted["answerable"], predicted["predicted"])
    rows, readings = [(CHATGPT, "passage", "", "", "accuracy", right)], []
    for reading, meaning in READINGS.items():
        lists = ranking_values(predicted, ["answerable", "predicted"], reading)
        truth = lists["answerable"].any(axis=1)
        scores = aggregate(list(lists["predicted"]), "mean")
        for threshold in thresholds:
            right = accuracy(truth, decide(scores, threshold))
            readings.append((meaning, f"T={threshold}", right))
            if reading == "tuples":
                rows.append((CHATGPT, "ranking", "", f"T={threshold}", "accuracy", right))
        readings.append((meaning, "always answerable", accuracy(truth, np.ones_like(truth))))
    columns = ["row", "level", "passage_aggregation", "ranking_aggregation", "metric", "value"]
    return (
        pd.DataFrame(rows, columns=columns),
        pd.DataFrame(readings, columns=["rankings of three", "metric", "value"]),
    )


def chatgpt_cases(
    passages: pd.DataFrame, predicted: pd.DataFrame, threshold: float
) -> dict[Level, Cases]:
    """ChatGPT's decisions as cases of passages and rankings, for those of classifiers."""
    # A passage that a turn has twice has one prediction, which the reader makes sure of.
    known = passages[["turn_id", "passage_id", "answerable"]].merge(
        predicted.drop_duplicates(),
        how="left",
        on=["turn_id", "passage_id", "answerable"],
        validate="many_to_one",
    )
    levels = decide_levels(
        known,
        [[float(decided)] for decided in known["predicted"]],
        {"max": 0.5, "mean": threshold},
        repeated="tuples",
    )
    return {
        (level, first, second): (of, right, decided)
        for level, first, second, of, right, decided in levels
    }


def accuracy_cells(decisions: Mapping[str, Mapping[Level, Cases]]) -> pd.DataFrame:
    """Accuracy of classifiers as the table has it."""
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
    """What it reaches to say always the same: who says it, the level, the accuracy."""
    for key, (_, truth, _) in levels.items():
        for row, constant in (("nothing has an answer", False), ("everything has one", True)):
            yield row, name_level(*key), accuracy(truth, np.full_like(truth, constant))


def system_tests(
    decisions: Mapping[str, Mapping[Level, Cases]], of_chatgpt: Mapping[Level, Cases]
) -> pd.DataFrame:
    """Tests of classifiers two and two at each level, and of each with ChatGPT."""
    tests = [
        (name, other, name_level(*key), metric, value)
        for name, other in itertools.combinations(decisions, 2)
        for key in decisions[name]
        for metric, value in _tested(decisions[name][key], decisions[other][key])
    ] + [
        (name, CHATGPT, name_level(*key), metric, value)
        for name in decisions
        for key in COMPARED_WITH_CHATGPT
        for metric, value in _tested(decisions[name][key], of_chatgpt[key])
    ]
    return pd.DataFrame(tests, columns=["first", "second", "decided", "metric", "value"])


def _tested(one: Cases, other: Cases) -> list[tuple[str, float]]:
    """Both tests of two systems on the cases of a level."""
    (questions, truth, decided), (_, _, theirs) = one, other
    both = mcnemar_test(truth, decided, theirs)
    right = pd.DataFrame({"one": truth == decided, "other": truth == theirs}).groupby(questions)
    p = t_tests(right.mean(), correction="none")["p"].item()
    return [*both._asdict().items(), ("p of questions", p)]


def unanswerable_cells(scored: pd.DataFrame, classifiers: Sequence[str]) -> pd.DataFrame:
    """Accuracy of two classifiers on passages without an answer, and McNemar's test of the two."""
    nothing = np.zeros(len(scored), dtype=bool)
    rows: list[tuple[str, str, str, float]] = []
    for how, threshold in THRESHOLDS.items():
        by_classifier = {
            name: decide(aggregate(scored[name].tolist(), how), threshold) for name in classifiers
        }
        for name, decided in by_classifier.items():
            rows.append((name, how, "passages", len(scored)))
            rows.append((name, how, "accuracy", accuracy(nothing, decided)))
        both = mcnemar_test(nothing, *by_classifier.values())
        rows.append(("McNemar's test of the two", how, "p", both.p))
    return pd.DataFrame(rows, columns=["row", "aggregation", "metric", "value"])
