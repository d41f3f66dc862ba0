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
    samples_from_frame,
    samples_to_frame,
)

#: Reason why an answer cannot be used -> explanation.
FAULTS: Mapping[str, str] = {
    "empty": "no words",
    "refusal": "the model talks about itself or its task instead of answering",
    "another language": "not English",
    "over-long": "cut off at the token limit, or more words than allowed",
    "unchanged": "identical to the original utterance",
    "copied": "identical to another utterance of the dialogue",
}


@dataclass(frozen=True)
class Rewriting:
    """Rewritten last utterance of a dialogue, with its fault and the raw answer."""

    sample: Sample
    text: str
    fault: str
    raw: str


def dialogue_text(sample: Sample) -> str:
    """A dialogue as text, one utterance per line."""
    return "\n".join(f"{speaker}: {text}" for speaker, text in sample.turns)


def rewritten_dialogue(rewriting: Rewriting) -> Sample:
    """The dialogue with its new last utterance and the opposite label, even if it has a fault."""
    sample = rewriting.sample
    return replace(
        sample,
        id=f"{sample.id}{COUNTERFACTUAL}",
        turns=(*sample.turns[:-1], (SYSTEM, rewriting.text)),
        satisfied=not sample.satisfied,
    )


def counterfactual(rewriting: Rewriting) -> Sample | None:
    """The dialogue with its new last utterance and the opposite label; None if it has a fault.

    Annotators decide whether the label has actually changed.
    """
    return None if rewriting.fault else rewritten_dialogue(rewriting)


def rewritings_frame(rewritings: Sequence[Rewriting]) -> pd.DataFrame:
    """Rewritings as a frame that can be stored as Parquet."""
    frame = samples_to_frame(rewriting.sample for rewriting in rewritings)
    for column in ("text", "fault", "raw"):
        frame[column] = [getattr(rewriting, column) for rewriting in rewritings]
    return frame


def frame_rewritings(frame: pd.DataFrame) -> list[Rewriting]:
    """Rewritings from a frame made by `rewritings_frame`, also if read from Parquet."""
    columns = (frame[column] for column in ("text", "fault", "raw"))
    return [Rewriting(*row) for row in zip(samples_from_frame(frame), *columns, strict=True)]


def count_faults(rewritings: Sequence[Rewriting]) -> pd.DataFrame:
    """Count usable answers and faults, by the label of the original."""
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
    r"""Percentage of the generated utterances that flip the label (CSS).

    .. math:: CSS = 100 \cdot \frac{\text{counterfactuals labelled as intended}}
                                    {\text{generated utterances}}
    """
    rewritten_labels = labels[labels["counterfactual"]]
    flipped = (
        (rewritten_labels["satisfied"] == rewritten_labels["intended"]).fillna(False).astype(bool)
    )
    usable = rewritten_labels["fault"] == ""
    rows = []
    for benchmark in dict.fromkeys(rewritten_labels["benchmark"]):
        in_benchmark = rewritten_labels["benchmark"] == benchmark
        for row, selected in (
            ("Satisfaction", in_benchmark & (rewritten_labels["intended"] == 0)),
            ("Dissatisfaction", in_benchmark & (rewritten_labels["intended"] == 1)),
            ("Overall", in_benchmark),
        ):
            generated, usable_count, flipped_count = (
                int(mask.sum())
                for mask in (selected, selected & usable, selected & usable & flipped)
            )
            share = 100 * flipped_count / generated if generated else float("nan")
            rows.append((benchmark, row, generated, usable_count, flipped_count, share))
    return pd.DataFrame(rows, columns=["benchmark", "row", "generated", "usable", "flipped", "CSS"])
