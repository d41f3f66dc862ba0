"""Natural Questions of chapter 5 of heuss2025, with retrieved documents that have the answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from everycell.jobs.job import Job
from everycell.rag.answers import normalise_as_squad
from everycell.rag.prompts import named_draws
from everycell.trec.runs import read_run


class RetrievedQuestion(NamedTuple):
    """A question with its retrieved documents."""

    text: str
    answer: str
    documents: tuple[str, ...]
    relevant: frozenset[str]


def selected_questions(job: Job, count: int) -> list[RetrievedQuestion]:
    """So many questions of the inputs of a job."""
    files = job.input
    return select_questions(
        pd.read_parquet(files.questions),
        pd.read_parquet(files.relevant),
        pd.read_parquet(files.passages).set_index("document_id")["text"].to_dict(),
        read_run(Path(files.run)),
        depth=job.params.depth,
        count=count,
        seed=job.params.seed,
    )


def select_questions(
    questions: pd.DataFrame,
    relevant: pd.DataFrame,
    passages: Mapping[str, str],
    run: pd.DataFrame,
    *,
    depth: int,
    count: int,
    seed: int,
) -> list[RetrievedQuestion]:
    """Questions for which a relevant top document contains a correct answer."""
    ordered = run.sort_values(["score", "document"], ascending=[False, True], kind="stable")
    lists = ordered.groupby("query")["document"].agg(lambda names: tuple(names[:depth])).to_dict()
    relevant_by_query = relevant.groupby("query")["document"].agg(frozenset).to_dict()
    rows = questions.set_index("query")
    ids = sorted(set(lists) & set(relevant_by_query) & set(rows.index))
    selected, used_texts = [], set()
    for index in named_draws(f"{seed}\tasked questions").permutation(len(ids)):
        name = ids[index]
        texts = tuple(passages[document] for document in lists[name])
        relevant_texts = frozenset(passages[d] for d in lists[name] if d in relevant_by_query[name])
        answer = next(
            (
                candidate
                for candidate in rows.at[name, "answers"]
                if any(_contains_answer(text, candidate) for text in sorted(relevant_texts))
            ),
            None,
        )
        text = rows.at[name, "text"]
        if answer is None or len(texts) < depth or text in used_texts:
            continue
        used_texts.add(text)
        selected.append(RetrievedQuestion(text, answer, texts, relevant_texts))
        if len(selected) == count:
            break
    return selected


def _contains_answer(text: str, answer: str) -> bool:
    words = normalise_as_squad(answer)
    return bool(words) and f" {words} " in f" {normalise_as_squad(text)} "
