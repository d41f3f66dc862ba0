"""Questions with one gold document among those that a prompt shows."""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple

import pandas as pd

from everycell.rag.draws import named_draws
from everycell.trec.runs import trec_order

Place = Literal["retrieved", "random"]
#: Reason for excluding a question -> explanation.
FAULTS = {
    "no gold": "no relevant document is known",
    "several gold": "more than one relevant document is known",
    "not retrieved": "the relevant document is not among the first k",
    "too few documents": "fewer than k were retrieved",
}


class Question(NamedTuple):
    """A question as prompts show it."""

    id: str
    documents: tuple[str, ...]
    gold: int


def pick_questions(
    run: pd.DataFrame,
    relevant: pd.DataFrame,
    *,
    k: int,
    gold_position: Place = "retrieved",
    seed: int = 0,
) -> tuple[list[Question], Counter[str]]:
    """Questions whose first k documents hold exactly one relevant one."""
    if k < 1:
        raise ValueError(f"k is {k}; a prompt has 1 document or more.")
    if gold_position not in ("retrieved", "random"):
        raise ValueError(f"gold_position is {gold_position!r}; give 'retrieved' or 'random'.")
    lists = trec_order(run).groupby("query")["document"].agg(list)
    right = relevant.groupby("query")["document"].agg(set)
    picked, faults = [], Counter[str]()
    for query in sorted({*lists.index, *right.index}):
        gold, documents_of = right.get(query, set()), lists.get(query, [])
        if len(gold) != 1:
            faults["several gold" if gold else "no gold"] += 1
            continue
        (answer,) = gold
        distractors = [document for document in documents_of if document != answer]
        if gold_position == "random":
            position = int(named_draws(f"{seed}\t{query}").integers(k))
            nearest = distractors[: k - 1]
            nearest.insert(position, answer)
        else:
            nearest = documents_of[:k]
        if len(nearest) < k:
            faults["too few documents"] += 1
        elif answer not in nearest:
            faults["not retrieved"] += 1
        else:
            picked.append(Question(str(query), tuple(nearest), nearest.index(answer) + 1))
    return picked, faults
