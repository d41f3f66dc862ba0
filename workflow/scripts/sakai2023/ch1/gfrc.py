"""Tables 1 and 2: relevance and group fairness of the two annotated conversations."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.sakai2023.ch1.conversations import (
    annotated_entities,
    fairness_cells,
    read_targets,
    relevance_cells,
)

with ResultJob(snakemake) as job:
    params = snakemake.params
    sets = read_targets(pd.read_csv(snakemake.input.targets), params.divergences)
    entities = annotated_entities(job.input_cells("sakai2023/figure_5"), params.gains, sets)
    if snakemake.wildcards.number == "1":
        job.write_table(relevance_cells(entities, params.budget))
    else:
        job.write_table(fairness_cells(entities, sets, params.method))
