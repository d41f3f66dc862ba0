"""Table 5.6: accuracy of answerability detection.

Beside the released decisions of ChatGPT stand classifiers that were trained here: in the full tier
the thesis' own, elsewhere small ones, in tables of their own.
"""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.collections.answerability_predictions import (
    paired_scores,
    read_passage_predictions,
    read_sentence_scores,
)
from everycell.dialogue.answerability import (
    THRESHOLDS,
    aggregate,
    best_threshold,
    decide,
    decide_levels,
    lexical_probabilities,
    mcnemar_test,
)
from everycell.engine.result_job import ResultJob
from everycell.statistics.hypothesis_tests import t_tests
from everycell.studies.lajewska2025.ch5.answerability_data import (
    as_scores,
    judged_pairs,
    labelled_pairs,
    read_labels,
)
from everycell.studies.lajewska2025.ch5.rankings import READINGS, rankings_of

CHATGPT = "ChatGPT passage-level (zero-shot)"
CLASSIFIERS = {
    "classifier": "CAsT-answerability",
    "augmented_classifier": "CAsT-answerability augmented with SQuAD 2.0",
}
#: Trained here: name of the scores -> row of the table beside, in the full tier of the print too.
PRINTED = {"full": CLASSIFIERS["classifier"], "squad": CLASSIFIERS["augmented_classifier"]}
NAMES = PRINTED | {"tiny": "BERT-tiny, all trained", "frozen": "MiniLM as it comes, regression"}
WORDS = "TF-IDF of words, regression"
KEYS = ["row", "level", "passage_aggregation", "ranking_aggregation", "metric"]


def accuracy(truth, said) -> float:
    """Share of right decisions."""
    return float((np.asarray(truth) == np.asarray(said)).mean())


def of_passages(passages: pd.DataFrame, scores: pd.Series) -> list[np.ndarray]:
    """Probabilities of the sentences of each passage."""
    return [
        scores.loc[[(question, sentence) for sentence in sentences]].to_numpy()
        for question, sentences in zip(passages["question"], passages["sentences"], strict=True)
    ]


def cases(passages: pd.DataFrame, labelled: pd.DataFrame, scores: pd.Series, thresholds):
    """Questions, truth and decisions by level, aggregation of passages and of rankings.

    The threshold of a sentence is that of the maximum, which takes one sentence for its passage.
    """
    said = decide(scores.loc[labelled_pairs(labelled)].to_numpy(), thresholds["max"])
    questions, truth = (labelled[column].to_numpy() for column in ("question", "answers"))
    levels = decide_levels(passages, of_passages(passages, scores), thresholds, repeated="tuples")
    return {("sentence", "", ""): (questions, truth, said)} | {
        tuple(one[:3]): tuple(one[3:]) for one in levels
    }


def tuned(passages: pd.DataFrame, scores: pd.Series) -> dict[str, float]:
    """Thresholds with the best decisions on passages, for those of the validation partition."""
    truth, sentences = passages["answerable"].to_numpy(), of_passages(passages, scores)
    return {how: best_threshold(aggregate(sentences, how), truth) for how in THRESHOLDS}


def as_text(thresholds) -> str:
    """Thresholds in words."""
    return ", ".join(f"{how} {threshold:g}" for how, threshold in thresholds.items())


def described(level: str, passages: str, rankings: str) -> str:
    """Level and aggregations in words: "ranking (max, then mean)" has maxima of sentences first."""
    steps = ", then ".join(part for part in (passages, rankings) if part)
    return f"{level} ({steps})" if steps else level


def compared(name: str, other: str, one, another) -> list[tuple]:
    """McNemar's test of two systems on the cases of a level, and a paired test of the questions.

    Cases of one question share passages, so that McNemar's test counts them for more than they say.
    """
    (questions, truth, said), (_, _, theirs) = one, another
    both = mcnemar_test(truth, said, theirs)
    accuracies = pd.DataFrame({name: truth == said, other: truth == theirs}).groupby(questions)
    p = t_tests(accuracies.mean(), correction="none")["p"].item()
    return [*both._asdict().items(), ("p of questions", p)]


