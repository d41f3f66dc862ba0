"""Table 5.3: how close each group comes to the experts, on passages and on sentences.

The experts marked passages, which Punkt cuts into sentences. The print takes a worker's sentence by
its number, and compares positions as they stand. In the workers' copies of the first topic quotes
and letters that are not ASCII are missing, so that positions shift.
"""

from collections.abc import Iterable

import pandas as pd

from everycell.collections.snippets import check_same_texts
from everycell.dialogue.spans import (
    AGGREGATIONS,
    BoolArray,
    align,
    clip,
    marked,
    reference_similarity,
)
from everycell.engine.result_job import ResultJob
from everycell.studies.lajewska2025.ch5.annotations import GROUPS, annotations_of, marked_texts
from everycell.text.sentences import sentence_spans

#: How a worker's sentence is found in the experts' passage; the first is that of the print.
READINGS = {
    "ascii": "number of the sentence, straight quotes end one",
    "curly": "number of the sentence, curly quotes too",
    "letters": "letters and digits of the sentence",
}


def sentence_pairs(sentences: pd.DataFrame, passages: pd.DataFrame, reading: str):
    """What workers and experts marked in each sentence; without those that Punkt does not find."""
    of_passage = {name: rows for name, rows in passages.groupby(["turn_id", "text_id"])}
    for (turn, name), rows in sentences.groupby(["turn_id", "text_id"], sort=False):
        experts = of_passage[turn, rows["passage_id"].iloc[0]]
        sentence, passage = rows["text"].iloc[0], experts["text"].iloc[0]
        if reading == "letters":
            here, there = align(sentence, passage)
            workers = marked(rows["spans"].tolist(), len(sentence))
            yield workers[:, here], marked(experts["spans"].tolist(), len(passage))[:, there]
            continue
        found = sentence_spans(passage, quotes=reading)
        number = int(name.rpartition("--")[2])
        if number < len(found):
            start, end = found[number]
            length = max(end - start, len(sentence))
            yield (
                marked(rows["spans"].tolist(), length),
                marked([clip(spans, start, end) for spans in experts["spans"]], length),
            )


def similarity(pairs: Iterable[tuple[BoolArray, BoolArray]], *keys: str) -> pd.DataFrame:
    """Means over texts of precision, recall and F1 for each aggregation, a row a number."""
    pairs = list(pairs)
    rows = [("", "texts", len(pairs))]
    for how in AGGREGATIONS:
        means = pd.DataFrame([reference_similarity(*pair, how) for pair in pairs]).mean()
        rows += [(part, how, value) for part, value in means.items()]
    found = pd.DataFrame(rows, columns=["part", "metric", "value"])
    return found.assign(row=keys[0], task_variant=keys[1], reading=keys[2])


with ResultJob(snakemake) as job:
    files = snakemake.input
    passages = annotations_of(files.paragraph_expert, "paragraph_expert")
    experts = marked_texts(passages)
    parts = []
    for group in ("paragraph_regular", "paragraph_master", "paragraph_prolific"):
        name, of_workers = GROUPS[group][1], annotations_of(files[group], group)
        check_same_texts(passages, of_workers)
        workers = marked_texts(of_workers, group)
        pairs = [(workers[text], experts[text]) for text in experts]
        parts.append(similarity(pairs, name, "Paragraph-based", "ascii"))
    for group in ("sentence_regular", "sentence_master"):
        name, sentences = GROUPS[group][1], annotations_of(files[group], group)
        parts += [
            similarity(
                sentence_pairs(sentences, passages, reading), name, "Sentence-based", reading
            )
            for reading in READINGS
        ]
    whole = pd.concat(parts, ignore_index=True)
    printed = whole[(whole["reading"] == "ascii") & (whole["metric"] != "texts")]
    keys = ["row", "task_variant", "metric", "value"]
    f1 = printed[printed["part"] == "f1"]
    job.write_table(f1.assign(metric="F1_" + f1["metric"])[keys])
    job.write_beside(
        printed.loc[printed["part"] != "f1", ["row", "task_variant", "part", "metric", "value"]],
        "parts",
        dict.fromkeys(AGGREGATIONS, 2),
    )
    of_sentences = (whole["task_variant"] == "Sentence-based") & whole["part"].isin(["f1", ""])
    readings = whole[of_sentences].assign(reading=whole["reading"].map(READINGS))
    job.write_beside(
        readings[["row", "reading", "metric", "value"]],
        "sentences",
        {"texts": 0} | dict.fromkeys(AGGREGATIONS, 3),
    )
