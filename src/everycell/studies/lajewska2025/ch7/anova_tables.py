"""Tables 7.4 to 7.6: what the ratings of responses and explanations depend on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from everycell.collections.user_studies import EXPLANATION_RATINGS, TRANSPARENCY_FACTORS
from everycell.statistics.anova import anova
from everycell.statistics.anova_frames import TIMES, anova_cells
from everycell.statistics.effect_size import EffectScale
from everycell.statistics.repeated_ratings import (
    cluster_means_anova,
    intraclass_correlation,
    random_intercept_p,
)

#: Factors that the tables print again for the conditions with explanations only.
WITH_EXPLANATION = ("Explanation Quality", "Presentation Mode")
#: What names a cell of Tables 7.4 and 7.5.
KEYS = ["row", "conditions", "dependent_variable", "metric"]
#: Names that Tables 7.5 and 7.6 print in another way than Table 7.4.
PRINTED = {
    "5": {
        "Conv. Agent Fam.": "Conv. Agent Familiarity",
        "Search w/ Agent Freq.": "Search with Agent Freq.",
    },
    "6": {"Interest In Topic": "Interest in Topic"},
}


def comparisons(ratings: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Conditions, their ratings and the factor of each row of Tables 7.4 and 7.5.

    Each factor over all conditions, then the two of explanations over those that have some.
    """
    explained = ratings[ratings["Explanation Quality"] != "None"]
    yield from (("EC1-EC10", ratings, factor) for factor in TRANSPARENCY_FACTORS)
    yield from (("EC1-EC8", explained, factor) for factor in WITH_EXPLANATION)


def one_way_table(
    ratings: pd.DataFrame, responses: Sequence[str], scale: EffectScale
) -> pd.DataFrame:
    """Tables 7.4 and 7.5 as the thesis computes them: one-way ANOVA over single ratings."""
    parts = [
        anova_cells(rows, responses, [factor], scale).assign(row=factor, conditions=conditions)
        for conditions, rows, factor in comparisons(ratings)
    ]
    return pd.concat(parts, ignore_index=True)[[*KEYS, "value"]]


def worker_table(ratings: pd.DataFrame, responses: Sequence[str]) -> pd.DataFrame:
    """Tables 7.4 and 7.5 with the ten ratings of a worker taken as what one person thinks.

    Each worker saw one condition and rated ten responses, and the ratings of one worker are alike.
    """
    cells: list[tuple[str, str, str, str, float]] = []
    for conditions, rows, factor in comparisons(ratings):
        workers = rows.groupby("Worker")
        of_worker = workers[factor].nunique().max() == 1
        for response in responses:
            once = workers[response].nunique().max() == 1
            values = {"p ratings": float(anova(rows, response, [factor]).loc[factor, "p"])}
            if of_worker:
                means = cluster_means_anova(rows, response, factor, "Worker")
                values["p worker means"] = float(means["p"])
            if not once:
                values["p mixed model"] = random_intercept_p(rows, response, factor, "Worker")
            values["ICC"] = intraclass_correlation(rows[response], rows["Worker"])
            cells += [(factor, conditions, response, name, p) for name, p in values.items()]
    return pd.DataFrame(cells, columns=[*KEYS, "value"])


def interactions(ratings: pd.DataFrame, scale: EffectScale) -> pd.DataFrame:
    """Table 7.6: interactions of each factor with the query, and of three with familiarity."""
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