with ResultJob(snakemake) as job:
    files, thresholds = snakemake.input, snakemake.params.chatgpt_thresholds
    predicted = read_passage_predictions(Path(files.chatgpt_passages))
    rows = [
        (CHATGPT, "passage", "", "", "accuracy",
         accuracy(predicted["answerable"], predicted["predicted"]))
    ]  # fmt: skip
    readings = []
    for reading, meaning in READINGS.items():
        found = rankings_of(predicted, ["answerable", "predicted"], reading)
        truth = found["answerable"].any(axis=1)
        scores = aggregate(list(found["predicted"]), "mean")
        for threshold in thresholds:
            right = accuracy(truth, decide(scores, threshold))
            readings.append((meaning, f"T={threshold}", right))
            if reading == "tuples":
                rows.append((CHATGPT, "ranking", "", f"T={threshold}", "accuracy", right))
        # What always saying "answerable" would reach.
        readings.append((meaning, "always answerable", accuracy(truth, np.ones_like(truth))))

    passages, labelled = read_labels(files)
    test, validation = (passages[passages["partition"] == name] for name in ("test", "validation"))
    labelled_test = labelled[labelled["partition"] == "test"]
    systems = {
        row: pd.read_parquet(files[name]).set_index(["question", "sentence"])["probability"]
        for name, row in NAMES.items()
        if name in files.keys()
    }
    training = labelled[labelled["partition"] == "train"]
    pairs = judged_pairs(passages, labelled)
    found = lexical_probabilities(labelled_pairs(training), training["answers"], pairs)
    systems[WORDS] = as_scores(pairs, found).set_index(["question", "sentence"])["probability"]
    decisions = {
        row: cases(test, labelled_test, scores, THRESHOLDS) for row, scores in systems.items()
    }
    rows += [
        (row, level, first.capitalize(), second.capitalize(), "accuracy", accuracy(truth, said))
        for row in decisions.keys() & set(PRINTED.values())
        for (level, first, second), (_, truth, said) in decisions[row].items()
    ]
    job.write_table(pd.DataFrame(rows, columns=[*KEYS, "value"]))
    job.write_beside(
        pd.DataFrame(readings, columns=["rankings of three", "metric", "value"]),
        "readings",
        dict.fromkeys([*(f"T={threshold}" for threshold in thresholds), "always answerable"], 3),
    )

    own = []
    for key, (_, truth, _) in decisions[WORDS].items():
        for row, constant in (("nothing has an answer", False), ("everything has one", True)):
            own.append((row, "", described(*key), accuracy(truth, np.full_like(truth, constant))))
    for row, scores in systems.items():
        chosen = tuned(validation, scores)
        again = cases(test, labelled_test, scores, chosen)
        for label, some in (
            (as_text(THRESHOLDS), decisions[row]),
            (f"{as_text(chosen)}, tuned", again),
        ):
            own += [
                (row, label, described(*key), accuracy(truth, said))
                for key, (_, truth, said) in some.items()
            ]
    levels = [described(*key) for key in decisions[WORDS]]
    job.write_beside(
        pd.DataFrame(own, columns=["classifier", "thresholds", "metric", "value"]),
        "classifiers",
        dict.fromkeys(levels, 3),
    )

    # A passage that a turn has twice has one prediction, which the reader makes sure of.
    chatgpt = test[["turn_id", "passage_id", "answerable"]].merge(
        predicted.drop_duplicates(),
        how="left",
        on=["turn_id", "passage_id", "answerable"],
        validate="many_to_one",
    )
    of_chatgpt = {
        tuple(one[:3]): tuple(one[3:])
        for one in decide_levels(
            chatgpt,
            [[float(said)] for said in chatgpt["predicted"]],
            {"max": 0.5, "mean": min(thresholds)},
            repeated="tuples",
        )
    }
    tests = [
        (name, other, described(*key), metric, value)
        for name, other in itertools.combinations(decisions, 2)
        for key in decisions[name]
        for metric, value in compared(name, other, decisions[name][key], decisions[other][key])
    ] + [
        (name, CHATGPT, described(*key), metric, value)
        for name in decisions
        for key in (("passage", "max", ""), ("ranking", "max", "mean"))
        for metric, value in compared(name, CHATGPT, decisions[name][key], of_chatgpt[key])
    ]
    job.write_beside(
        pd.DataFrame(tests, columns=["first", "second", "decided", "metric", "value"]),
        "tests",
        {"only_first": 0, "only_second": 0, "p": 3, "p of questions": 3},
    )

    scores = paired_scores(
        {name: read_sentence_scores(Path(files[part])) for part, name in CLASSIFIERS.items()}
    )
    scored = scores[scores["partition"] == "test"]
    nothing = np.zeros(len(scored), dtype=bool)
    negatives = []
    for how, threshold in THRESHOLDS.items():
        said = {
            name: decide(aggregate(scored[name].tolist(), how), threshold)
            for name in CLASSIFIERS.values()
        }
        for name, decided in said.items():
            negatives.append((name, how, "passages", len(scored)))
            negatives.append((name, how, "accuracy", accuracy(nothing, decided)))
        both = mcnemar_test(nothing, *said.values())
        negatives.append(("McNemar's test of the two", how, "p", both.p))
    job.write_beside(
        pd.DataFrame(negatives, columns=["row", "aggregation", "metric", "value"]),
        "unanswerable",
        {"passages": 0, "accuracy": 3, "p": 3},
    )
