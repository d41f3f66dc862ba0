"""Queries for the turns of a conversation, with or without a rewriter.

===================  ==================================================  =========================
function             query of turn i                                     lajewska2025
===================  ==================================================  =========================
`trimmed_context`    h_1 ... h_{i-1} trim(r_{i-1}) q_i                   L725, L743
`full_context`       q_1 ... q_{i-3} r_{i-3} ... q_{i-1} r_{i-1} q_i     L721, the organisers'
`prepend_history`    the trimmed context with h = q                      (no model)
`rewrite`            rewrite of either context, h = earlier rewrite      L725, L721
===================  ==================================================  =========================

q is an utterance, r its canonical answer, and h the representation of an earlier turn. If a context
exceeds the limit, the end of the answer is cut first, then complete earlier turns, oldest first.
The utterance is never cut. The organisers' context has no limit: a model that truncates it at its
own limit loses the utterance that it should rewrite (L723).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import pandas as pd

Count = Callable[[str], int]
Form = Literal["trimmed", "full"]

#: Number of preceding turns whose answers the organisers' context includes.
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
        raise ValueError("The utterance is empty; remove the turn.")
    parts = [*history, utterance]
    if length is None:
        return separator.join([*history, answer, utterance] if answer else parts)
    if count(utterance) > length:
        raise ValueError(
            f"The utterance {utterance[:40]!r} has {count(utterance)} units and the limit is "
            f"{length}; raise the limit, since utterances are never cut."
        )
    while count(separator.join(parts)) > length:
        parts.pop(0)
    words = answer.split() if len(parts) > len(history) else []

    def join_words(number: int) -> str:
        texts = [" ".join(words[:number])] if number else []
        return separator.join([*parts[:-1], *texts, utterance])

    fitting = bisect_right(
        range(1, len(words) + 1), length, key=lambda number: count(join_words(number))
    )
    return join_words(fitting)


def full_context(
    utterances: Sequence[str], answers: Sequence[str], utterance: str, *, separator: str = " "
) -> str:
    """All earlier utterances, the answers to the last three, and the utterance; no limit."""
    if not utterance.strip():
        raise ValueError("The utterance is empty; remove the turn.")
    if len(utterances) != len(answers):
        raise ValueError(
            f"There are {len(utterances)} earlier utterances and {len(answers)} answers; give one "
            "answer per utterance, empty if there is none."
        )
    first = len(utterances) - ANSWERS
    parts = [
        part
        for position, pair in enumerate(zip(utterances, answers, strict=True))
        for part in (pair if position >= first else pair[:1])
        if part
    ]
    return separator.join([*parts, utterance])


def prepend_history(
    turns: pd.DataFrame,
    *,
    answers: Mapping[str, str] | None = None,
    length: int | None = None,
) -> pd.Series:
    """Prepend all earlier utterances of the conversation to each turn; needs no model."""
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
    """Rewrite the turns of conversations in order.

    The rewriter gets all first turns at once, then all second turns, and so on, so that the context
    of a turn can include the rewrites of earlier turns.
    """
    if form not in ("trimmed", "full"):
        raise ValueError(f"form is {form!r}; expected 'trimmed' or 'full'.")
    if form == "full" and length is not None:
        raise ValueError(f"length is {length}, but the form 'full' has no limit; omit `length`.")
    is_duplicate = turns["query_id"].duplicated()
    if is_duplicate.any():
        duplicate = turns["query_id"][is_duplicate].iloc[0]
        raise ValueError(f"The turn {duplicate!r} occurs twice; remove the duplicate.")
    answers = answers or {}
    unknown = sorted(set(answers) - set(turns["query_id"]))
    if unknown:
        raise ValueError(
            f"There is an answer to {unknown[0]!r}, which is not among the {len(turns)} turns; "
            "remove the answer or add the turn."
        )
    rewritten: dict[str, str] = {}
    positions = turns.groupby("topic", sort=False).cumcount()
    conversations = {
        topic: list(zip(part["query_id"], part["utterance"], strict=True))
        for topic, part in turns.groupby("topic", sort=False)
    }
    for depth in range(int(positions.max()) + 1 if len(turns) else 0):
        current = turns[positions == depth]
        contexts = []
        for topic, turn, utterance in zip(
            current["topic"], current["query_id"], current["utterance"], strict=True
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
                f"The rewriter returned {len(rewrites)} rewrites for {len(contexts)} contexts; it "
                "must return one per context."
            )
        rewritten.update(zip(current["query_id"], rewrites, strict=True))
        empty = [name for name in current["query_id"] if not rewritten[name].strip()]
        if empty:
            raise ValueError(
                f"The rewriter returned an empty query for the turn {empty[0]!r}; use another "
                "rewriter or remove the turn."
            )
    return pd.Series(
        {name: rewritten[name] for name in turns["query_id"]}, name="text", dtype="str"
    ).rename_axis("query_id")
