"""Tables 7.4, 7.5 and 7.6: ANOVA of the ratings of responses and of explanations."""

from pathlib import Path

import pandas as pd

from everycell.collections.user_studies import (
    EXPLANATION_RATINGS,
    RESPONSE_RATINGS,
    TRANSPARENCY_FACTORS,
    read_transparency,
)
from everycell.engine.result_job import ResultJob
from everycell.statistics.anova_frames import TIMES, anova_cells
from everycell.statistics.effect_size import EFFECT_SCALES

#: Factors that the tables print again for the conditions with explanations only.
WITH_EXPLANATION = ("Explanation Quality", "Presentation Mode")
#: Names that Tables 7.5 and 7.6 print in another way than Table 7.4.
PRINTED = {
    "5": {
        "Conv. Agent Fam.": "Conv. Agent Familiarity",
        "Search w/ Agent Freq.": "Search with Agent Freq.",
    },
    "6": {"Interest In Topic": "Interest in Topic"},
}


def one_way(ratings: pd.DataFrame, responses: list[str], scale) -> pd.DataFrame:
    """Cells of each factor over all conditions, then over those with explanations."""
    explained = ratings[ratings["Explanation Quality"] != "None"]
    parts = [
        anova_cells(rows, responses, [factor], scale).assign(row=factor, conditions=conditions)
        for conditions, rows, factors in (
            ("EC1-EC10", ratings, TRANSPARENCY_FACTORS),
            ("EC1-EC8", explained, WITH_EXPLANATION),
        )
        for factor in factors
    ]
    keys = ["row", "conditions", "dependent_variable", "metric", "value"]
    return pd.concat(parts, ignore_index=True)[keys]


def interactions(ratings: pd.DataFrame, scale) -> pd.DataFrame:
    """Cells of the interaction of each factor with the query, and of three with familiarity."""
    explanation = {label: f"Explanation: {label}" for label in EXPLANATION_RATINGS}
    ratings = ratings.rename(columns=explanation)
    responses = ["Usefulness", "Satisfaction", *explanation.values()]
    designed = ("Response Quality", "Explanation Quality", "Presentation Mode")
    pairs = [(factor, "Query") for factor in TRANSPARENCY_FACTORS if factor != "Query"]
    pairs += [(factor, "Topic Familiarity") for factor in designed]
    parts = []
    for factor, other in pairs:
        cells = anova_cells(ratings, responses, [factor, other], scale)
        cells = cells[cells["independent_variable"] == f"{factor}{TIMES}{other}"]
        parts.append(cells.assign(row=factor, interaction_with=other))
    keys = ["row", "interaction_with", "dependent_variable", "metric", "value"]
    return pd.concat(parts, ignore_index=True)[keys]


with ResultJob(snakemake) as job:
    number = snakemake.wildcards.number
    scale = EFFECT_SCALES[snakemake.params.scale]
    ratings = read_transparency(Path(snakemake.input.ratings))
    if number == "6":
        table = interactions(ratings, scale)
    else:
        responses = RESPONSE_RATINGS if number == "4" else EXPLANATION_RATINGS
        table = one_way(ratings, list(responses), scale)
    table["row"] = table["row"].replace(PRINTED.get(number, {}))
    job.write_table(table)
