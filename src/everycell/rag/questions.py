"""Questions with exactly one gold document among the documents of the prompt."""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple

import pandas as pd

from everycell.rag.draws import named_draws
from everycell.trec.runs import trec_order

GoldPosition = Literal["retrieved", "random"]
#: Reason for excluding a question -> explanation.
FAULTS = {
    "no gold": "no relevant document is known",
    "several gold": "more than one relevant document is known",
    "not retrieved": "the relevant document is not among the top k",
    "too few documents": "fewer than k were retrieved",
}


class Question(NamedTuple):
    """A question with the documents of its prompt; `gold` is a position from 1."""

    id: str
    documents: tuple[str, ...]
    gold: int


def pick_questions(
    run: pd.DataFrame,
    relevant: pd.DataFrame,
    *,
    k: int,
    gold_position: GoldPosition = "retrieved",
    seed: int = 0,
) -> tuple[list[Question], Counter[str]]:
    """Questions with one relevant document among the top k, and counts of excluded ones."""
    if k < 1:
        raise ValueError(f"k is {k}; a prompt has at least one document.")
    if gold_position not in ("retrieved", "random"):
        raise ValueError(f"gold_position is {gold_position!r}; expected 'retrieved' or 'random'.")
    lists = trec_order(run).groupby("query")["document"].agg(list)
    relevant_by_query = relevant.groupby("query")["document"].agg(set)
    picked, faults = [], Counter[str]()
    for query in sorted({*lists.index, *relevant_by_query.index}):
        gold, ranked = relevant_by_query.get(query, set()), lists.get(query, [])
        if len(gold) != 1:
            faults["several gold" if gold else "no gold"] += 1
            continue
        (answer,) = gold
        distractors = [document for document in ranked if document != answer]
        if gold_position == "random":
            position = int(named_draws(f"{seed}\t{query}").integers(k))
            documents = distractors[: k - 1]
            documents.insert(position, answer)
        else:
            documents = ranked[:k]
        if len(documents) < k:
            faults["too few documents"] += 1
        elif answer not in documents:
            faults["not retrieved"] += 1
        else:
            picked.append(Question(str(query), tuple(documents), documents.index(answer) + 1))
    return picked, faults
