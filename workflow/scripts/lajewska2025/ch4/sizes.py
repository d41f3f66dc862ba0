"""Table 4.7: sizes of the studies, counted in the ratings.

The files contain no ids of workers or HITs. A worker rates all pairs of a HIT, and each pair
is in a fixed number of HITs (section 4.2), so the numbers of workers and HITs follow from the
counts.
"""

from pathlib import Path

import pandas as pd

from everycell.base.errors import DataError
from everycell.collections.user_studies import ANSWERABILITY, VIEWPOINTS, read_response_limitations
from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch4.ratings import exact_quotient


def common_count(counts: pd.Series, what: str) -> int:
    """Return the common value of counts, which must be equal."""
    if counts.nunique() != 1:
        raise DataError(
            column=what, fault=f"is {counts.min()} to {counts.max()}", expected="the same for all"
        )
    return int(counts.iloc[0])


with ResultJob(snakemake) as job:
    params = snakemake.params
    first = read_response_limitations(Path(snakemake.input.first_run), ANSWERABILITY)
    both = read_response_limitations(Path(snakemake.input.both_runs), ANSWERABILITY)
    viewpoints = read_response_limitations(Path(snakemake.input.viewpoints), VIEWPOINTS)

    pair = ["Query", "Condition"]
    first_per_pair = common_count(first.groupby(pair).size(), "Ratings per pair in the first run")
    both_per_pair = common_count(both.groupby(pair).size(), "Ratings per pair in both runs")
    runs = {
        ("Answerability", "first_run"): (first, first_per_pair),
        ("Viewpoints", "first_run"): (
            viewpoints,
            common_count(
                viewpoints.groupby(pair).size(), "Ratings per pair in the viewpoints study"
            ),
        ),
    }
    rows = []
    for (study, run), (ratings, per_pair) in runs.items():
        workers_per_hit = exact_quotient(per_pair, params.hits_per_pair, "ratings of a pair")
        workers = exact_quotient(len(ratings), params.pairs_per_hit, "ratings")
        rows += [
            ("#queries per user study", study, run, ratings["Query"].nunique()),
            ("#experimental cond. (#resp. per query)", study, run, ratings["Condition"].nunique()),
            ("#crowd workers per HIT", study, run, workers_per_hit),
            ("#different HITs", study, run, exact_quotient(workers, workers_per_hit, "workers")),
            ("#crowd workers per query-response", study, run, per_pair),
            ("#query-response pairs annotations", study, run, len(ratings)),
        ]
    additional = both_per_pair - first_per_pair
    rows += [
        ("#crowd workers per HIT", "Answerability", "second_run_additional",
         exact_quotient(additional, params.hits_per_pair, "ratings of a pair")),
        ("#crowd workers per query-response", "Answerability", "second_run_additional",
         additional),
        ("#query-response pairs annotations", "Answerability", "second_run_additional",
         len(both) - len(first)),
    ]  # fmt: skip
    order = list(dict.fromkeys(row[0] for row in rows))
    rows.sort(key=lambda row: order.index(row[0]))
    job.write_table(pd.DataFrame(rows, columns=["row", "study", "metric", "value"]))
