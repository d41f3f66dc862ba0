"""Numbers of section 5.4 that stand in its text only."""

import pandas as pd
from job import Job
from lajewska2025_ch5 import GROUPS, PER_PASSAGE, marked_by, marked_texts, paths

from everycell.collections.snippets import read_annotations
from everycell.dialogue.spans import mean_jaccard, reference_similarity

with Job(snakemake) as job:
    files = snakemake.input
    found = read_annotations(paths(files.dataset), per_text=PER_PASSAGE)
    texts = marked_texts(found)
    experts = marked_by(files.paragraph_expert, GROUPS["paragraph_expert"][2])
    same = {name: texts[name] for name in experts}
    similarity = [reference_similarity(same[name], experts[name]).f1 for name in experts]
    nothing = pd.Series([int((~people.any(axis=1)).sum()) for people in texts.values()])
    topics, whole = "two topics", "data set"
    rows = [
        (topics, "J", mean_jaccard(same)),
        (topics, "J_2", mean_jaccard(same, 2)),
        (topics, "F1_mean", sum(similarity) / len(similarity)),
        (whole, "queries", found["turn_id"].nunique()),
        (whole, "pairs", len(texts)),
        (whole, "pairs_per_batch", len(texts) / len(paths(files.dataset))),
        (whole, "no_snippet_by_three", int((nothing == 3).sum())),
        (whole, "no_snippet_by_two", int((nothing == 2).sum())),
    ]
    job.write_table(pd.DataFrame(rows, columns=["part", "metric", "value"]))
    agreement = [(whole, "J", mean_jaccard(texts)), (whole, "J_2", mean_jaccard(texts, 2))]
    job.write_beside(
        pd.DataFrame(agreement, columns=["part", "metric", "value"]), "whole", {"J": 3, "J_2": 3}
    )
