"""Table 7.6: two-factor interactions in the ratings of responses and explanations."""

from pathlib import Path

from everycell.collections.user_studies import read_transparency
from everycell.jobs.result_job import ResultJob
from everycell.statistics.effect_size import EFFECT_SCALES
from everycell.studies.lajewska2025.ch7.anova_tables import FACTOR_NAMES, interactions

with ResultJob(snakemake) as job:
    ratings = read_transparency(Path(snakemake.input.ratings))
    table = interactions(ratings, EFFECT_SCALES[snakemake.params.scale])
    job.write_table(table.replace({"row": FACTOR_NAMES["6"]}))
