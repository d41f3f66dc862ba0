"""Counterfactual dialogues: the last utterance of the system rewritten to flip satisfaction.

Source: abolghasemi2026, sections 3.4.1 and 3.6.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from everycell.collections.satisfaction_samples import (
    COUNTERFACTUAL,
    SYSTEM,
    Sample,
    frame_samples,
    samples_frame,
)

#: Why an answer cannot be used -> meaning.
FAULTS: Mapping[str, str] = {
    "empty": "no word",
    "refusal": "the model speaks of itself or its task instead of doing it",
    "another language": "not English",
    "over-long": "cut at the most tokens, or more words than allowed",
    "unchanged": "the utterance that was to be rewritten",
    "copied": "another utterance of the dialogue",
}


@dataclass(frozen=True)
class Rewriting:
    """The rewritten last utterance of a dialogue."""

    sample: Sample
    text: str
    fault: str
    raw: str


def dialogue_text(sample: Sample) -> str:
    r"""A dialogue as text, one utterance per line.

    Examples
    --------
    >>> dialogue_text(Sample("1", "toy", (("USER", "A taxi?"), ("SYSTEM", "At 8.")), True))
    'USER: A taxi?\nSYSTEM: At 8.'
    """
    return "\n".join(f"{speaker}: {text}" for speaker, text in sample.turns)


def rewritten(rewriting: Rewriting) -> Sample:
    """The dialogue with its new last utterance and the opposite label, whatever its fault."""
    sample = rewriting.sample
    return replace(
        sample,
        id=f"{sample.id}{COUNTERFACTUAL}",
        turns=(*sample.turns[:-1], (SYSTEM, rewriting.text)),
        satisfied=not sample.satisfied,
    )


def counterfactual(rewriting: Rewriting) -> Sample | None:
    """The dialogue with its new last utterance and the opposite label; None if it has a fault.

    Annotators decide whether the label is really flipped.
    """
    return None if rewriting.fault else rewritten(rewriting)


def rewritings_frame(rewritings: Sequence[Rewriting]) -> pd.DataFrame:
    """Rewritings as a frame that can be stored as Parquet."""
    frame = samples_frame(rewriting.sample for rewriting in rewritings)
    for column in ("text", "fault", "raw"):
        frame[column] = [getattr(rewriting, column) for rewriting in rewritings]
    return frame


def frame_rewritings(frame: pd.DataFrame) -> list[Rewriting]:
    """Rewritings from a frame made by `rewritings_frame`, also after a trip through Parquet."""
    parts = (frame[column] for column in ("text", "fault", "raw"))
    return [Rewriting(*row) for row in zip(frame_samples(frame), *parts, strict=True)]


def count_faults(rewritings: Sequence[Rewriting]) -> pd.DataFrame:
    """Outcomes of answers, by the label of the original."""
    counts = Counter(
        (rewriting.sample.satisfied, rewriting.fault or "usable") for rewriting in rewritings
    )
    rows = [
        (row, answer, "count", counts[label, answer])
        for row, label in (("Satisfaction", True), ("Dissatisfaction", False))
        for answer in ("usable", *FAULTS)
    ]
    return pd.DataFrame(rows, columns=["row", "answer", "metric", "value"])


def success(labels: pd.DataFrame) -> pd.DataFrame:
    r"""Share of the generated utterances that flip the label (CSS).

    .. math:: CSS = 100 \cdot \frac{\text{counterfactuals that are settled as intended}}
                                    {\text{generated utterances}}
    """
    rewritten_labels = labels[labels["counterfactual"]]
    flipped = (
        (rewritten_labels["satisfied"] == rewritten_labels["intended"]).fillna(False).astype(bool)
    )
    usable = rewritten_labels["fault"] == ""
    rows = []
    for benchmark in dict.fromkeys(rewritten_labels["benchmark"]):
        of_one = rewritten_labels["benchmark"] == benchmark
        for row, selected in (
            ("Satisfaction", of_one & (rewritten_labels["intended"] == 0)),
            ("Dissatisfaction", of_one & (rewritten_labels["intended"] == 1)),
            ("Overall", of_one),
        ):
            counts = (int(selected.sum()), int((selected & usable).sum()))
            count = int((selected & usable & flipped).sum())
            share = 100 * count / counts[0] if counts[0] else float("nan")
            rows.append((benchmark, row, *counts, count, share))
    return pd.DataFrame(rows, columns=["benchmark", "row", "generated", "usable", "flipped", "CSS"])
