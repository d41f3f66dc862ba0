"""Figure A.1: expert scores of the variants of a response."""

from pathlib import Path

from everycell.collections.user_studies import read_expert_scores
from everycell.jobs.result_job import ResultJob
from everycell.render.panels import box_panels

with ResultJob(snakemake) as job:
    scores = read_expert_scores(Path(snakemake.input.experts))
    scores = scores.sort_values(["dimension", "variant", "query"], ascending=[False, True, True])
    job.write_figure(
        scores.rename(columns={"score": "value"}),
        box_panels(
            scores,
            group="variant",
            panel="dimension",
            value="score",
            group_label="Variant of the response",
            value_label="Expert score (1 to 5)",
            whiskers=snakemake.params.whiskers,
        ),
    )
