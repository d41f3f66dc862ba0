"""Documents to which a language model attributes known answers."""

from pathlib import Path

import pandas as pd

from everycell.base.files import write_atomically
from everycell.jobs.job import Job
from everycell.language_models.answering import model_of_job
from everycell.language_models.records import record_lines
from everycell.rag.attributors import LikelyChoice
from everycell.rag.citing_styles import GroundedAnswer
from everycell.studies.heuss2025.ch5.known_attributors import select_questions
from everycell.studies.heuss2025.ch5.model_contexts import repeat_with_forgeries
from everycell.studies.heuss2025.ch5.section_numbers import relevant_citations
from everycell.trec.runs import read_run

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    questions = select_questions(
        pd.read_parquet(files.questions),
        pd.read_parquet(files.relevant),
        pd.read_parquet(files.passages).set_index("document_id")["text"].to_dict(),
        read_run(Path(files.run)),
        depth=params.depth,
        count=params.chosen,
        seed=job.seed,
    )
    question_contexts = [(question.text, question.documents) for question in questions]
    with model_of_job(snakemake, job.log) as model:
        choice = LikelyChoice(
            {question.text: question.answer for question in questions}, model.answer_all
        )
        first = choice.answer_all(question_contexts)

        def ask_all(contexts_to_ask):
            """Choices of the model, as answers of one sentence."""
            return [GroundedAnswer(question, 1) for question in choice.answer_all(contexts_to_ask)]

        tables = repeat_with_forgeries(question_contexts, ask_all, seed=job.seed)
        # Answers are document numbers with log-probabilities, without text from passages.
        write_atomically(Path(snakemake.output.record), record_lines(model.used))
    relevant = [
        frozenset(
            position
            for position, text in enumerate(question.documents)
            if text in question.relevant
        )
        for question in questions
    ]
    tables["right"] = relevant_citations(first, relevant)
    for name in ("outcomes", "numbers", "answers", "right"):
        tables[name].insert(0, "answerer", params.name)
        job.write_frame(tables[name], name)
