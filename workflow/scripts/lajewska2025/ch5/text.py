"""Numbers that only the text of section 5.4 states, and the numbers compared with them."""

import pandas as pd

from everycell.collections.snippets import check_same_texts, read_annotations
from everycell.dialogue.spans import mean_jaccard, reference_similarity
from everycell.jobs.result_job import ResultJob
from papers.lajewska2025.annotations import (
    GROUPS,
    mark_texts,
    paths,
    read_group,
)

WORKERS = ("paragraph_regular", "paragraph_master", "paragraph_prolific")

with ResultJob(snakemake) as job:
    files = snakemake.input
    all_annotations = read_annotations(paths(files.dataset))
    texts = mark_texts(all_annotations)
    of_experts = read_group(files.paragraph_expert, "paragraph_expert")
    experts = mark_texts(of_experts)

    def f1(annotations: pd.DataFrame, group: str | None = None) -> float:
        """Mean F1 of annotations of the experts' texts, against the experts."""
        check_same_texts(of_experts, annotations)
        workers = mark_texts(annotations, group)
        return sum(reference_similarity(workers[text], experts[text]).f1 for text in experts) / len(
            experts
        )

    on_expert_texts = all_annotations[
        pd.MultiIndex.from_frame(all_annotations[["turn_id", "text_id"]]).isin(experts)
    ]
    expert_texts = {name: texts[name] for name in experts}
    without_snippet = pd.Series([int((~people.any(axis=1)).sum()) for people in texts.values()])
    topics, data_set = "two topics", "data set"
    rows = [
        (topics, "J", mean_jaccard(expert_texts)),
        (topics, "J_2", mean_jaccard(expert_texts, 2)),
        (topics, "F1_mean", f1(on_expert_texts)),
        (data_set, "queries", all_annotations["turn_id"].nunique()),
        (data_set, "pairs", len(texts)),
        (data_set, "pairs_per_batch", len(texts) / len(paths(files.dataset))),
        (data_set, "workers", all_annotations["worker"].nunique()),
        (data_set, "no_snippet_by_three", int((without_snippet == 3).sum())),
        (data_set, "no_snippet_by_two", int((without_snippet == 2).sum())),
        ("Expert", "J", mean_jaccard(experts)),
        ("Expert", "J_2", mean_jaccard(experts, 2)),
        *((GROUPS[key][1], "F1_mean", f1(read_group(files[key], key), key)) for key in WORKERS),
    ]
    job.write_table(pd.DataFrame(rows, columns=["part", "metric", "value"]))
    agreement = [(data_set, "J", mean_jaccard(texts)), (data_set, "J_2", mean_jaccard(texts, 2))]
    job.write_supplement(
        pd.DataFrame(agreement, columns=["part", "metric", "value"]), "whole", {"J": 3, "J_2": 3}
    )
