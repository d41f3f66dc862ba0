"""Satisfaction labels by a language model with two examples (abolghasemi2026, 3.4.2).

Instruction and examples are this project's. As in the thesis, the instruction explains both labels,
and a satisfied example precedes a dissatisfied one; the thesis does not say which two it shows. The
instruction opens the user's first message, since not all models accept a system message.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from everycell.collections.satisfaction_samples import SYSTEM, USER, Sample, Turn
from everycell.language_models.generation import Answer, Message, NotOfferedError

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
#: A label with words that may negate it.
_LABEL = re.compile(
    r"(?P<negated>(?:\bnot|\bnever|n['\u2019]t)\s+(?:\w+\s+)?)?"
    r"\b(?:(?P<dissatisfied>dissatisfied|unsatisfied)|(?P<satisfied>satisfied))\b",
    re.IGNORECASE,
)


def messages(turns: Sequence[Turn]) -> tuple[Message, ...]:
    """Messages that ask a language model about a dialogue."""
    shots: list[Message] = []
    for example, label in _EXAMPLES:
        question = _as_question(example)
        shots += [
            Message(role="user", content=question if shots else f"{_INSTRUCTION}\n\n{question}"),
            Message(role="assistant", content=label),
        ]
    return (*shots, Message(role="user", content=_as_question(turns)))


def parse_label(answer: str) -> bool | None:
    """Whether an answer says that the user is satisfied."""
    labels: set[bool | None] = set()
    for match in _LABEL.finditer(answer):
        negated, satisfied = match["negated"] is not None, match["satisfied"] is not None
        labels.add(satisfied and not negated if satisfied or not negated else None)
    return labels.pop() if len(labels) == 1 else None


def dissatisfaction(answer: Answer) -> float:
    """Probability that a user is dissatisfied, from an answer's label and the model's confidence.

    The probability of the model's text up to the label's end counts for the label; the rest is
    split between both labels. The value is thus above 0.5 exactly if the label is "Dissatisfied".
    """
    label, match = parse_label(answer.text), _LABEL.search(answer.text)
    if label is None or match is None:
        return math.nan
    sure = 1.0
    if answer.tokens is not None:
        written, total = 0, 0.0
        for token in answer.tokens:
            if written >= match.end() or token.logprob is None:
                break
            written += len(token.text)
            total += token.logprob
        if written < match.end():
            raise NotOfferedError(
                "An answer has no log-probabilities for all of its label: ask again, with a record "
                "that does not have it."
            )
        sure = math.exp(total)
    return (1 - sure) / 2 if label else (1 + sure) / 2


def drawn_pairs(
    main: Sequence[Sample], counterfactual: Sequence[Sample], *, size: int, seed: int
) -> tuple[list[Sample], list[Sample]]:
    """Draw samples with their counterfactuals, to represent both test sets.

    Up to half of the size for each label of the original; if one label has fewer, the other fills
    up. A simple random draw of 50 would contain hardly any dissatisfied originals, so that each set
    would have one class and macro measures would be meaningless.
    """
    partners = {sample.id: sample for sample in counterfactual}
    pairs = [
        (sample, partners[f"{sample.id}-cf"]) for sample in main if f"{sample.id}-cf" in partners
    ]
    if size < 1 or not pairs:
        raise ValueError(
            f"{size} of {len(pairs)} pairs of a sample and its counterfactual are to be drawn: "
            "there must be one or more of both; give a larger size, or the samples of one set."
        )
    shuffled = np.random.default_rng(seed).permutation(len(pairs)).tolist()
    labels = [
        [row for row in shuffled if pairs[row][0].satisfied is label] for label in (False, True)
    ]
    rare, other = sorted(labels, key=len)
    rare = rare[: size // 2]
    rows = rare + other[: size - len(rare)]
    first, second = zip(*(pairs[row] for row in sorted(rows)), strict=True)
    return list(first), list(second)


def _as_question(turns: Sequence[Turn]) -> str:
    return "\n".join([*(f"{speaker}: {text}" for speaker, text in turns), _QUESTION])
