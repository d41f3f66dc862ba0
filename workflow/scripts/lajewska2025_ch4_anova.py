"""Tables 4.8, 4.9, 4.10 and 4.12: ANOVA of the ratings of both studies."""

from pathlib import Path

import pandas as pd
from job import Job

from everycell.collections.user_studies import (
    ANSWERABILITY,
    VIEWPOINTS,
    read_response_limitations,
)
from everycell.statistics import EFFECT_SCALES
from everycell.statistics.cells import anova_cells, supported_cells

#: Third factor of the three-way tables; they print only the terms that contain it.
ADDED = {"8": None, "9": "Query", "10": "Familiarity"}
#: Names that a table prints in another way than Table 4.8: (table, factor, rating) -> name.
PRINTED = {
    ("10", "Familiarity", "Factual Correctness"): "Fact. Corr.",
    ("12", "Query", "Factual Correctness"): "Factual Corr.",
    ("12", "Familiarity", "Transparency"): "transparency",
}


def table_of(number: str, study, ratings: pd.DataFrame, cells) -> pd.DataFrame:
    """Cells of one study in one table, by `anova_cells` or `supported_cells`."""
    scale = EFFECT_SCALES[snakemake.params.scale]
    dimensions = [label for label in study.ratings if label != "Familiarity"]
    if number == "12":
        return pd.concat(
            [
                cells(ratings, ["Familiarity", *dimensions], ["Query"], scale),
                cells(ratings, dimensions, ["Familiarity"], scale),
            ]
        )
    added = ADDED[number]
    factors = [*study.conditions, *([added] if added else [])]
    return cells(ratings, dimensions, factors, scale, containing=added)


def both_studies(number: str, cells) -> pd.DataFrame:
    """Cells of both studies under the names that the table prints."""
    parts = []
    for study, path in (
        (ANSWERABILITY, snakemake.input.answerability),
        (VIEWPOINTS, snakemake.input.viewpoints),
    ):
        ratings = read_response_limitations(Path(path), study)
        part = table_of(number, study, ratings, cells)
        part.insert(0, "study", study.name)
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    table["dependent_variable"] = [
        PRINTED.get((number, ADDED.get(number) or term, rating), rating)
        for term, rating in zip(
            table["independent_variable"], table["dependent_variable"], strict=True
        )
    ]
    return table


with Job(snakemake) as job:
    number = snakemake.wildcards.number
    job.write_table(both_studies(number, anova_cells))
    if number in ADDED:
        job.write_beside(
            both_studies(number, supported_cells),
            "supported",
            {"df": 0, "F": 3, "p_value": 3, "omega_squared": 3},
        )
