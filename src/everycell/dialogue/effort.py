"""Time and reward for annotating a passage, in one task or in two steps.

Source: lajewska2025, section 5.3 and Table 5.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd


class Effort(NamedTuple):
    """Effort per person and passage: median time and mean reward."""

    passages: int
    seconds: float
    reward: float


def passage_effort(
    tasks: pd.DataFrame, people: int, selection: pd.DataFrame | None = None
) -> Effort:
    """Time and reward per passage, annotated in one task or sentence by sentence."""
    if people < 1 or not len(tasks) or len(tasks) % people:
        raise ValueError(
            f"There are {len(tasks)} tasks for {people} people; expected at least one person, and "
            "one task per person and text."
        )
    if selection is None:
        return Effort(
            len(_passages(tasks)), float(tasks["seconds"].median()), float(tasks["reward"].mean())
        )
    passages = _passages(selection)
    unknown = _passages(tasks).difference(passages)
    if len(unknown):
        raise ValueError(
            f"The passage {unknown[0][1]} of turn {unknown[0][0]} has annotated sentences but no "
            "selection task; give the tasks of both steps."
        )
    selecting = passage_effort(selection, 1)
    sentences = len(tasks) / people / len(passages)
    return Effort(
        len(passages),
        selecting.seconds + sentences * float(tasks["seconds"].median()),
        selecting.reward + sentences * float(tasks["reward"].mean()),
    )


def mean_effort(parts: Sequence[Effort]) -> Effort:
    """Mean over parts, such as topics, weighted by their numbers of passages."""
    if not parts:
        raise ValueError("`parts` is empty; give at least one.")
    passages = sum(part.passages for part in parts)
    seconds, reward = (
        math.fsum(part.passages * value for part, value in zip(parts, values, strict=True))
        / passages
        for values in ([part.seconds for part in parts], [part.reward for part in parts])
    )
    return Effort(passages, seconds, reward)


def _passages(tasks: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(tasks[["turn_id", "passage_id"]]).unique()
