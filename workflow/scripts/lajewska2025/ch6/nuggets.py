"""Passages of the test questions, with nuggets by people and by a classifier.

A sentence is a nugget of the classifier if its answer probability reaches a threshold. At this
threshold the classifier detects as many nuggets on the validation questions as people marked.
"""

import pandas as pd

from everycell.jobs.job import Job
from everycell.studies.lajewska2025.ch6.inputs import (
    agreement_with_people,
    all_sentences,
    classified_spans,
    human_spans,
    input_passages,
    matching_threshold,
    nuggets_by_detection,
    read_human_marks,
)
from papers.lajewska2025.answerability_data import read_labels

with Job(snakemake) as job:
    params = snakemake.params
    rule_of_people = {"annotators": params.least, "shortest": params.shortest}
    passages, _ = read_labels(snakemake.input)
    marks = read_human_marks(snakemake.input.dataset)
    scores = pd.read_parquet(snakemake.input.scores)
    probabilities = scores.set_index(["question", "sentence"])["probability"].to_dict()
    validation = passages[passages["partition"] == "validation"]
    threshold = matching_threshold(validation, marks, probabilities, **rule_of_people)
    job.log.write(f"Sentences with a probability of at least {threshold} are nuggets.\n")
    test_passages = input_passages(passages[passages["partition"] == "test"])
    detected = classified_spans(test_passages, probabilities, threshold)
    gold = human_spans(test_passages, marks, **rule_of_people)
    job.write_frame(test_passages, "passages")
    job.write_frame(nuggets_by_detection(test_passages, gold, detected), "nuggets")
    agreed = [
        agreement_with_people(test_passages, marks, spans).assign(detection=name)
        for name, spans in (
            ("classifier", detected),
            ("every sentence", all_sentences(test_passages)),
        )
    ]
    job.write_frame(pd.concat(agreed, ignore_index=True), "agreement")
