"""Labels of CAsT-answerability and accuracy on them, in chapter 5 of lajewska2025.

A level has a key: "sentence", "passage" or "ranking", the aggregation over the sentences of a
passage, and the aggregation over the passages of a ranking ("" if there is no aggregation). The
cases of a level are three arrays of equal length: question, truth and decision of each case.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.records.cells import SEEDS, summarise_seeds
from everycell.statistics.hypothesis_tests import t_tests
from papers.lajewska2025.answerability_data import (
    join_scores,
    judged_pairs,
    labelled_pairs,
    read_labels,
    read_passage_labels,
    read_passage_predictions,
    read_sentence_labels,
    read_sentence_scores,
)
from papers.lajewska2025.cast_snippets_data import paths
from papers.lajewska2025.ch5_aggregation import (
    THRESHOLDS,
    Aggregation,
    Repeated,
    aggregate,
    best_threshold,
    decide,
    decide_levels,
    lexical_probabilities,
    mcnemar_test,
    rankings,
)

Level = tuple[str, str, str]
Cases = tuple[npt.NDArray, npt.NDArray, npt.NDArray]

CHATGPT = "ChatGPT passage-level (zero-shot)"
#: Levels at which ChatGPT is compared with classifiers.
COMPARED_WITH_CHATGPT: tuple[Level, ...] = (("passage", "max", ""), ("ranking", "max", "mean"))
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
#: Passages of a ranking (section 5.5).
SIZE = 3
#: How to count a passage that is listed twice for a question; the thesis uses the first way.
READINGS: dict[Repeated, str] = {
    "tuples": "tuples of ids, a set in two orders counted twice",
    "distinct": "sets of different passages",
    "rows": "sets of rows",
}


def ranking_values(
    passages: pd.DataFrame, columns: Sequence[str], repeated: Repeated
) -> dict[str, npt.NDArray]:
    """Values of the passages in each ranking: per column, an array of shape (m, 3)."""
    values: dict[str, list[npt.NDArray]] = {column: [] for column in columns}
    for _, rows in passages.groupby("turn_id", sort=False):
        positions = rankings(rows["passage_id"].tolist(), SIZE, repeated=repeated)
        for column in columns:
            values[column].append(rows[column].to_numpy()[positions])
    return {column: np.concatenate(parts) for column, parts in values.items()}


def label_tables(files: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Table 5.5, and its rankings by treatment of a duplicate passage."""
    sentences = pd.concat(
        read_sentence_labels(Path(path))
        for path in (files.snippets_sentences, files.unanswerable_sentences)
    )
    passages = read_passage_labels(Path(files.snippets), Path(files.unanswerable))
    test = passages[passages["partition"] == "test"]
    answerable = {
        reading: ranking_values(test, ["answerable"], reading)["answerable"].max(axis=1)
        for reading in READINGS
    }
    items = {
        "#question-sentence pairs (train+test)": sentences["answers"],
        "#question-passage pairs (train+test)": passages["answerable"],
        "#question-ranking pairs (test)": answerable["tuples"],
    }
    rows = [
        (row, metric, int(number))
        for row, answerable_items in items.items()
        for metric, number in (
            ("answerable", answerable_items.sum()),
            ("unanswerable", (~answerable_items).sum()),
        )
    ]
    readings = [
        (READINGS[reading], metric, number)
        for reading, answerable_items in answerable.items()
        for metric, number in (
            ("rankings", len(answerable_items)),
            ("answerable", int(answerable_items.sum())),
            ("unanswerable", int((~answerable_items).sum())),
        )
    ]
    return (
        pd.DataFrame(rows, columns=["row", "metric", "value"]),
        pd.DataFrame(readings, columns=["rankings of three", "metric", "value"]),
    )


def share_correct(truth: npt.ArrayLike, decided: npt.ArrayLike) -> float:
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
    value = share_correct(predicted["answerable"], predicted["predicted"])
    rows, readings = [(CHATGPT, "passage", "", "", "accuracy", value)], []
    for reading, meaning in READINGS.items():
        lists = ranking_values(predicted, ["answerable", "predicted"], reading)
        truth = lists["answerable"].any(axis=1)
        scores = aggregate(list(lists["predicted"]), "mean")
        for threshold in thresholds:
            value = share_correct(truth, decide(scores, threshold))
            readings.append((meaning, f"T={threshold}", value))
            if reading == "tuples":
                rows.append((CHATGPT, "ranking", "", f"T={threshold}", "accuracy", value))
        readings.append((meaning, "always answerable", share_correct(truth, np.ones_like(truth))))
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
                share_correct(truth, decided),
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
            yield row, name_level(*key), share_correct(truth, np.full_like(truth, constant))


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
            rows.append((name, how, "accuracy", share_correct(truth, decided)))
        mcnemar = mcnemar_test(truth, *by_classifier.values())
        rows.append(("McNemar's test of the two", how, "p", mcnemar.p))
    return pd.DataFrame(rows, columns=["row", "aggregation", "metric", "value"])


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
                (row, label, name_level(*key), share_correct(truth, decided))
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


def accuracy(job: ResultJob) -> None:
    """Table 5.6: accuracy of answerability detection.

    In addition to the released decisions of ChatGPT, the full tier has the classifiers of the
    thesis, trained with several seeds. The other tiers have small classifiers, in supplementary
    tables.
    """
    files, thresholds = job.input, job.params.chatgpt_thresholds
    predicted = read_passage_predictions(Path(files.chatgpt_passages))
    cells, readings = chatgpt_accuracy(predicted, thresholds)
    trained = {
        row: [
            pd.read_parquet(path).set_index(["question", "sentence"])["probability"]
            for path in paths(files[name])
        ]
        for name, row in NAMES.items()
        if name in files.keys()
    }
    tables = accuracy_tables(*read_labels(files), trained, predicted, min(thresholds))
    if tables.by_training is not None:
        keys = [column for column in tables.by_training.columns if column != "value"]
        means = tables.by_training.groupby(keys, sort=False)["value"].mean().reset_index()
        cells = pd.concat([cells, means], ignore_index=True)
        job.write_supplement(summarise_seeds(tables.by_training, keys), SEEDS, {"accuracy": 4})
    job.write_table(cells)
    job.write_supplement(readings, "readings", dict.fromkeys(readings["metric"], 3))
    decimals = dict.fromkeys(tables.classifiers["metric"], 3)
    job.write_supplement(tables.classifiers, "classifiers", decimals)
    decimals = {"only_first": 0, "only_second": 0, "p": 3, "p of questions": 3}
    job.write_supplement(tables.tests, "tests", decimals)
    scores = join_scores(
        {name: read_sentence_scores(Path(files[part])) for part, name in CLASSIFIERS.items()}
    )
    job.write_supplement(
        unanswerable_cells(scores[scores["partition"] == "test"], list(CLASSIFIERS.values())),
        "unanswerable",
        {"passages": 0, "accuracy": 3, "p": 3},
    )
