"""Answers of planted generators to the settings that language models are asked in."""

from functools import cache

import pandas as pd

from everycell.engine.job import Job
from everycell.rag.attribution_arms import pick_questions
from everycell.rag.attribution_study import drawn_questions, everything_asked, study_settings
from everycell.rag.citations import without_citations
from everycell.rag.planted import PlantedGenerator, planted_answers
from everycell.trec.runs import read_run

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    known = pd.read_parquet(files.questions)["query_id"]
    relevant = pd.read_parquet(files.relevant)
    runs = {
        name: read_run(file).query("query in @known")
        for name, file in zip(params.retrievers, files.runs, strict=True)
    }
    # The mark of a reference in a document would pass for a citation in an answer.
    passages = pd.read_parquet(files.passages).set_index("document_id")["text"]
    texts = passages.map(without_citations).to_dict()

    @cache
    def questions_of(setting):
        found, _ = pick_questions(
            runs[setting.retriever], relevant, k=setting.k, place=setting.place, seed=job.seed
        )
        # It is not told who wrote a document, only whom a prompt names: one text is enough.
        return drawn_questions(
            found,
            params.questions,
            authors=("Human", "Human"),
            texts={"Human": texts},
            seed=job.seed,
        )

    first, *others = params.retrievers
    settings = study_settings(params.k, params.depths, first=first, others=others)
    asked = everything_asked(settings, lambda setting, arm: questions_of(setting))
    frames = [
        planted_answers(
            PlantedGenerator(strength, seed=job.seed, **params.odds),
            asked,
            texts,
            dataset=params.dataset,
            name=f"planted {strength:g}",
        )
        for strength in params.shown
    ]
    job.write_frame(pd.concat(frames, ignore_index=True), "answers")
