"""Table 3.1: ratings of the users' utterances; rules that make one of several; how raters agree."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.collections.user_satisfaction import (
    FILES,
    RATINGS,
    RULES,
    SATISFIED_FROM,
    read_dialogues,
)
from everycell.engine.result_job import ResultJob
from everycell.statistics.agreement import cohens_kappa, fleiss_kappa, percent_agreement

BEHIND_3_2 = next(iter(RULES))
#: Raters that every dialogue has.
RATERS = 3


def counted(ratings):
    """Rows of the table: each rating, then the two classes."""
    counts = Counter(ratings)
    rows = {f"rating {rating}": counts[rating] for rating in RATINGS}
    rows["Dissatisfaction"] = sum(counts[rating] for rating in RATINGS if rating < SATISFIED_FROM)
    rows["Satisfaction"] = sum(counts.values()) - rows["Dissatisfaction"]
    return rows


with ResultJob(snakemake) as job:
    table, rules, raters = [], [], []
    printed = job.input_cells("abolghasemi2026/table_3_1").astype({"value": int})
    for benchmark in FILES:
        # The counts take in the ratings of whole dialogues: so their sums are the printed ones.
        ratings = [
            given
            for dialogue in read_dialogues(Path(snakemake.input[f"{benchmark}_ratings"]))
            for given in (*filter(None, dialogue.ratings), dialogue.overall)
        ]
        stated = printed[printed["dataset"] == benchmark].set_index("row")["value"]
        found = {name: counted(map(rule, ratings)) for name, rule in RULES.items()}
        table += [(row, benchmark, "count", count) for row, count in found[BEHIND_3_2].items()]
        for name, counts in found.items():
            rules += [(benchmark, name, row, count) for row, count in counts.items()]
            rows = [f"rating {rating}" for rating in RATINGS]
            away = sum(abs(counts[row] - stated[row]) for row in rows)
            rules.append((benchmark, name, "away from print", away))
        rules += [(benchmark, "as printed", row, count) for row, count in stated.items()]
        first = np.array([given[:RATERS] for given in ratings])
        for scale, labels in (("five ratings", first), ("binary", first >= SATISFIED_FROM)):
            values = {
                "ratings": len(labels),
                "percent agreement": percent_agreement(labels[:, 0], labels[:, 1]),
                "Cohen kappa": cohens_kappa(labels[:, 0], labels[:, 1]),
                "Fleiss kappa": fleiss_kappa(labels),
            }
            raters += [(benchmark, scale, metric, value) for metric, value in values.items()]
    job.write_table(pd.DataFrame(table, columns=["row", "dataset", "metric", "value"]))
    beside = pd.DataFrame(rules, columns=["dataset", "rule", "metric", "value"])
    job.write_beside(beside, "rules", dict.fromkeys(beside["metric"], 0))
    job.write_beside(
        pd.DataFrame(raters, columns=["dataset", "scale", "metric", "value"]),
        "raters",
        {"ratings": 0, "percent agreement": 1, "Cohen kappa": 2, "Fleiss kappa": 2},
    )
