"""Prompted language models as satisfaction estimators in chapter 3 of abolghasemi2026.

The instruction and examples are our own; the thesis does not give its examples. As in the thesis,
the instruction explains both labels, and a satisfied example precedes a dissatisfied one. The
instruction is in the first user message, since not all models accept a system message.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.base.errors import DataError
from everycell.collections.satisfaction_samples import (
    SYSTEM,
    USER,
    Sample,
    Turn,
    samples_from_frame,
)
from everycell.jobs.job import Job
from everycell.language_models.answering import model_of_job
from everycell.language_models.generation import Answer, Message, NotOfferedError, Request
from everycell.language_models.reasoning import without_reasoning
from everycell.language_models.settings import Decoding
from papers.abolghasemi2026.ch3_training import (
    FEW_SHOT,
    Estimate,
    Parts,
    SatisfactionEstimator,
    Setup,
    predictions_for,
)

#: Parts to label. Nothing is tuned, so validation samples are not needed.
TESTED = ("main", "cf")


class FewShotModel(SatisfactionEstimator):
    """A language model that is prompted with two examples and not trained."""

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

    def setups(self, available_setups: Mapping[str, Setup]) -> Mapping[str, Setup]:
        """The few-shot setup, regardless of `available_setups`."""
        return {FEW_SHOT: Setup()}

    def train(
        self, setup: Setup, parts: Parts, folder: Path, *, seed: int, training_seed: int
    ) -> Estimate:
        """Prompt the model without training; the probability is NaN if an answer has no label."""

        def estimate(dialogues: Sequence) -> list[float]:
            requests = [
                Request(prompt=messages(turns), decoding=self._decoding) for turns in dialogues
            ]
            return [dissatisfaction(answer) for answer in self._answer_all(requests)]

        return estimate


def labelled_samples(
    samples: pd.DataFrame, *, pairs: int | None, seed: int
) -> Iterator[tuple[str, Parts]]:
    """Samples of each benchmark that a language model labels, or `pairs` pairs drawn from them."""
    for benchmark, rows in samples.groupby("benchmark", sort=False):
        by_part = {part: samples_from_frame(rows[rows["part"] == part]) for part in TESTED}
        if pairs is not None:
            if not by_part["cf"]:
                continue
            drawn_parts = draw_pairs(*by_part.values(), size=pairs, seed=seed)
            by_part = dict(zip(TESTED, drawn_parts, strict=True))
        yield (
            benchmark,
            {
                "train": [],
                **{part: part_samples for part, part_samples in by_part.items() if part_samples},
            },
        )


def few_shot(job: Job) -> None:
    """Satisfaction labels of test samples by a language model prompted with two examples."""
    params, files = job.params, job.input
    with model_of_job(job.snakemake, job.log) as model:
        estimator = FewShotModel(params.name, model.answer_all, Decoding(**params.decoding))
        samples = pd.read_parquet(files.samples)
        folder = Path(job.output.predictions).parent
        rows = [
            predictions_for(estimator, parts, {}, folder, seeds=1, seed=job.params.seed).assign(
                benchmark=benchmark
            )
            for benchmark, parts in labelled_samples(
                samples, pairs=params.pairs, seed=job.params.seed
            )
        ]
    job.write_frame(pd.concat(rows, ignore_index=True), "predictions")


SATISFIED, DISSATISFIED = "Satisfied", "Dissatisfied"
_INSTRUCTION = (
    "You read a conversation between a user and a booking service and judge the last reply of the "
    f'service. Answer with one word. "{SATISFIED}": the reply shows that the service understood '
    "the user, and it helps with the request, wholly or in part, or says how it can be met. "
    f'"{DISSATISFIED}": the reply misses what the user asked for or does not help with it.'
)
_QUESTION = "How does the user feel about the last reply?"
_EXAMPLES: tuple[tuple[tuple[Turn, ...], str], ...] = (
    (
        (
            (USER, "Is there a museum near the harbour that opens on Mondays?"),
            (SYSTEM, "Yes, the Boat House is open on Mondays from 10 to 5. Shall I get tickets?"),
        ),
        SATISFIED,
    ),
    (
        (
            (USER, "I need two rooms in a quiet hotel from Friday on."),
            (SYSTEM, "What time would you like to leave by train?"),
        ),
        DISSATISFIED,
    ),
)
#: A label, with any negation before it.
_LABEL = re.compile(
    r"(?P<negated>(?:\bnot|\bnever|n['\u2019]t)\s+(?:\w+\s+)?)?"
    r"\b(?:(?P<dissatisfied>dissatisfied|unsatisfied)|(?P<satisfied>satisfied))\b",
    re.IGNORECASE,
)


def messages(turns: Sequence[Turn]) -> tuple[Message, ...]:
    """Messages that ask a language model whether the user of a dialogue is satisfied."""
    shots: list[Message] = []
    for example, label in _EXAMPLES:
        question = _as_question(example)
        shots += [
            Message(role="user", content=question if shots else f"{_INSTRUCTION}\n\n{question}"),
            Message(role="assistant", content=label),
        ]
    return (*shots, Message(role="user", content=_as_question(turns)))


def parse_label(answer: str) -> bool | None:
    """Whether an answer says that the user is satisfied; None if it is unclear."""
    labels: set[bool | None] = set()
    for match in _LABEL.finditer(without_reasoning(answer)):
        negated, satisfied = match["negated"] is not None, match["satisfied"] is not None
        labels.add(satisfied and not negated if satisfied or not negated else None)
    return labels.pop() if len(labels) == 1 else None


def dissatisfaction(answer: Answer) -> float:
    """Probability that a user is dissatisfied, from an answer's label and the model's confidence.

    The label gets the probability of the model's text up to the end of the label; the remaining
    probability is split evenly between both labels. The value is therefore above 0.5 if and only if
    the label is "Dissatisfied".
    """
    answer = answer.without_reasoning()
    label, match = parse_label(answer.text), _LABEL.search(answer.text)
    if label is None or match is None:
        return math.nan
    confidence = 1.0
    if answer.tokens is not None:
        length, total = 0, 0.0
        for token in answer.tokens:
            if length >= match.end() or token.logprob is None:
                break
            length += len(token.text)
            total += token.logprob
        if length < match.end():
            raise NotOfferedError(
                "An answer lacks log-probabilities for part of its label; remove it from the "
                "recorded answers and request it again."
            )
        confidence = math.exp(total)
    return (1 - confidence) / 2 if label else (1 + confidence) / 2


def draw_pairs(
    main: Sequence[Sample], counterfactual: Sequence[Sample], *, size: int, seed: int
) -> tuple[list[Sample], list[Sample]]:
    """Draw samples with their counterfactuals, balanced by the label of the original.

    If a label has fewer than `size` / 2 pairs, the other label provides the remainder. A simple
    random sample of 50 pairs would contain hardly any dissatisfied originals, so that each test set
    would have almost only one class and macro averages would be meaningless.
    """
    partners = {sample.id: sample for sample in counterfactual}
    pairs = [
        (sample, partners[f"{sample.id}-cf"]) for sample in main if f"{sample.id}-cf" in partners
    ]
    if size < 1 or not pairs:
        raise DataError(
            column="pairs of a sample and its counterfactual",
            value=size,
            fault=f"of {len(pairs)} that are available",
            expected="at least 1",
            fix="give a larger size, or counterfactuals of these samples",
        )
    shuffled = np.random.default_rng(seed).permutation(len(pairs)).tolist()
    rows_by_label = [
        [row for row in shuffled if pairs[row][0].satisfied is label] for label in (False, True)
    ]
    minority, majority = sorted(rows_by_label, key=len)
    minority = minority[: size // 2]
    rows = minority + majority[: size - len(minority)]
    first, second = zip(*(pairs[row] for row in sorted(rows)), strict=True)
    return list(first), list(second)


def _as_question(turns: Sequence[Turn]) -> str:
    return "\n".join([*(f"{speaker}: {text}" for speaker, text in turns), _QUESTION])
