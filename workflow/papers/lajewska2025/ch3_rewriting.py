"""Queries for the turns of a conversation, with or without a rewriter, for chapter 3 of
lajewska2025.

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

from everycell.base.errors import DataError

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
    """Earlier turns, as much of the last answer as fits, and the utterance, which must fit."""
    parts = [*history, utterance]
    if length is None:
        return separator.join([*history, answer, utterance] if answer else parts)
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
    first = len(utterances) - ANSWERS
    parts = [
        part
        for position, pair in enumerate(zip(utterances, answers, strict=True))
        for part in (pair if position >= first else pair[:1])
        if part
    ]
    return separator.join([*parts, utterance])


def prepend_history(
    turns: pd.DataFrame, *, answers: Mapping[str, str] | None = None, length: int | None = None
) -> pd.Series:
    """Prepend all earlier utterances of the conversation to each turn; needs no model."""
    return rewrite(
        turns, lambda contexts: contexts, answers=answers, length=length, feed_back=False
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
    answers = answers or {}
    rewritten: dict[str, str] = {}
    positions = turns.groupby("topic", sort=False).cumcount()
    conversations = {
        topic: list(zip(part["query"], part["utterance"], strict=True))
        for topic, part in turns.groupby("topic", sort=False)
    }
    for depth in range(int(positions.max()) + 1 if len(turns) else 0):
        current = turns[positions == depth]
        contexts = []
        for topic, turn, utterance in zip(
            current["topic"], current["query"], current["utterance"], strict=True
        ):
            if length is not None and count(utterance) > length:
                raise DataError(
                    row=f"turn {turn}",
                    column="utterance",
                    value=utterance,
                    fault=f"which has {count(utterance)} units",
                    expected=f"at most {length} units",
                    fix="raise the limit, since utterances are never cut",
                )
            earlier = conversations[topic][:depth]
            utterances = [text for _, text in earlier]
            replies = [answers.get(name, "") for name, _ in earlier]
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
            contexts.append(context)
        rewritten.update(zip(current["query"], rewriter(contexts), strict=True))
        for turn in current["query"]:
            if not rewritten[turn].strip():
                raise DataError(
                    row=f"turn {turn}",
                    column="rewritten query",
                    fault="is empty",
                    fix="use another rewriter or remove the turn",
                )
    return pd.Series(
        {name: rewritten[name] for name in turns["query"]}, name="text", dtype="str"
    ).rename_axis("query")
