"""Answers of controls in the settings that are used for language models."""

import pandas as pd

from everycell.jobs.job import Job
from everycell.rag.citations import without_citations
from everycell.studies.abolghasemi2026.ch5.arms import present_questions, study_settings
from everycell.studies.abolghasemi2026.ch5.controls import make_controls
from everycell.studies.abolghasemi2026.ch5.generators import Benchmark, collect_answers
from everycell.studies.abolghasemi2026.ch5.requests import DrawnQuestions
from everycell.trec.runs import read_run

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    query_ids = pd.read_parquet(files.questions)["query_id"]
    runs = {
        name: read_run(file).query("query in @query_ids")
        for name, file in zip(params.retrievers, files.runs, strict=True)
    }
    # A bracketed reference in a document would look like a citation in an answer.
    passages = pd.read_parquet(files.passages).set_index("document_id")["text"]
    texts = passages.map(without_citations).to_dict()
    # A control depends only on the labels in a prompt, so both authors can have the same text.
    benchmark = Benchmark(params.dataset, {"Human": texts, "LLM": texts})

    first, *further_retrievers = params.retrievers
    settings = study_settings(
        params.k, params.depths, first=first, other_retrievers=further_retrievers
    )
    drawn_questions = DrawnQuestions(
        runs, pd.read_parquet(files.relevant), benchmark, seed=job.seed
    )
    presentations = present_questions(
        settings, lambda setting, arm: drawn_questions.of_arm(setting, arm, params.questions)
    )
    frames = [
        collect_answers(control, presentations, benchmark)
        for control in make_controls(params.shown, params.odds, job.seed).values()
    ]
    job.write_frame(pd.concat(frames, ignore_index=True), "answers")
