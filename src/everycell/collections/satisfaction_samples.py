"""Samples of user satisfaction: a dialogue up to an answer of the system, and a label."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from everycell.collections.errors import CollectionError

USER, SYSTEM = "USER", "SYSTEM"
#: Suffix of the id of a counterfactual, after that of its original.
COUNTERFACTUAL = "-cf"
#: Speaker and text.
Turn = tuple[str, str]


@dataclass(frozen=True)
class Sample:
    """A dialogue up to an utterance of the system, with the satisfaction of its user at that point.

    A counterfactual has the id of its original with the suffix "-cf".
    """

    id: str
    benchmark: str
    turns: tuple[Turn, ...]
    satisfied: bool

    def __post_init__(self) -> None:
        """Check speakers, last utterance and label."""
        unknown = {speaker for speaker, _ in self.turns} - {USER, SYSTEM}
        if unknown:
            raise CollectionError(
                f"Sample {self.id} has the speaker {min(unknown)!r}; expected {USER} or {SYSTEM}."
            )
        if not self.turns or self.turns[-1][0] != SYSTEM:
            raise CollectionError(
                f"Sample {self.id} does not end with an utterance of the system, which its label "
                "is about; cut it there or leave it out."
            )
        if not isinstance(self.satisfied, bool):
            raise CollectionError(
                f"Sample {self.id} has the label {self.satisfied!r}; expected True or False."
            )


def samples_frame(samples: Iterable[Sample]) -> pd.DataFrame:
    """Samples as a frame that can be stored as Parquet."""
    rows = [
        (sample.id, sample.benchmark, [list(turn) for turn in sample.turns], sample.satisfied)
        for sample in samples
    ]
    return pd.DataFrame(rows, columns=["id", "benchmark", "turns", "satisfied"])


def frame_samples(frame: pd.DataFrame) -> list[Sample]:
    """Samples from a frame made by `samples_frame`, also after a round trip through Parquet."""
    columns = (frame[name] for name in ("id", "benchmark", "turns", "satisfied"))
    return [
        Sample(name, benchmark, tuple((who, text) for who, text in turns), bool(label))
        for name, benchmark, turns, label in zip(*columns, strict=True)
    ]
