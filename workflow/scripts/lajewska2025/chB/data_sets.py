"""Table B.1: sizes of the two CAsT data sets, and of SQuAD 2.0 if configured."""

from pathlib import Path

import pandas as pd

from everycell.collections.answerability import (
    read_passage_labels,
    read_passage_sentences,
    read_sentence_labels,
)
from everycell.collections.squad import read_squad
from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.chB.data_sets import (
    answers_by_file,
    counts_by_set,
    questions_by_answerable_passages,
    squad_counts,
)

with ResultJob(snakemake) as job:
    files = snakemake.input
    labels = read_passage_labels(Path(files.snippets), Path(files.unanswerable))
    pairs = {
        "CAsT-snippets": read_sentence_labels(Path(files.snippets_sentences)),
        "CAsT-unanswerable": read_sentence_labels(Path(files.unanswerable_sentences)),
    }
    sentences = read_passage_sentences(Path(files.snippets))
    counts = counts_by_set(labels, pairs, sentences)
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
    for name, table in (
        ("questions", questions_by_answerable_passages(labels)),
        ("sentences", answers_by_file(pairs["CAsT-snippets"], sentences)),
    ):
        job.write_supplement(table, name, dict.fromkeys(table["metric"], 0))
