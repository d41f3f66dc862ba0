"""Section 4.4.4: mentions of each theme, and those with consistent ratings."""

from pathlib import Path

import pandas as pd

from everycell.collections.user_studies import read_comment_counts
from everycell.jobs.result_job import ResultJob

HIGH, LOW = (3, 4), (1, 2)
#: Theme of the text -> (theme of the file, consistent ratings: high for praise, low for criticism).
THEMES = {
    "Answerability": {
        "coherence": ("coherence/fluency/naturalness/logical/detailed", HIGH),
        "factual correctness": ("factual correctness", HIGH),
        "completeness": ("complete information", HIGH),
        "agreement": ("agreement with the answer", HIGH),
        "source given": ("presence of source", HIGH),
        "credible source": ("source credibility", HIGH),
        "source missing": ("lack of source", LOW),
        "source invalid": ("invalid source", LOW),
        "information missing": ("missing information/incomplete information", LOW),
        "usefulness": ("usefulness", HIGH),
        "subjectivity": ("bias/subjectivity", LOW),
    },
    "Viewpoints": {
        "coherence": ("coherence/fluency/naturalness/logical/detailed", HIGH),
        "diversity": ("diversity/multiple viewpoints", HIGH),
        "balance": ("balance of the answer", HIGH),
        "no bias": ("unbiased", HIGH),
        "completeness": ("complete information", HIGH),
        "agreement": ("agreement with the answer", HIGH),
        "bias": ("biased", LOW),
        "lack of diversity": ("single viewpoint/lack of diversity", LOW),
        "lack of balance": ("imbalanced answer", LOW),
        "source missing": ("no source", LOW),
    },
}

with ResultJob(snakemake) as job:
    rows = []
    for study, path in (
        ("Answerability", snakemake.input.answerability),
        ("Viewpoints", snakemake.input.viewpoints),
    ):
        counts = read_comment_counts(Path(path))
        for theme, (column, fitting) in THEMES[study].items():
            fits = counts["satisfaction"].isin(fitting)
            rows.append((study, theme, "satisfied_side", counts.loc[fits, column].sum()))
            rows.append((study, theme, "mentions", counts[column].sum()))
    job.write_table(pd.DataFrame(rows, columns=["study", "theme", "metric", "value"]))
