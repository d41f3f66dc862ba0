"""Contexts for a language model, and tables of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from everycell.base.untrusted import in_quotes
from everycell.rag.cite_checks import Context, GivenAnswer, forged_instances, try_all
from everycell.rag.citing_styles import GroundedAnswer
from everycell.rag.interventions import outcomes
from everycell.rag.prompts import named_draws
from everycell.studies.heuss2025.ch5.planted_citations import answer_sizes, selection_counts
from everycell.studies.heuss2025.ch5.section_numbers import answer_numbers, reported_numbers

AskAll = Callable[[Sequence[Context]], list[GroundedAnswer]]


def contexts(
    questions: Mapping[str, str],
    passages: Mapping[str, str],
    run: pd.DataFrame,
    *,
    depth: int,
    count: int,
    seed: int,
) -> list[Context]:
    """Questions with the texts of their top documents."""
    ordered = run.sort_values(["score", "document"], ascending=[False, True], kind="stable")
    by_question: dict[str, tuple[str, ...]] = {}
    lists = ordered.groupby("query")["document"].agg(list).to_dict()
    for query in sorted(set(lists) & set(questions)):
        names = lists[query][:depth]
        unknown = [name for name in names if name not in passages]
        if unknown:
            raise ValueError(
                f"The run has the document {in_quotes(unknown[0])} for the question "
                f"{in_quotes(query)}, but it is not among the passages; add its text to "
                "passages.jsonl."
            )
        if len(names) == depth:
            by_question.setdefault(questions[query], tuple(passages[name] for name in names))
    if len(by_question) < 2:
        raise ValueError(
            f"The run has {depth} documents for {len(by_question)} of the questions, expected at "
            "least 2 such questions, because a forged document comes from another question."
        )
    pairs = list(by_question.items())
    if len(pairs) <= count:
        return pairs
    sample = named_draws(f"{seed}\tasked contexts").permutation(len(pairs))[:count]
    return [pairs[index] for index in sorted(sample)]


def repeat_with_forgeries(
    originals: Sequence[Context], ask_all: AskAll, *, seed: int, longest: int | None = None
) -> dict[str, pd.DataFrame]:
    """Ask all questions, forge documents, ask again, and count the outcomes."""
    first = ask_all(originals)
    answers = [grounded.answer for grounded in first]
    given_answers = [
        GivenAnswer(*context, answer) for context, answer in zip(originals, answers, strict=True)
    ]
    forged = forged_instances(given_answers, seed=seed, longest=longest)
    rows = try_all(
        forged, lambda batch: [grounded.answer for grounded in ask_all(batch)], seed=seed
    )
    results = outcomes(rows)
    return {
        "selection": selection_counts(answers),
        "sizes": answer_sizes(answers, [grounded.sentences for grounded in first]),
        "outcomes": results,
        "numbers": reported_numbers(answers, results),
        "answers": answer_numbers(first),
    }
