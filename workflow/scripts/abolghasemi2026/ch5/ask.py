"""Answers with citations by a language model to all prompts of chapter 5."""

from functools import partial
from pathlib import Path

import pandas as pd

from everycell.base.files import write_atomically
from everycell.jobs.job import Job
from everycell.language_models.answering import model_of_job
from everycell.language_models.records import record_lines
from everycell.language_models.settings import Decoding
from everycell.rag.prompts import read_names, read_template
from everycell.studies.abolghasemi2026.ch5.answers import answers_frame
from everycell.studies.abolghasemi2026.ch5.arms import present_questions, study_settings
from everycell.studies.abolghasemi2026.ch5.generators import Benchmark
from everycell.studies.abolghasemi2026.ch5.prompted import PromptedModel, entries_to_pass_on
from everycell.studies.abolghasemi2026.ch5.reading import READINGS, Reading
from everycell.studies.abolghasemi2026.ch5.requests import DrawnQuestions
from everycell.trec.runs import read_run

with Job(snakemake) as job:
    params, files = snakemake.params, snakemake.input
    sizes = params.sizes
    questions = pd.read_parquet(files.questions).set_index("query_id")
    runs = {
        name: read_run(file).query("query in @questions.index")
        for name, file in zip(params.retrievers, files.runs, strict=True)
    }
    people = pd.read_parquet(files.passages).set_index("document_id")["text"]
    paraphrases = pd.read_parquet(files.paraphrases).query("kept").set_index("document_id")["text"]
    benchmark = Benchmark(
        params.dataset,
        texts={"Human": people.to_dict(), "LLM": paraphrases.to_dict()},
        questions=questions["text"].to_dict(),
        right=questions["answers"].map(tuple).to_dict(),
    )
    drawn_questions = DrawnQuestions(
        runs,
        pd.read_parquet(files.relevant),
        benchmark,
        rewritten=frozenset(pd.read_parquet(files.asked)["query_id"]),
        same_questions=sizes["same_questions"],
        seed=job.seed,
    )
    first, *further_retrievers = params.retrievers
    presentations = present_questions(
        study_settings(
            sizes["k"], sizes["depths"], first=first, other_retrievers=further_retrievers
        ),
        lambda setting, arm: drawn_questions.of_arm(setting, arm, sizes["questions"][setting.name]),
    )
    with model_of_job(snakemake, job.log) as model:
        generator = PromptedModel(
            sizes["models"][params.model],
            model,
            templates=(
                read_template(Path(files.template)),
                read_template(Path(files.authors_template)),
            ),
            decoding=Decoding(max_tokens=sizes["max_tokens"], logprobs=params.logprobs),
            names=read_names(Path(files.names)),
            seed=job.seed,
            words={"Human": params.labels["human"], "LLM": params.labels["llm"]},
            machine=params.labels["machine"],
        )
        parse_answers = partial(
            answers_frame,
            presentations,
            generator.answer_all(presentations, benchmark),
            gold_answers=benchmark.right,
            dataset=benchmark.name,
            generator=generator.name,
        )
        entries = entries_to_pass_on(model.used, generator, presentations, benchmark)
        write_atomically(Path(snakemake.output.record), record_lines(entries))
    job.write_frame(parse_answers(reading=Reading(**params.reading)), "answers")
    readings = [
        parse_answers(reading=reading).assign(reading=name) for name, reading in READINGS.items()
    ]
    job.write_frame(pd.concat(readings, ignore_index=True), "readings")
