"""Tables 7.4 to 7.6: factors that affect ratings of responses and explanations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from everycell.collections.user_studies import EXPLANATION_RATINGS, TRANSPARENCY_FACTORS
from everycell.statistics.anova import (
    TIMES,
    anova,
    anova_cells,
    cluster_means_anova,
    intraclass_correlation,
    random_intercept_p,
)
from everycell.statistics.effect_size import EffectScale

#: Factors that the tables report again, for the conditions with explanations only.
WITH_EXPLANATION = ("Explanation Quality", "Presentation Mode")
#: Key columns of Tables 7.4 and 7.5.
KEYS = ["row", "conditions", "dependent_variable", "metric"]
#: Table 7.x -> factor -> its name there, if it differs from Table 7.4.
FACTOR_NAMES = {
    "5": {
        "Conv. Agent Fam.": "Conv. Agent Familiarity",
        "Search w/ Agent Freq.": "Search with Agent Freq.",
    },
    "6": {"Interest In Topic": "Interest in Topic"},
}


def comparisons(ratings: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """Conditions, ratings and factor of each row of Tables 7.4 and 7.5."""
    explained = ratings[ratings["Explanation Quality"] != "None"]
    yield from (("EC1-EC10", ratings, factor) for factor in TRANSPARENCY_FACTORS)
    yield from (("EC1-EC8", explained, factor) for factor in WITH_EXPLANATION)


def one_way_table(
    ratings: pd.DataFrame, responses: Sequence[str], scale: EffectScale
) -> pd.DataFrame:
    """Tables 7.4 and 7.5 as the thesis computes them: one-way ANOVA of individual ratings."""
    parts = [
        anova_cells(rows, responses, [factor], scale).assign(row=factor, conditions=conditions)
        for conditions, rows, factor in comparisons(ratings)
    ]
    return pd.concat(parts, ignore_index=True)[[*KEYS, "value"]]


def worker_table(ratings: pd.DataFrame, responses: Sequence[str]) -> pd.DataFrame:
    """Tables 7.4 and 7.5 with tests that treat the ratings of a worker as dependent.

    Each worker saw one condition and rated ten responses, so ratings of a worker are correlated.
    """
    cells: list[tuple[str, str, str, str, float]] = []
    for conditions, rows, factor in comparisons(ratings):
        workers = rows.groupby("Worker")
        constant_factor = workers[factor].nunique().max() == 1
        for response in responses:
            constant_rating = workers[response].nunique().max() == 1
            values = {"p ratings": float(anova(rows, response, [factor]).loc[factor, "p"])}
            if constant_factor:
                means = cluster_means_anova(rows, response, factor, "Worker")
                values["p worker means"] = float(means["p"])
            if not constant_rating:
                values["p mixed model"] = random_intercept_p(rows, response, factor, "Worker")
            values["ICC"] = intraclass_correlation(rows[response], rows["Worker"])
            cells += [(factor, conditions, response, name, p) for name, p in values.items()]
    return pd.DataFrame(cells, columns=[*KEYS, "value"])


def interactions(ratings: pd.DataFrame, scale: EffectScale) -> pd.DataFrame:
    """Table 7.6: interactions of all factors with the query, and of three with familiarity."""
    explanation = {label: f"Explanation: {label}" for label in EXPLANATION_RATINGS}
    ratings = ratings.rename(columns=explanation)
    responses = ["Usefulness", "Satisfaction", *explanation.values()]
    design_factors = ("Response Quality", "Explanation Quality", "Presentation Mode")
    pairs = [(factor, "Query") for factor in TRANSPARENCY_FACTORS if factor != "Query"]
    pairs += [(factor, "Topic Familiarity") for factor in design_factors]
    parts = []
    for factor, moderator in pairs:
        cells = anova_cells(ratings, responses, [factor, moderator], scale)
        cells = cells[cells["independent_variable"] == f"{factor}{TIMES}{moderator}"]
        parts.append(cells.assign(row=factor, interaction_with=moderator))
    keys = ["row", "interaction_with", "dependent_variable", "metric", "value"]
    return pd.concat(parts, ignore_index=True)[keys]
