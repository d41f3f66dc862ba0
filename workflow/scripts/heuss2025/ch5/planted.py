"""Answers and outcomes of forged documents for answerers with known behaviour."""

import pandas as pd

from everycell.jobs.job import Job
from everycell.rag.interventions import outcomes
from everycell.rag.planted import PlantedReader
from everycell.studies.heuss2025.ch5.planted_citations import (
    answer_sizes,
    estimate_grid,
    experiment,
    planted_questions,
    selection_counts,
)

with Job(snakemake) as job:
    params = snakemake.params
    questions = planted_questions(params.questions, seed=job.seed)
    frames = {"selection": [], "sizes": [], "outcomes": []}
    for name, memory in params.readers.items():
        reader = PlantedReader(memory=memory, seed=job.seed, **params.behaviour)
        results = experiment(questions, reader, seed=job.seed)
        for part, table in (
            ("selection", selection_counts(results.answers)),
            ("sizes", answer_sizes(results.answers)),
            ("outcomes", outcomes(results.trials)),
        ):
            table.insert(0, "answerer", name)
            frames[part].append(table)
    for part, tables in frames.items():
        job.write_frame(pd.concat(tables, ignore_index=True), part)
    estimated = estimate_grid(
        questions, params.memories, params.opens, params.behaviour, seed=job.seed
    )
    job.write_frame(estimated, "estimates")
