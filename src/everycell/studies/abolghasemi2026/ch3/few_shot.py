"""A language model as an estimator of user satisfaction, and the samples that it labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from everycell.collections.satisfaction_samples import frame_samples
from everycell.dialogue.few_shot import dissatisfaction, drawn_pairs, messages
from everycell.language_models.generation import Answer, Request
from everycell.language_models.settings import Decoding
from everycell.studies.abolghasemi2026.ch3.estimators import Estimate, SatisfactionEstimator
from everycell.studies.abolghasemi2026.ch3.setups import Parts, Setup

#: Name of its one setup.
FEW_SHOT = "Few-shot"
#: Test sets that it labels. It chooses nothing, so it sees no validation sample.
TESTED = ("main", "cf")


class FewShotModel(SatisfactionEstimator):
    """A language model that is shown two examples: it learns nothing, and is asked."""

    in_thesis = True
    seeded = False

    def __init__(
        self,
        name: str,
        answer_all: Callable[[Sequence[Request]], Sequence[Answer]],
        decoding: Decoding,
    ) -> None:
        super().__init__()
        self.name = name
        self._answer_all = answer_all
        self._decoding = decoding

    def setups(self, known: Mapping[str, Setup]) -> Mapping[str, Setup]:
        """One setup, whatever others are trained in."""
        return {FEW_SHOT: Setup()}

    def train(
        self, setup: Setup, parts: Parts, folder: Path, *, seed: int, training_seed: int
    ) -> Estimate:
        """Take the model as it is; a probability is NaN where it named no label."""

        def estimate(dialogues: Sequence) -> list[float]:
            requests = [
                Request(prompt=messages(turns), decoding=self._decoding) for turns in dialogues
            ]
            return [dissatisfaction(answer) for answer in self._answer_all(requests)]

        return estimate


def labelled_samples(
    samples: pd.DataFrame, *, pairs: int | None, seed: int
) -> Iterator[tuple[str, Parts]]:
    """Samples of each benchmark that a language model labels."""
    for benchmark, rows in samples.groupby("benchmark", sort=False):
        by_part = {part: frame_samples(rows[rows["part"] == part]) for part in TESTED}
        if pairs is not None:
            if not by_part["cf"]:
                continue
            drawn = drawn_pairs(*by_part.values(), size=pairs, seed=seed)
            by_part = dict(zip(TESTED, drawn, strict=True))
        yield (
            benchmark,
            {
                "train": [],
                **{part: part_samples for part, part_samples in by_part.items() if part_samples},
            },
        )
