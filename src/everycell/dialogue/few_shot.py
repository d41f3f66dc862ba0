"""Satisfaction labels from a language model given two examples (abolghasemi2026, 3.4.2).

The instruction and examples are our own; the thesis does not give its examples. As in the thesis,
the instruction explains both labels, and a satisfied example precedes a dissatisfied one. The
instruction is in the first user message, since not all models accept a system message.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from everycell.base.errors import DataError
from everycell.collections.satisfaction_samples import SYSTEM, USER, Sample, Turn
from everycell.language_models.generation import Answer, Message, NotOfferedError
from everycell.language_models.reasoning import without_reasoning

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
