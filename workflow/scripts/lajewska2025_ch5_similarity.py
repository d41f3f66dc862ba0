"""Table 5.3: how close each group comes to the experts, on passages."""

import pandas as pd
from job import Job
from lajewska2025_ch5 import GROUPS, marked_by

from everycell.dialogue.spans import AGGREGATIONS, reference_similarity

with Job(snakemake) as job:
    experts = marked_by(snakemake.input.paragraph_expert, GROUPS["paragraph_expert"][2])
    rows = []
    for group in ("paragraph_regular", "paragraph_master", "paragraph_prolific"):
        _, name, people = GROUPS[group]
        workers = marked_by(snakemake.input[group], people)
        for how in AGGREGATIONS:
            found = pd.DataFrame(
                [reference_similarity(workers[text], experts[text], how) for text in experts]
            ).mean()
            rows += [
                (name, "Paragraph-based", part, how, found[part])
                for part in ("precision", "recall", "f1")
            ]
    whole = pd.DataFrame(rows, columns=["row", "task_variant", "part", "metric", "value"])
    f1 = whole[whole["part"] == "f1"].drop(columns="part")
    job.write_table(f1.assign(metric="F1_" + f1["metric"]))
    parts = whole[whole["part"] != "f1"]
    job.write_beside(parts, "parts", dict.fromkeys(AGGREGATIONS, 2))
