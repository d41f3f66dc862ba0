"""Section 5.4.3: confidence and agreement of annotators."""

from pathlib import Path

import pandas as pd

from everycell.collections.snippets import read_annotations
from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch5.confidence import (
    AS_RELEASED,
    DECIMALS,
    add_agreement,
    confidence_relations,
    confidence_spread,
    figure_marks,
    read_released,
)
from everycell.studies.lajewska2025.ch5.figures import confidence_and_agreement
from papers.lajewska2025.annotations import paths

with ResultJob(snakemake) as job:
    params = snakemake.params
    batches = [
        read_annotations([path]).assign(batch=f"{path.parent.name} {path.stem}")
        for path in paths(snakemake.input.dataset)
    ]
    annotations = add_agreement(pd.concat(batches, ignore_index=True))
    released = read_released(Path(snakemake.input.released))
    results = confidence_relations(
        annotations, released, resamples=params.resamples, seed=params.seed
    )
    p = results.set_index(["reading", "metric"])["value"][AS_RELEASED, "p"]
    cell = ("confidence and agreement", "significant", "yes" if p < params.alpha else "no")
    job.write_table(pd.DataFrame([cell], columns=["relation", "metric", "value"]))
    job.write_supplement(results, "readings", DECIMALS)
    job.write_supplement(confidence_spread(annotations), "spread", {"share of spread": 3})
    marks = figure_marks(annotations)
    job.write_figure(marks, confidence_and_agreement(marks), name="relation")
