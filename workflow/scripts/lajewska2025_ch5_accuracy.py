"""Table 5.6: accuracy of answerability detection, as far as predictions are released."""

from pathlib import Path

import numpy as np
import pandas as pd
from job import Job
from lajewska2025_ch5_rankings import READINGS, rankings_of

from everycell.collections.answerability import (
    paired_scores,
    read_passage_predictions,
    read_sentence_scores,
)
from everycell.dialogue.answerability import THRESHOLDS, aggregate, decide, mcnemar_test

CHATGPT = "ChatGPT passage-level (zero-shot)"
CLASSIFIERS = {
    "classifier": "CAsT-answerability",
    "augmented_classifier": "CAsT-answerability augmented with SQuAD 2.0",
}
KEYS = ["row", "level", "passage_aggregation", "ranking_aggregation", "metric"]


def accuracy(truth, said) -> float:
    """Share of right decisions."""
    return float((np.asarray(truth) == np.asarray(said)).mean())


with Job(snakemake) as job:
    files, thresholds = snakemake.input, snakemake.params.chatgpt_thresholds
    passages = read_passage_predictions(Path(files.chatgpt_passages))
    rows = [
        (CHATGPT, "passage", "", "", "accuracy",
         accuracy(passages["answerable"], passages["predicted"]))
    ]  # fmt: skip
    readings = []
    for reading, meaning in READINGS.items():
        found = rankings_of(passages, ["answerable", "predicted"], reading)
        truth = found["answerable"].any(axis=1)
        scores = aggregate(list(found["predicted"]), "mean")
        for threshold in thresholds:
            right = accuracy(truth, decide(scores, threshold))
            readings.append((meaning, f"T={threshold}", right))
            if reading == "tuples":
                rows.append((CHATGPT, "ranking", "", f"T={threshold}", "accuracy", right))
        # What always saying "answerable" would reach.
        readings.append((meaning, "always answerable", accuracy(truth, np.ones_like(truth))))
    job.write_table(pd.DataFrame(rows, columns=[*KEYS, "value"]))
    job.write_beside(
        pd.DataFrame(readings, columns=["rankings of three", "metric", "value"]),
        "readings",
        dict.fromkeys([*(f"T={threshold}" for threshold in thresholds), "always answerable"], 3),
    )

    scores = paired_scores(
        {name: read_sentence_scores(Path(files[part])) for part, name in CLASSIFIERS.items()}
    )
    test = scores[scores["partition"] == "test"]
    nothing = np.zeros(len(test), dtype=bool)
    negatives = []
    for how, threshold in THRESHOLDS.items():
        said = {
            name: decide(aggregate(test[name].tolist(), how), threshold)
            for name in CLASSIFIERS.values()
        }
        for name, decisions in said.items():
            negatives.append((name, how, "passages", len(test)))
            negatives.append((name, how, "accuracy", accuracy(nothing, decisions)))
        both = mcnemar_test(nothing, *said.values())
        negatives.append(("McNemar's test of the two", how, "p", both.p))
    job.write_beside(
        pd.DataFrame(negatives, columns=["row", "aggregation", "metric", "value"]),
        "unanswerable",
        {"passages": 0, "accuracy": 3, "p": 3},
    )
