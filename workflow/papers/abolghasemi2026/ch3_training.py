"""Estimators trained for chapter 3 of abolghasemi2026, and the setups of their training.

Source: abolghasemi2026, section 3.5.3. The rules import this module too, so modules that need torch
are imported in functions.
"""

from __future__ import annotations

import os
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.collections.satisfaction_samples import Sample, Turn, samples_from_frame
from everycell.jobs.job import Job
from papers.abolghasemi2026.ch3_counterfactuals import counterfactual, rewrite_by_rule
from papers.abolghasemi2026.ch3_data import remove_apologies

if TYPE_CHECKING:
    from everycell.learning.asap import UtteranceVectors
    from everycell.learning.dissatisfaction import Labelled

#: Name of the setup that trains on the unchanged samples.
PLAIN = "w/o up-sampling"
#: Setups that are not in the thesis: it suggests the first; the second is a control.
AUGMENTED, CONTROL = "with counterfactuals", "without apologies"
#: The only setup of a prompted language model.
FEW_SHOT = "Few-shot"

#: Samples of a benchmark by part: "train", "valid" and test sets.
Parts: TypeAlias = Mapping[str, Sequence[Sample]]

#: Setups of the thesis.
PUBLISHED = (PLAIN, "up-sampling x10", "up-sampling x20")


@dataclass(frozen=True)
class Setup:
    """Changes to the training samples of an estimator."""

    #: Number of copies of each dissatisfied sample in the training set.
    factor: int = 1
    #: Whether each sample is paired with its counterfactual.
    counterfactuals: bool = False
    #: Whether apologies are removed.
    without_apologies: bool = False


def make_setups(factors: Sequence[int]) -> dict[str, dict[str, int | bool]]:
    """Fields of `Setup` by name, for the setups of Table 3.6 and two more."""
    plain_setup = {"counterfactuals": False, "without_apologies": False}
    setups = {
        PLAIN if factor == 1 else f"up-sampling x{factor}": plain_setup | {"factor": factor}
        for factor in factors
    }
    setups[AUGMENTED] = plain_setup | {"factor": 1, "counterfactuals": True}
    middle_setup = list(setups)[len(factors) // 2]
    setups[f"{middle_setup}, {CONTROL}"] = setups[middle_setup] | {"without_apologies": True}
    return setups


def suitable_setups(setups: Mapping[str, Setup], parts: Parts) -> dict[str, Setup]:
    """Setups that are informative on a benchmark.

    The two setups that are not in the thesis need counterfactuals to test on, and the control also
    needs apologies to remove.
    """
    tested = "cf" in parts
    apologies = any(remove_apologies(sample) != sample for sample in parts["train"])
    return {
        name: setup
        for name, setup in setups.items()
        if (tested or not setup.counterfactuals)
        and (tested and apologies or not setup.without_apologies)
    }


def _flipped(sample: Sample, seed: int) -> Sample:
    flipped = counterfactual(rewrite_by_rule(sample, seed=seed))
    assert flipped is not None, "rewrites by rule are always valid"
    return flipped


def training_samples(
    setup: Setup, parts: Parts, *, limit: int | None = None, seed: int
) -> tuple[list[Sample], list[Sample]]:
    """Training and validation samples of a setup.

    Counterfactuals double both, which balances the two labels. Model selection on the imbalanced
    validation samples would favour a model that always predicts satisfaction.
    """
    training_parts = [list(parts["train"][:limit]), list(parts["valid"])]
    if setup.counterfactuals:
        training_parts = [
            [*part, *(_flipped(sample, seed) for sample in part)] for part in training_parts
        ]
    if setup.without_apologies:
        training_parts = [[remove_apologies(sample) for sample in part] for part in training_parts]
    training, valid = training_parts
    return training, valid


def is_published(name: str) -> bool:
    """Whether the thesis reports results of a setup."""
    return name in PUBLISHED


def is_own(name: str) -> bool:
    """Whether a setup is not in the thesis but added by this study."""
    return name == AUGMENTED or name.endswith(CONTROL)


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
        from everycell.learning.dissatisfaction import (
            logistic_regression,
            regression_probabilities,
        )

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
ESTIMATORS: dict[str, type[SatisfactionEstimator]] = {"bert": Bert, "asap": Asap}


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


def train(job: Job) -> None:
    """Train an estimator of satisfaction in every setup, and predict the labels of all samples.

    Models are stored next to the predictions, one per benchmark, setup and seed. An interrupted run
    resumes after the last finished training.
    """
    from everycell.learning.models import use_one_thread

    use_one_thread()
    settings, kind = job.params, ESTIMATORS[job.wildcards.kind]
    source = None
    if kind.small_encoder(frozen=settings.frozen) is not None:
        source = job.folder_of("encoder")
    estimator = kind(
        source,
        training=settings.training,
        sizes=settings.sizes,
        samples=settings.samples,
        frozen=settings.frozen,
    )
    setups = {name: Setup(**setup) for name, setup in settings.setups.items()}
    out = Path(job.output.predictions)
    work = out.with_suffix(".training")
    frames = []
    samples = pd.read_parquet(job.input.samples)
    for benchmark, rows in samples.groupby("benchmark", sort=False):
        parts = {
            part: samples_from_frame(part_rows)
            for part, part_rows in rows.groupby("part", sort=False)
        }
        predictions = predictions_for(
            estimator, parts, setups, work / benchmark, seeds=settings.seeds, seed=job.params.seed
        )
        predictions.insert(0, "benchmark", benchmark)
        frames.append(predictions)
    job.write_frame(pd.concat(frames, ignore_index=True), "predictions")
    models = out.with_suffix(".models")
    shutil.rmtree(models, ignore_errors=True)
    os.replace(work, models)
