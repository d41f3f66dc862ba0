"""Find questions with usable paraphrases of all their documents, with few requests."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from everycell.rag.answers import is_correct
from everycell.rag.paraphrases import Paraphrase
from everycell.rag.questions import Question

#: Number of questions in the first stretch, and between two checks whether there are enough.
STEP = 5
#: Number of questions to try before the search may be called hopeless.
FEWEST = 30


class Outlook(NamedTuple):
    """Outcome of the questions tried so far, and the expectation for the others."""

    tried: tuple[int, ...]
    passed: tuple[int, ...]
    candidates: int
    target: int

    @property
    def expected(self) -> float:
        """Expected number of questions with all their passages once all candidates are tried.

        For the others it uses the share so far, or the product of the shares of usable passages,
        whichever is larger: passages of one question may fail together.
        """
        relevant = self.passed[0] / self.tried[0]
        later = sum(self.passed[1:]) / max(1, sum(self.tried[1:]))
        product = relevant * later ** (len(self.tried) - 1)
        share = max(product, self.passed[-1] / self.tried[0])
        return self.passed[-1] + (self.candidates - self.tried[0]) * share

    @property
    def hopeless(self) -> bool:
        """Whether not even one question can be expected, after `FEWEST` questions or all."""
        return self.tried[0] >= min(FEWEST, self.candidates) and self.expected < 1

    def __str__(self) -> str:
        """One sentence, with advice if there will be too few.

        Examples
        --------
        >>> print(Outlook((10, 6), (6, 3), candidates=20, target=5))
        10 of 20 questions tried, 3 have all 2 passages: 6 of 10 relevant ones and 3 of 6 others \
can be used, so about 6 of 20 questions are to be expected.
        >>> str(Outlook((10, 6), (6, 3), candidates=20, target=9))[-122:]
        'but 9 are needed: name a better model, raise `attempts` or `candidates`, or lower `k`, \
under `attribution` in config.yaml.'
        """
        expected = f"{self.expected:.0f}" if self.expected >= 10 else f"{self.expected:.2g}"
        text = (
            f"{self.tried[0]} of {self.candidates} questions tried, {self.passed[-1]} have all "
            f"{len(self.tried)} passages: {self.passed[0]} of {self.tried[0]} relevant ones and "
            f"{sum(self.passed[1:])} of {sum(self.tried[1:])} others can be used, so about "
            f"{expected} of {self.candidates} questions are to be expected"
        )
        if self.expected >= self.target:
            return f"{text}."
        return (
            f"{text}, but {self.target} are needed: name a better model, raise `attempts` or "
            "`candidates`, or lower `k`, under `attribution` in config.yaml."
        )


def explain_no_questions(left_out: Mapping[str, int], usable: int, *, longest: int | None) -> str:
    """Say why no question can be tried, and what to do."""
    reasons = ", ".join(f"{fault}: {number}" for fault, number in left_out.items()) or "none"
    sentence = (
        f"no question can be tried, since {sum(left_out.values())} are left out for their passages "
        f"({reasons})"
    )
    if longest is None:
        return f"{sentence}: name another run."
    return (
        f"{sentence} and {usable} for passages of more than {longest} words: name another run, or "
        "raise `longest` under `attribution.paraphrases` in config.yaml."
    )


def paraphrase_questions(
    questions: Sequence[Question],
    paraphrase_again: Callable[[Sequence[str]], Sequence[Paraphrase]],
    answers: Mapping[str, Sequence[str]],
    *,
    target: int,
    report: Callable[[Outlook], None] = lambda outlook: None,
) -> tuple[list[str], list[Paraphrase]]:
    """Paraphrase the passages of questions until enough questions have all of theirs.

    Questions are taken in the given order and counted after every `STEP` of them. A stretch of
    steps is asked together: one step, then twice as many each time, but never more than must be
    tried even if all of them succeed. The requests and the result are thus those of one step at a
    time, however many requests run in parallel.
    """
    ordered = [_relevant_first(question) for question in questions]
    depth = len(ordered[0]) if ordered else 0
    paraphrases: dict[str, Paraphrase] = {}
    complete: list[str] = []
    # Number of passages checked, by the position of the question.
    reached = [0] * len(questions)
    tried, passed = [0] * depth, [0] * depth
    start, size = 0, STEP
    while start < len(questions) and len(complete) < target:
        needed = STEP * math.ceil((target - len(complete)) / STEP)
        left = list(range(len(questions))[start : start + min(size, needed)])
        start, size = left[-1] + 1, 2 * size
        for position in range(depth):
            names = dict.fromkeys(ordered[number][position] for number in left)
            new = [name for name in names if name not in paraphrases]
            paraphrases |= {paraphrase.id: paraphrase for paraphrase in paraphrase_again(new)}
            tried[position] += len(left)
            for number in left:
                reached[number] += 1
            left = [
                number
                for number in left
                if _usable(
                    paraphrases[ordered[number][position]],
                    () if position == 0 else answers[questions[number].id],
                )
            ]
            passed[position] += len(left)
        complete += [questions[number].id for number in left]
        report(Outlook(tuple(tried), tuple(passed), len(questions), target))
    # In the order in which single steps would make them.
    listed = dict.fromkeys(
        ordered[number][position]
        for first in range(0, start, STEP)
        for position in range(depth)
        for number in range(first, min(first + STEP, start))
        if reached[number] > position
    )
    return complete[:target], [paraphrases[name] for name in listed]


def _relevant_first(question: Question) -> list[str]:
    documents = list(question.documents)
    return [documents.pop(question.gold - 1), *documents]


def _usable(paraphrase: Paraphrase, forbidden: Sequence[str]) -> bool:
    # A model may write the answer into a passage that did not have it.
    return not paraphrase.reason and not (forbidden and is_correct(paraphrase.text, forbidden))
