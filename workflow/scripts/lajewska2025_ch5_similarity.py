"""Table 5.3: how close each group comes to the experts, on passages."""

import pandas as pd
from job import Job
from lajewska2025_ch5 import GROUPS, annotations_of, marked_texts

from everycell.collections.snippets import check_same_texts
from everycell.dialogue.spans import AGGREGATIONS, reference_similarity

with Job(snakemake) as job:
    of_experts = annotations_of(snakemake.input.paragraph_expert, "paragraph_expert")
    experts = marked_texts(of_experts)
    rows = []
    for group in ("paragraph_regular", "paragraph_master", "paragraph_prolific"):
        _, name, _ = GROUPS[group]
        of_workers = annotations_of(snakemake.input[group], group)
        check_same_texts(of_experts, of_workers)
        workers = marked_texts(of_workers, group)
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
