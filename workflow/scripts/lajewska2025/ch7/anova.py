"""Tables 7.4 and 7.5: ANOVA of ratings of responses and explanations."""

from pathlib import Path

from everycell.collections.user_studies import (
    EXPLANATION_RATINGS,
    RESPONSE_RATINGS,
    read_transparency,
)
from everycell.jobs.result_job import ResultJob
from everycell.statistics.effect_size import EFFECT_SCALES
from everycell.studies.lajewska2025.ch7.anova_tables import (
    FACTOR_NAMES,
    one_way_table,
    worker_table,
)

with ResultJob(snakemake) as job:
    number = snakemake.wildcards.number
    ratings = read_transparency(Path(snakemake.input.ratings))
    responses = list(RESPONSE_RATINGS if number == "4" else EXPLANATION_RATINGS)
    names = FACTOR_NAMES.get(number, {})
    table = one_way_table(ratings, responses, EFFECT_SCALES[snakemake.params.scale])
    job.write_table(table.replace({"row": names}))
    by_worker = worker_table(ratings, responses).replace({"row": names})
    job.write_supplement(by_worker, "by_worker", dict.fromkeys(by_worker["metric"].unique(), 3))
