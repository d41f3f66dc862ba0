"""Samples of user satisfaction: a dialogue up to a system utterance, and a label."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

USER, SYSTEM = "USER", "SYSTEM"
#: Suffix that turns the id of a sample into that of its counterfactual.
COUNTERFACTUAL = "-cf"
#: Speaker and text.
Turn = tuple[str, str]


@dataclass(frozen=True)
class Sample:
    """A dialogue up to a system utterance, and whether the user is satisfied at that point."""

    id: str
    benchmark: str
    turns: tuple[Turn, ...]
    satisfied: bool


def samples_to_frame(samples: Iterable[Sample]) -> pd.DataFrame:
    """Convert samples to a frame that can be stored as Parquet."""
    rows = [
        (sample.id, sample.benchmark, [list(turn) for turn in sample.turns], sample.satisfied)
        for sample in samples
    ]
    return pd.DataFrame(rows, columns=["id", "benchmark", "turns", "satisfied"])


def samples_from_frame(frame: pd.DataFrame) -> list[Sample]:
    """Convert a frame of `samples_to_frame` back to samples, also after storage as Parquet."""
    columns = (frame[name] for name in ("id", "benchmark", "turns", "satisfied"))
    return [
        Sample(name, benchmark, tuple((speaker, text) for speaker, text in turns), bool(label))
        for name, benchmark, turns, label in zip(*columns, strict=True)
    ]
