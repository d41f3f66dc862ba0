"""Tables 4.8, 4.9, 4.10 and 4.12: ANOVA of the ratings of both studies."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.statistics.anova_frames import anova_cells, supported_cells
from everycell.statistics.effect_size import EFFECT_SCALES
from everycell.studies.lajewska2025.ch4.ratings import both_studies

#: Third factor of the three-way tables, which contain only terms with this factor.
ADDED = {"8": None, "9": "Query", "10": "Familiarity"}
#: Names that differ from those in Table 4.8: (table, factor, rating) -> published name.
PUBLISHED = {
    ("10", "Familiarity", "Factual Correctness"): "Fact. Corr.",
    ("12", "Query", "Factual Correctness"): "Factual Corr.",
    ("12", "Familiarity", "Transparency"): "transparency",
}


def table(number: str, cells) -> pd.DataFrame:
    """Cells of one table, by `anova_cells` or `supported_cells`, with the published names."""
    scale = EFFECT_SCALES[snakemake.params.scale]
    parts = []
    for study, ratings in both_studies(snakemake.input):
        rated_labels = [label for label in study.ratings if label != "Familiarity"]
        if number == "12":
            designs = [
                (["Familiarity", *rated_labels], ["Query"], None),
                (rated_labels, ["Familiarity"], None),
            ]
        else:
            added = ADDED[number]
            designs = [(rated_labels, [*study.conditions, *([added] if added else [])], added)]
        for responses, factors, containing in designs:
            part = cells(ratings, responses, factors, scale, containing=containing)
            part["dependent_variable"] = [
                PUBLISHED.get((number, containing or factors[0], name), name)
                for name in part["dependent_variable"]
            ]
            parts.append(part.assign(study=study.name))
    all_cells = pd.concat(parts, ignore_index=True)
    return all_cells[["study", *all_cells.columns.drop("study")]]


with ResultJob(snakemake) as job:
    number = snakemake.wildcards.number
    job.write_table(table(number, anova_cells))
    if number in ADDED:
        job.write_supplement(
            table(number, supported_cells),
            "supported",
            {"df": 0, "F": 3, "p_value": 3, "omega_squared": 3},
        )
