"""Table 5.5: pairs of questions with sentences, passages and rankings, by answerability."""

from pathlib import Path

import pandas as pd

from everycell.collections.answerability import read_passage_labels, read_sentence_labels
from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch5.rankings import READINGS, ranking_values

with ResultJob(snakemake) as job:
    files = snakemake.input
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
    labels = {
        "#question-sentence pairs (train+test)": sentences["answers"],
        "#question-passage pairs (train+test)": passages["answerable"],
        "#question-ranking pairs (test)": answerable["tuples"],
    }
    rows = [
        (row, metric, int(number))
        for row, answerable_items in labels.items()
        for metric, number in (
            ("answerable", answerable_items.sum()),
            ("unanswerable", (~answerable_items).sum()),
        )
    ]
    job.write_table(pd.DataFrame(rows, columns=["row", "metric", "value"]))
    readings = [
        (READINGS[reading], metric, number)
        for reading, answerable_items in answerable.items()
        for metric, number in (
            ("rankings", len(answerable_items)),
            ("answerable", int(answerable_items.sum())),
            ("unanswerable", int((~answerable_items).sum())),
        )
    ]
    job.write_supplement(
        pd.DataFrame(readings, columns=["rankings of three", "metric", "value"]),
        "readings",
        {"rankings": 0, "answerable": 0, "unanswerable": 0},
    )
