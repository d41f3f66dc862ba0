"""The experiment on citing after the fact, on Natural Questions, with known attributors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from everycell.rag.answers import normalise_answer
from everycell.rag.draws import named_draws
from everycell.rag.interventions import Answerer, instances, try_instance


class AskedQuestion(NamedTuple):
    """A question with the documents that were retrieved for it.

    Attributes
    ----------
    text, answer : str
    documents : tuple of str
    relevant : frozenset of str
        Those of the documents that are relevant.
    """

    text: str
    answer: str
    documents: tuple[str, ...]
    relevant: frozenset[str]


def asked_questions(
    questions: pd.DataFrame,
    relevant: pd.DataFrame,
    passages: Mapping[str, str],
    run: pd.DataFrame,
    *,
    depth: int,
    count: int,
    seed: int,
) -> list[AskedQuestion]:
    """Questions whose first documents have a relevant one with a right answer in it."""
    ordered = run.sort_values(["score", "document"], ascending=[False, True], kind="stable")
    lists = ordered.groupby("query")["document"].agg(lambda found: tuple(found[:depth])).to_dict()
    judged = relevant.groupby("query")["document"].agg(frozenset).to_dict()
    rows = questions.set_index("query_id")
    ids = sorted(set(lists) & set(judged) & set(rows.index))
    found, seen = [], set()
    for place in named_draws(f"{seed}\tasked questions").permutation(len(ids)):
        name = ids[place]
        texts = tuple(passages[document] for document in lists[name])
        there = frozenset(passages[d] for d in lists[name] if d in judged[name])
        answer = next(
            (
                each
                for each in rows.at[name, "answers"]
                if any(_has(text, each) for text in sorted(there))
            ),
            None,
        )
        text = rows.at[name, "text"]
        if answer is None or len(texts) < depth or text in seen:
            continue
        seen.add(text)
        found.append(AskedQuestion(text, answer, texts, there))
        if len(found) == count:
            break
    return found


def _has(text: str, answer: str) -> bool:
    wanted = normalise_answer(answer)
    return bool(wanted) and f" {wanted} " in f" {normalise_answer(text)} "


def trials(questions: list[AskedQuestion], ask: Answerer, *, seed: int) -> list[dict[str, object]]:
    """Ask all questions, forge documents, and ask again."""
    rows = []
    for place, question in enumerate(questions):
        first = ask(question.text, question.documents)
        spare = questions[(place + 1) % len(questions)].documents[0]
        rng = named_draws(f"{seed}\t{question.text}\tforged")
        for each in instances(question.text, question.documents, first, spare, rng):
            rows.append(try_instance(each, ask, seed=seed))
    return rows
