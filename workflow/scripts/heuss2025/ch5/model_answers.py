"""Answers and citations of a language model, and outcomes of forged documents."""

from pathlib import Path

from everycell.collections.cited_questions import read_cited_questions
from everycell.jobs.job import Job
from everycell.language_models.answering import answer_function, model_of_job
from everycell.language_models.settings import Decoding
from everycell.rag.citing_styles import citing_style
from everycell.studies.heuss2025.ch5.model_contexts import contexts, repeat_with_forgeries
from everycell.trec.runs import read_run

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    questions_file, _, run = map(Path, files.data)
    collection = read_cited_questions(questions_file.parent)
    question_contexts = contexts(
        collection.questions.set_index("query_id")["text"].to_dict(),
        collection.passages.set_index("document_id")["text"].to_dict(),
        read_run(run),
        depth=params.depth,
        count=params.questions,
        seed=job.seed,
    )
    job.log.write(f"{len(question_contexts)} of {len(collection.questions)} questions used.\n")
    style = citing_style(params.style, Path(files.template) if files.template else None)
    decoding = Decoding(max_tokens=params.max_tokens)
    with model_of_job(snakemake, job.log) as model:
        ask = answer_function(model, decoding)

        def ask_all(contexts_to_ask):
            """Parsed answers of the model, which are recorded."""
            texts = ask([style.prompt(*context) for context in contexts_to_ask])
            return [
                style.read(text, len(documents))
                for text, (_, documents) in zip(texts, contexts_to_ask, strict=True)
            ]

        tables = repeat_with_forgeries(
            question_contexts, ask_all, seed=job.seed, longest=params.longest
        )
    for name, table in tables.items():
        table.insert(0, "answerer", params.model)
        job.write_frame(table, name)
