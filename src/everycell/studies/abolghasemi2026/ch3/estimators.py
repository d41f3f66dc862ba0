"""Estimators of user satisfaction that chapter 3 trains.

The workflow rules import this module too, so modules that need torch are imported in functions.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.collections.satisfaction_samples import Sample, Turn
from everycell.studies.abolghasemi2026.ch3.setups import (
    PLAIN,
    Parts,
    Setup,
    suitable_setups,
    training_samples,
)

if TYPE_CHECKING:
    from everycell.learning.asap import UtteranceVectors
    from everycell.learning.dissatisfaction import Labelled

#: Parts that are labelled; "plain" is the original test set without apologies.
PARTS = ("valid", "main", "cf", "plain")
#: Probability of dissatisfaction of each dialogue, 0 to 1.
Estimate: TypeAlias = Callable[[Sequence[Sequence[Turn]]], Sequence[float] | FloatArray]


class SatisfactionEstimator(ABC):
    """A trainable estimator of the probability that a user is dissatisfied."""

    #: Name in the tables.
    name: str
    #: Whether the thesis reports it. Tables that are compared with the thesis omit all others.
    in_thesis: ClassVar[bool] = False
    #: Whether training depends on the seed.
    seeded: ClassVar[bool] = True
    #: Simple estimators that run in the same job, since a job costs more than they do.
    baselines: ClassVar[tuple[type[SatisfactionEstimator], ...]] = ()

    def __init__(
        self,
        source: Path | str | None = None,
        *,
        training: Mapping[str, Any] | None = None,
        sizes: Mapping[str, Any] | None = None,
        samples: int | None = None,
        frozen: bool = False,
    ) -> None:
        self.source = source
        self.training = dict(training or {})
        self.sizes = dict(sizes or {})
        self.samples = samples
        self.frozen = frozen

    @property
    def encoder(self) -> Path | str:
        """Encoder from which training starts."""
        if self.source is None:
            raise ValueError(f"{self.name} needs an encoder to start from; pass `source`.")
        return self.source

    @classmethod
    def small_encoder(cls, *, frozen: bool) -> str | None:
        """Name of the initial encoder without a GPU; None if the estimator uses no encoder."""
        return None

    def setups(self, available_setups: Mapping[str, Setup]) -> Mapping[str, Setup]:
        """Setups to train in, selected from the setups of a benchmark."""
        return available_setups

    @abstractmethod
    def train(
        self, setup: Setup, parts: Parts, folder: Path, *, seed: int, training_seed: int
    ) -> Estimate:
        """Train in a setup."""


class Majority(SatisfactionEstimator):
    """The majority class of the training labels."""

    name = "Majority"
    seeded = False

    def setups(self, available_setups: Mapping[str, Setup]) -> Mapping[str, Setup]:
        """Only the plain setup: up-sampling would change the share."""
        return {PLAIN: Setup()}

    def train(
        self, setup: Setup, parts: Parts, folder: Path, *, seed: int, training_seed: int
    ) -> Estimate:
        """Predict the share of dissatisfied training samples for all dialogues."""
        from everycell.learning.dissatisfaction import majority_probability

        share = majority_probability([not sample.satisfied for sample in parts["train"]])
        return lambda dialogues: [share] * len(dialogues)


class TfIdf(SatisfactionEstimator):
    """Logistic regression on words and word pairs."""

    name = "TF-IDF"
    seeded = False

    def train(
        self, setup: Setup, parts: Parts, folder: Path, *, seed: int, training_seed: int
    ) -> Estimate:
        """Fit the regression on all training samples; up-sampling becomes a sample weight."""
        from everycell.learning.dissatisfaction import logistic_regression, regression_probabilities

        training, valid = map(_labelled, training_samples(setup, parts, seed=seed))
        model = logistic_regression(*training, *valid, factor=setup.factor)
        return lambda dialogues: regression_probabilities(model, dialogues)


class Bert(SatisfactionEstimator):
    """A BERT that reads the last words of a dialogue."""

    name = "BERT"
    in_thesis = True
    baselines = (Majority, TfIdf)

    @classmethod
    def small_encoder(cls, *, frozen: bool) -> str | None:
        """The encoder of SPLADE-tiny, a BERT-tiny."""
        return "splade-tiny"

    def train(
        self, setup: Setup, parts: Parts, folder: Path, *, seed: int, training_seed: int
    ) -> Estimate:
        """Fine-tune the encoder on dialogues."""
        from everycell.learning.dissatisfaction import stepped_options, train_classifier

        training, valid = map(
            _labelled, training_samples(setup, parts, limit=self.samples, seed=seed)
        )
        options = stepped_options(**self.training, seed=training_seed)
        return train_classifier(
            self.encoder, training, valid, options, folder, factor=setup.factor, **self.sizes
        )


class Asap(SatisfactionEstimator):
    """A transformer and a Hawkes process over the utterances of a dialogue."""

    name = "ASAP"
    in_thesis = True
    _vectors: UtteranceVectors | None = None

    @classmethod
    def small_encoder(cls, *, frozen: bool) -> str | None:
        """MiniLM if frozen, otherwise BERT-tiny."""
        return "minilm" if frozen else "splade-tiny"

    def train(
        self, setup: Setup, parts: Parts, folder: Path, *, seed: int, training_seed: int
    ) -> Estimate:
        """Train together with the encoder, or on embeddings of a frozen encoder."""
        from everycell.learning.asap import UtteranceVectors, train_asap
        from everycell.learning.dissatisfaction import stepped_options

        if self.frozen and self._vectors is None:
            # All training runs share these embeddings.
            self._vectors = UtteranceVectors(self.encoder, utterance=self.sizes["utterance"])
        training, valid = map(
            _labelled, training_samples(setup, parts, limit=self.samples, seed=seed)
        )
        options = stepped_options(**self.training, seed=training_seed)
        source = self._vectors if self.frozen else None
        return train_asap(
            source or self.encoder,
            training,
            valid,
            options,
            folder,
            factor=setup.factor,
            **self.sizes,
        )


#: Estimators with their own job, by the key of their settings, which also names their answers file.
ESTIMATORS: dict[str, type[SatisfactionEstimator]] = {
    "bert": Bert,
    "asap": Asap,
}


def baseline_names() -> tuple[str, ...]:
    """Names of the baselines, which the figures omit because there are too few colours."""
    return tuple(baseline.name for kind in ESTIMATORS.values() for baseline in kind.baselines)


def thesis_names() -> tuple[str, ...]:
    """Names of the trained estimators that the thesis reports."""
    return tuple(kind.name for kind in ESTIMATORS.values() if kind.in_thesis)


def predictions_for(
    estimator: SatisfactionEstimator,
    parts: Parts,
    setups: Mapping[str, Setup],
    folder: Path,
    *,
    seeds: int,
    seed: int,
) -> pd.DataFrame:
    """Predictions of an estimator and its baselines for every sample of a benchmark."""
    available_setups = suitable_setups(setups, parts)
    trainings = [
        training
        for kind in estimator.baselines
        for training in _train_in_setups(
            kind(), parts, available_setups, folder / kind.name, [0], seed
        )
    ]
    numbers = range(seeds if estimator.seeded else 1)
    trainings += _train_in_setups(estimator, parts, available_setups, folder, numbers, seed)
    # Samples without an apology are in both "main" and "plain".
    dialogues = list({sample.turns: None for part in PARTS for sample in parts.get(part, ())})
    frames = []
    for number, model, setup, estimate in trainings:
        probabilities = dict(zip(dialogues, estimate(dialogues), strict=True))
        for part in filter(parts.get, PARTS):
            frames.append(
                pd.DataFrame(
                    {
                        "part": part,
                        "id": [sample.id for sample in parts[part]],
                        "satisfied": [sample.satisfied for sample in parts[part]],
                        "model": model,
                        "setup": setup,
                        "seed": number,
                        "probability": [probabilities[sample.turns] for sample in parts[part]],
                    }
                )
            )
    return pd.concat(frames, ignore_index=True)


def _train_in_setups(
    estimator: SatisfactionEstimator,
    parts: Parts,
    available_setups: Mapping[str, Setup],
    folder: Path,
    numbers: Sequence[int],
    seed: int,
) -> Iterator[tuple[int, str, str, Estimate]]:
    """Train an estimator in its setups; yield run number, name, setup and estimate."""
    for number in numbers:
        for name, setup in estimator.setups(available_setups).items():
            subfolder = folder / str(number) / re.sub(r"[^a-z0-9]+", "-", name)
            estimate = estimator.train(
                setup, parts, subfolder, seed=seed, training_seed=seed + number
            )
            yield number, estimator.name, name, estimate


def _labelled(samples: Sequence[Sample]) -> Labelled:
    """Dialogues and labels of samples."""
    from everycell.learning.dissatisfaction import Labelled

    return Labelled(
        [sample.turns for sample in samples], [not sample.satisfied for sample in samples]
    )
