"""Measures that the papers introduce."""

from everycell.metrics.cells import (
    annotated_entities,
    fairness_cells,
    read_targets,
    relevance_cells,
)
from everycell.metrics.group_fairness import (
    DIVERGENCES,
    READING_BUDGET,
    AttributeSet,
    Gfrc,
    achieved_distributions,
    combine,
    distribution_similarity,
    gfrc,
    group_fairness,
    jensen_shannon,
    nmd,
    position_weight,
    relevance,
    rnod,
    turn_similarities,
    without_duplicates,
)

__all__ = [
    "AttributeSet",
    "DIVERGENCES",
    "Gfrc",
    "READING_BUDGET",
    "achieved_distributions",
    "annotated_entities",
    "combine",
    "distribution_similarity",
    "fairness_cells",
    "gfrc",
    "group_fairness",
    "jensen_shannon",
    "nmd",
    "position_weight",
    "read_targets",
    "relevance",
    "relevance_cells",
    "rnod",
    "turn_similarities",
    "without_duplicates",
]
