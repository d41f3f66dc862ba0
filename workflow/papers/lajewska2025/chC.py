"""Appendix C of lajewska2025: votes of three pilots for two pairs of responses."""

from __future__ import annotations

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.statistics.anova import anova_cells
from everycell.statistics.effect_size import EFFECT_SCALES


def votes(job: ResultJob) -> None:
    """Table C.2: one-way ANOVA of the votes for two responses, from the published vote counts.

    A vote scores 1 for the response that gets it and 0 for the other, so both responses have one
    score per vote.
    """
    published = job.input_cells("lajewska2025/table_C_2")
    scale = EFFECT_SCALES[job.params.scale]
    rows = []
    keys = ["row", "response_pair_variant"]
    for key, group in published.groupby(keys, sort=False):
        counts = group.set_index("metric")["value"].astype(int)
        for question in ("Diversity", "Specificity"):
            first, second = counts[f"{question} votes R1"], counts[f"{question} votes R2"]
            scores = pd.DataFrame(
                {
                    "score": [1] * first + [0] * second + [1] * second + [0] * first,
                    "response": ["R1"] * (first + second) + ["R2"] * (first + second),
                }
            )
            cells = anova_cells(scores, ["score"], ["response"], scale)
            values = cells.set_index("metric")["value"]
            for metric in ("p_value", "effect_size"):
                rows.append((*key, f"ANOVA {question} {metric}", values[metric]))
    job.write_table(pd.DataFrame(rows, columns=[*keys, "metric", "value"]))
