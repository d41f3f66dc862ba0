"""Attributions of the talent search, for lists and single candidates."""

import numpy as np
import pandas as pd

from everycell.jobs.job import Job
from everycell.records.published_cells import declared_cells
from everycell.studies.heuss2025.ch4.attributions import (
    attribution_deviations,
    candidate_attributions,
    compare_choices,
    list_attributions,
)
from everycell.studies.heuss2025.ch4.talent_search import (
    OLDER_VALUES,
    TalentModel,
    background,
    candidates,
    universities,
)

with Job(snakemake) as job:
    params = snakemake.params
    published = declared_cells(params.declared, "heuss2025/table_4_A_1")
    schools = universities(declared_cells(params.declared, "heuss2025/table_4_A_2"))
    rng = np.random.default_rng(job.seed)
    samples = background(schools, params.samples, rng)
    draws = [background(schools, params.samples_of_text, rng) for _ in range(params.draws)]
    biased = TalentModel(schools, biased=True)
    rows = []
    for values, changed in (("Table 4.A.1", None), ("older values", OLDER_VALUES)):
        people = candidates(published, schools, changed)
        for name, model in (("biased", biased), ("unbiased", biased._replace(biased=False))):
            lists = list_attributions(model, people, samples)
            rows.append(lists.assign(model=name, candidates=values))
    job.write_frame(pd.concat(rows, ignore_index=True), "lists")
    people = candidates(published, schools)
    job.write_frame(candidate_attributions(biased, people, samples), "candidates")
    job.write_frame(compare_choices(biased, people, samples), "choices")
    job.write_frame(attribution_deviations(biased, people, draws), "spread")
