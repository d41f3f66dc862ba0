"""Forged documents on Natural Questions, for attributors with a known mechanism."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from everycell.jobs.job import Job
from everycell.learning.models import load_model, use_one_thread
from everycell.learning.text_vectors import dense_vectors
from everycell.rag.attributors import OracleReader, VectorMatcher, WordMatcher
from everycell.rag.interventions import Answerer, instances, outcomes, try_instance
from everycell.rag.prompts import named_draws
from papers.heuss2025.ch5_questions import RetrievedQuestion, selected_questions


def attributed(job: Job) -> None:
    """Outcomes of forged documents for attributors with a known mechanism."""
    use_one_thread()
    params = job.params
    questions = selected_questions(job, params.questions)
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
        table = outcomes(run_trials(questions, attributor.answer, seed=params.seed))
        table.insert(0, "answerer", name)
        frames.append(table)
    job.write_frame(pd.concat(frames, ignore_index=True), "outcomes")


def run_trials(
    questions: list[RetrievedQuestion], ask: Answerer, *, seed: int
) -> list[dict[str, object]]:
    """Ask all questions, forge documents, and ask again."""
    rows = []
    for index, question in enumerate(questions):
        first = ask(question.text, question.documents)
        other_document = questions[(index + 1) % len(questions)].documents[0]
        rng = named_draws(f"{seed}\t{question.text}\tforged")
        for instance in instances(question.text, question.documents, first, other_document, rng):
            rows.append(try_instance(instance, ask, seed=seed))
    return rows
