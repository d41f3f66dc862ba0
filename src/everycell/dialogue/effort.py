"""Effort of annotating a passage: time and reward, in one task or in two steps.

In the second design of lajewska2025 workers first select the answering sentences of a passage, in
one task, and then mark snippets in each of these, with one task per sentence.

Source: lajewska2025, section 5.3 and Table 5.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd


class Effort(NamedTuple):
    """Effort of one person for a passage.

    Attributes
    ----------
    passages
        Number of passages behind the values, 1 or more.
    seconds
        Working time, more than 0.
    reward
        USD, 0 or more, without the platform's fee.
    """

    passages: int
    seconds: float
    reward: float


def passage_effort(
    tasks: pd.DataFrame, people: int, selection: pd.DataFrame | None = None
) -> Effort:
    """Time and reward of a passage, annotated as a whole or sentence by sentence.

    Examples
    --------
    >>> def done(seconds, reward):
    ...     return pd.DataFrame({"turn_id": "8_1", "passage_id": ["p1", "p1", "p2", "p2"],
    ...                          "seconds": seconds, "reward": reward})
    >>> passage_effort(done([50, 60, 80, 300], 0.3), people=2)
    Effort(passages=2, seconds=70.0, reward=0.3)

    Four tasks by two people are two sentences, one per passage.

    >>> passage_effort(done([10, 20, 30, 40], 0.1), 2, selection=done([50, 60, 80, 300], 0.1))
    Effort(passages=2, seconds=95.0, reward=0.2)
    """
    if people < 1 or not len(tasks) or len(tasks) % people:
        raise ValueError(
            f"There are {len(tasks)} tasks of {people} people: give one person or more, and for "
            "each text one task of each."
        )
    if selection is None:
        return Effort(
            len(_passages(tasks)), float(tasks["seconds"].median()), float(tasks["reward"].mean())
        )
    passages = _passages(selection)
    unknown = _passages(tasks).difference(passages)
    if len(unknown):
        raise ValueError(
            f"The passage {unknown[0][1]} of turn {unknown[0][0]} has annotated sentences and no "
            "selection: give the tasks of both steps."
        )
    first = passage_effort(selection, 1)
    sentences = len(tasks) / people / len(passages)
    return Effort(
        len(passages),
        first.seconds + sentences * float(tasks["seconds"].median()),
        first.reward + sentences * float(tasks["reward"].mean()),
    )


def mean_effort(parts: Sequence[Effort]) -> Effort:
    """Mean over parts, such as topics, weighted by their numbers of passages.

    Examples
    --------
    >>> mean_effort([Effort(60, 100.0, 0.3), Effort(20, 200.0, 0.3)])
    Effort(passages=80, seconds=125.0, reward=0.3)
    """
    if not parts:
        raise ValueError("There is no part: give one or more.")
    passages = sum(part.passages for part in parts)
    seconds, reward = (
        math.fsum(part.passages * value for part, value in zip(parts, values, strict=True))
        / passages
        for values in ([part.seconds for part in parts], [part.reward for part in parts])
    )
    return Effort(passages, seconds, reward)


def _passages(tasks: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(tasks[["turn_id", "passage_id"]]).unique()
