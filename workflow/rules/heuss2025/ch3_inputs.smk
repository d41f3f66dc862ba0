# Names of the rules of heuss2025, chapter 3.
from everycell.studies.heuss2025.ch3.inputs import RANKERS as UNCERTAIN_RANKERS

UNCERTAIN = SETTINGS.uncertain_ranking

#: What the methods that re-rank are told.
UNCERTAIN_METHODS = {
    "protected_from": UNCERTAIN.protected_from,
    "constrained": UNCERTAIN.constrained,
    "significance": UNCERTAIN.significance,
}


def of_rankers(kind):
    """A file of each ranker: scores or measures."""
    return [
        f"work/heuss2025/ch3/{ranker}.{kind}.parquet" for ranker in UNCERTAIN_RANKERS
    ]
