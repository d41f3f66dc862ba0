"""Queries of a conversation, from utterances, their context and a rewriter.

===================  ==================================================  =========================
function             query of turn i                                     lajewska2025
===================  ==================================================  =========================
`trimmed_context`    h_1 ... h_{i-1} trim(r_{i-1}) q_i                   L725, L743
`full_context`       q_1 ... q_{i-3} r_{i-3} ... q_{i-1} r_{i-1} q_i     L721, the organisers'
`with_history`       the first of both for all turns, h = q              (a query without a model)
`rewrite`            what a rewriter makes of either, h = its own words  L725, L721
===================  ==================================================  =========================

q is an utterance, r its canonical answer, h the representation of an earlier turn. With a limit,
words of the answer are cut first, from its end; then whole earlier turns, the oldest first. The
utterance itself is never cut: the organisers' context has no limit, and a model that truncates it
at its own limit loses exactly what it should rewrite (L723).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import pandas as pd

Count = Callable[[str], int]
Form = Literal["trimmed", "full"]

#: Earlier turns whose answers are in the organisers' context.
ANSWERS = 3


def count_words(text: str) -> int:
    """Number of words, separated by blanks."""
    return len(text.split())


def trimmed_context(
    history: Sequence[str],
    answer: str,
    utterance: str,
    *,
    length: int | None = None,
    count: Count = count_words,
    separator: str = " ",
) -> str:
    """Earlier turns, as much of the last answer as fits, and the utterance."""
    if not utterance.strip():
        raise ValueError("The utterance is empty: a turn says something, so leave the turn out.")
    parts = [*history, utterance]
    if length is None:
        return separator.join([*history, answer, utterance] if answer else parts)
    if count(utterance) > length:
        raise ValueError(
            f"The utterance {utterance[:40]!r} has {count(utterance)} units and the limit is "
            f"{length}: raise the limit, since an utterance is not cut."
        )
    while count(separator.join(parts)) > length:
        parts.pop(0)
    words = answer.split() if len(parts) > len(history) else []

    def joined(number: int) -> str:
        texts = [" ".join(words[:number])] if number else []
        return separator.join([*parts[:-1], *texts, utterance])

    fitting = bisect_right(
        range(1, len(words) + 1), length, key=lambda number: count(joined(number))
    )
    return joined(fitting)


def full_context(
    utterances: Sequence[str], answers: Sequence[str], utterance: str, *, separator: str = " "
) -> str:
    """All earlier utterances, with the answers to the last three, and the utterance; no limit."""
    if not utterance.strip():
        raise ValueError("The utterance is empty: a turn says something, so leave the turn out.")
    if len(utterances) != len(answers):
        raise ValueError(
            f"There are {len(utterances)} earlier utterances and {len(answers)} answers: give one "
            "answer each, an empty one where there is none."
        )
    first = len(utterances) - ANSWERS
    parts = [
        part
        for position, pair in enumerate(zip(utterances, answers, strict=True))
        for part in (pair if position >= first else pair[:1])
        if part
    ]
    return separator.join([*parts, utterance])


def with_history(
    turns: pd.DataFrame,
    *,
    answers: Mapping[str, str] | None = None,
    length: int | None = None,
) -> pd.Series:
    """Each turn after all earlier utterances of its conversation, as a query without a model."""
    return rewrite(
        turns,
        lambda contexts: contexts,
        answers=answers,
        length=length,
        feed_back=False,
    )


def rewrite(
    turns: pd.DataFrame,
    rewriter: Callable[[list[str]], Sequence[str]],
    *,
    form: Form = "trimmed",
    answers: Mapping[str, str] | None = None,
    length: int | None = None,
    count: Count = count_words,
    separator: str = " ",
    feed_back: bool = True,
) -> pd.Series:
    """Rewrite the turns of conversations one after the other.

    The rewriter gets all first turns at once, then all second ones, and so on: its rewrites of
    earlier turns are in the context of later ones.
    """
    if form not in ("trimmed", "full"):
        raise ValueError(f"form is {form!r}: give 'trimmed' or 'full'.")
    if form == "full" and length is not None:
        raise ValueError(f"length is {length} with the form 'full', which has no limit: drop it.")
    twice = turns["query_id"].duplicated()
    if twice.any():
        raise ValueError(
            f"The turn {turns['query_id'][twice].iloc[0]!r} is given twice: give a turn once."
        )
    answers = answers or {}
    unknown = sorted(set(answers) - set(turns["query_id"]))
    if unknown:
        raise ValueError(
            f"There is an answer to {unknown[0]!r}, which is not among the {len(turns)} turns: "
            "leave it out, or add the turn."
        )
    rewritten: dict[str, str] = {}
    positions = turns.groupby("topic", sort=False).cumcount()
    conversations = {
        topic: list(zip(part["query_id"], part["utterance"], strict=True))
        for topic, part in turns.groupby("topic", sort=False)
    }
    for depth in range(int(positions.max()) + 1 if len(turns) else 0):
        now = turns[positions == depth]
        contexts = []
        for topic, turn, utterance in zip(
            now["topic"], now["query_id"], now["utterance"], strict=True
        ):
            earlier = conversations[topic][:depth]
            utterances = [text for _, text in earlier]
            replies = [answers.get(name, "") for name, _ in earlier]
            try:
                if form == "full":
                    context = full_context(utterances, replies, utterance, separator=separator)
                else:
                    history = [rewritten[name] for name, _ in earlier] if feed_back else utterances
                    context = trimmed_context(
                        history,
                        replies[-1] if replies else "",
                        utterance,
                        length=length,
                        count=count,
                        separator=separator,
                    )
            except ValueError as error:
                raise ValueError(f"Turn {turn!r}: {error}") from None
            contexts.append(context)
        rewrites = rewriter(contexts)
        if len(rewrites) != len(contexts):
            raise ValueError(
                f"The rewriter made {len(rewrites)} rewrites of {len(contexts)} contexts: it must "
                "give one each."
            )
        rewritten.update(zip(now["query_id"], rewrites, strict=True))
        empty = [name for name in now["query_id"] if not rewritten[name].strip()]
        if empty:
            raise ValueError(
                f"The rewriter made nothing of the turn {empty[0]!r}: a query has words, so take "
                "another rewriter or leave the turn out."
            )
    return pd.Series(
        {name: rewritten[name] for name in turns["query_id"]}, name="text", dtype="str"
    ).rename_axis("query_id")
