"""Table B.1: questions, passages and sentences of the two CAsT sets, and of SQuAD 2.0 if named."""

from pathlib import Path

import pandas as pd

from everycell.collections.answerability import (
    read_passage_labels,
    read_passage_sentences,
    read_sentence_labels,
)
from everycell.collections.squad import read_squad
from everycell.engine.result_job import ResultJob
from everycell.studies.lajewska2025.chB.data_sets import set_counts, squad_counts

with ResultJob(snakemake) as job:
    files = snakemake.input
    labels = read_passage_labels(Path(files.snippets), Path(files.unanswerable))
    pairs = {
        "CAsT-snippets": read_sentence_labels(Path(files.snippets_sentences)),
        "CAsT-unanswerable": read_sentence_labels(Path(files.unanswerable_sentences)),
    }
    # Sentences without an answer, by whether their passage has one; the passages of the second
    # set have none.
    sentences = read_passage_sentences(Path(files.snippets))
    silent = sentences[~sentences["answers"]]
    without = {
        "CAsT-snippets": (silent["answerable"].sum(), (~silent["answerable"]).sum()),
        "CAsT-unanswerable": (0, (~pairs["CAsT-unanswerable"]["answers"]).sum()),
    }
    counts = {
        dataset: set_counts(passages, (pairs[dataset]["answers"].sum(), *without[dataset]))
        for dataset, passages in labels.groupby("dataset", sort=False)
    }
    if files.get("squad"):
        parts = [read_squad(Path(path)) for path in files.squad]
        questions = pd.concat(parts).itertuples(index=False, name=None)
        counts = {"SQuAD 2.0": squad_counts(questions)} | counts
    rows = [
        (row, dataset, "count", number)
        for dataset, of_rows in counts.items()
        for row, number in of_rows.items()
    ]
    job.write_table(pd.DataFrame(rows, columns=["row", "dataset", "metric", "value"]))
    of_snippets = labels[labels["dataset"] == "CAsT-snippets"].groupby("turn_id")["answerable"]
    answerable, passages = of_snippets.sum(), of_snippets.size().max()
    readings = [
        (str(least), metric, int(number))
        for least in range(1, passages + 1)
        for metric, number in (
            ("questions with as many or more", (answerable >= least).sum()),
            ("questions with fewer", (answerable < least).sum()),
        )
    ]
    job.write_beside(
        pd.DataFrame(readings, columns=["answerable passages", "metric", "value"]),
        "questions",
        {"questions with as many or more": 0, "questions with fewer": 0},
    )
    answers = {
        "sentence pairs of the classifiers": pairs["CAsT-snippets"]["answers"],
        "labels of the passages": sentences["answers"],
    }
    counted = [
        (source, metric, int(number))
        for source, found in answers.items()
        for metric, number in (("with an answer", found.sum()), ("without", (~found).sum()))
    ]
    job.write_beside(
        pd.DataFrame(counted, columns=["file", "metric", "value"]),
        "sentences",
        {"with an answer": 0, "without": 0},
    )
