"""Table 5.3: similarity of each group to the experts, on passages and on sentences."""

import pandas as pd

from everycell.collections.snippets import check_same_texts
from everycell.dialogue.spans import AGGREGATIONS
from everycell.jobs.result_job import ResultJob
from everycell.studies.lajewska2025.ch5.similarity import READINGS, sentence_pairs, similarity
from papers.lajewska2025.annotations import GROUPS, mark_texts, read_group

with ResultJob(snakemake) as job:
    files = snakemake.input
    passages = read_group(files.paragraph_expert, "paragraph_expert")
    experts = mark_texts(passages)
    parts = []
    for group in ("paragraph_regular", "paragraph_master", "paragraph_prolific"):
        name, of_workers = GROUPS[group][1], read_group(files[group], group)
        check_same_texts(passages, of_workers)
        workers = mark_texts(of_workers, group)
        pairs = [(workers[text], experts[text]) for text in experts]
        parts.append(similarity(pairs, name, "Paragraph-based", "ascii"))
    for group in ("sentence_regular", "sentence_master"):
        name, sentences = GROUPS[group][1], read_group(files[group], group)
        parts += [
            similarity(
                sentence_pairs(sentences, passages, reading), name, "Sentence-based", reading
            )
            for reading in READINGS
        ]
    results = pd.concat(parts, ignore_index=True)
    published = results[(results["reading"] == "ascii") & (results["metric"] != "texts")]
    keys = ["row", "task_variant", "metric", "value"]
    f1 = published[published["part"] == "f1"]
    job.write_table(f1.assign(metric="F1_" + f1["metric"])[keys])
    of_sentences = (results["task_variant"] == "Sentence-based") & results["part"].isin(["f1", ""])
    readings = results[of_sentences].assign(reading=results["reading"].map(READINGS))
    job.write_supplement(
        readings[["row", "reading", "metric", "value"]],
        "sentences",
        {"texts": 0} | dict.fromkeys(AGGREGATIONS, 3),
    )
    means = f1[(f1["task_variant"] == "Paragraph-based") & (f1["metric"] == "mean")]
    mean_of = means.set_index("row")["value"]
    repeated = [
        (row, "ROUGE F1", mean_of[group]) for row, group in snakemake.params.workers.items()
    ]
    job.write_table(
        pd.DataFrame(repeated, columns=["row", "metric", "value"]), artefact="table_C_3"
    )
