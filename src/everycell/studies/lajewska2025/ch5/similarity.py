"""Table 5.3: similarity of the marks of workers and experts in the same texts.

The experts marked passages, which Punkt splits into sentences. The thesis identifies a worker's
sentence by its number and compares character positions directly. The workers' copies of the first
topic lack quotation marks and non-ASCII letters, so positions shift.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import pandas as pd

from everycell.dialogue.spans import (
    AGGREGATIONS,
    BoolArray,
    align,
    clip,
    mark_characters,
    reference_similarity,
)
from everycell.text.sentences import sentence_spans

Reading = Literal["ascii", "curly", "letters"]

#: How to locate a worker's sentence in the experts' passage; the thesis uses the first way.
READINGS: dict[Reading, str] = {
    "ascii": "number of the sentence, straight quotes end one",
    "curly": "number of the sentence, curly quotes too",
    "letters": "letters and digits of the sentence",
}


def sentence_pairs(
    sentences: pd.DataFrame, passages: pd.DataFrame, reading: Reading
) -> Iterator[tuple[BoolArray, BoolArray]]:
    """Marks of workers and experts in each sentence.

    Sentences whose number exceeds Punkt's count are skipped.
    """
    expert_rows = {name: rows for name, rows in passages.groupby(["turn_id", "text_id"])}
    for (turn, name), rows in sentences.groupby(["turn_id", "text_id"], sort=False):
        experts = expert_rows[turn, rows["passage_id"].iloc[0]]
        sentence, passage = rows["text"].iloc[0], experts["text"].iloc[0]
        if reading == "letters":
            sentence_positions, passage_positions = align(sentence, passage)
            workers = mark_characters(rows["spans"].tolist(), len(sentence))
            yield (
                workers[:, sentence_positions],
                mark_characters(experts["spans"].tolist(), len(passage))[:, passage_positions],
            )
            continue
        bounds = sentence_spans(passage, quotes=reading)
        number = int(name.rpartition("--")[2])
        if number < len(bounds):
            start, end = bounds[number]
            length = max(end - start, len(sentence))
            yield (
                mark_characters(rows["spans"].tolist(), length),
                mark_characters([clip(spans, start, end) for spans in experts["spans"]], length),
            )


def similarity(
    pairs: Iterable[tuple[BoolArray, BoolArray]], row: str, task_variant: str, reading: Reading
) -> pd.DataFrame:
    """Mean precision, recall and F1 over texts, per aggregation."""
    pairs = list(pairs)
    rows = [("", "texts", len(pairs))]
    for how in AGGREGATIONS:
        means = pd.DataFrame([reference_similarity(*pair, how) for pair in pairs]).mean()
        rows += [(part, how, value) for part, value in means.items()]
    table = pd.DataFrame(rows, columns=["part", "metric", "value"])
    return table.assign(row=row, task_variant=task_variant, reading=reading)
