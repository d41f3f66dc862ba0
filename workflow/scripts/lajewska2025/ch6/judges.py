"""Table 6.7: V_strict of each system by three judges, and their agreement."""

from pathlib import Path

from everycell.collections.ginger import read_nugget_labels
from everycell.jobs.result_job import ResultJob
from everycell.render.panels import agreement_panels
from everycell.studies.lajewska2025.ch6.creating import SHARED_FACTS_DECIMALS
from everycell.studies.lajewska2025.ch6.judges import (
    AGREEMENT_DECIMALS,
    READINGS,
    judge_tables,
    released_scores,
)
from everycell.studies.lajewska2025.ch6.nuggets import TEST_DECIMALS

with ResultJob(snakemake) as job:
    labels = read_nugget_labels(*map(Path, snakemake.input.labels))
    tables = judge_tables(labels)
    job.write_table(tables.cells)
    job.write_supplement(tables.agreement, "agreement", AGREEMENT_DECIMALS)
    job.write_supplement(tables.nuggets, "nuggets", SHARED_FACTS_DECIMALS)
    job.write_supplement(tables.readings, "readings", dict.fromkeys(READINGS, 3))
    job.write_supplement(tables.rewriting, "rewriting", TEST_DECIMALS)
    scores = released_scores(labels)
    job.write_figure(
        scores,
        agreement_panels(
            scores,
            x="released",
            y="value",
            count="responses",
            panel="judge",
            x_label="Released score of a response",
            y_label="Reproduced score",
        ),
        "responses",
    )
