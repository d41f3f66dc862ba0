"""Outcomes of forged documents for attributors with a known mechanism."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.jobs.job import Job
from everycell.learning.models import load_model, use_one_thread
from everycell.learning.text_vectors import dense_vectors
from everycell.rag.attributors import OracleReader, VectorMatcher, WordMatcher
from everycell.rag.interventions import outcomes
from everycell.studies.heuss2025.ch5.known_attributors import run_trials, select_questions
from everycell.trec.runs import read_run

with Job(snakemake) as job:
    use_one_thread()
    files, params = snakemake.input, snakemake.params
    questions = select_questions(
        pd.read_parquet(files.questions),
        pd.read_parquet(files.relevant),
        pd.read_parquet(files.passages).set_index("document_id")["text"].to_dict(),
        read_run(Path(files.run)),
        depth=params.depth,
        count=params.questions,
        seed=job.seed,
    )
    job.log.write(f"{len(questions)} questions with a relevant document among {params.depth}.\n")
    encoder, tokenizer = load_model(job.folder_of("encoder"), "encoder")

    @cache
    def vector(text):
        """Embedding of a text, encoded alone so that it does not depend on a batch."""
        return dense_vectors(encoder, tokenizer, [text], params.length)[0]

    def vectors(texts):
        return np.stack([vector(text) for text in texts]).astype(float)

    answers_by_question = {question.text: question.answer for question in questions}
    attributors = {
        "matches words": WordMatcher(answers_by_question),
        "nearest vector": VectorMatcher(answers_by_question, vectors, cited=1),
        "two nearest vectors": VectorMatcher(answers_by_question, vectors, cited=2),
        "reads": OracleReader(
            answers_by_question, {question.text: question.relevant for question in questions}
        ),
    }
    frames = []
    for name, attributor in attributors.items():
        table = outcomes(run_trials(questions, attributor.answer, seed=job.seed))
        table.insert(0, "answerer", name)
        frames.append(table)
    job.write_frame(pd.concat(frames, ignore_index=True), "outcomes")
