"""Find questions with usable paraphrases of all their documents, using few requests."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from everycell.rag.answers import is_correct
from everycell.rag.paraphrases import Paraphrase
from everycell.rag.questions import Question

#: Number of questions in the first round; later rounds are multiples of it.
STEP = 5
#: Number of questions to try before a search is considered hopeless.
FEWEST = 30


class Outlook(NamedTuple):
    """Outcome of the questions tried so far, and a projection for the others."""

    tried: tuple[int, ...]
    passed: tuple[int, ...]
    candidates: int
    target: int

    @property
    def expected(self) -> float:
        """Expected number of complete questions after all candidates are tried.

        The success rate of the other candidates is estimated as the rate so far, or as the product
        of the rates of their passages if that is larger (passages of a question may fail together).
        """
        relevant = self.passed[0] / self.tried[0]
        later = sum(self.passed[1:]) / max(1, sum(self.tried[1:]))
        product = relevant * later ** (len(self.tried) - 1)
        share = max(product, self.passed[-1] / self.tried[0])
        return self.passed[-1] + (self.candidates - self.tried[0]) * share

    @property
    def hopeless(self) -> bool:
        """Whether fewer than one question is expected, after `FEWEST` or all questions."""
        return self.tried[0] >= min(FEWEST, self.candidates) and self.expected < 1

    def __str__(self) -> str:
        """Summary in one sentence, with advice if too few questions are expected."""
        expected = f"{self.expected:.0f}" if self.expected >= 10 else f"{self.expected:.2g}"
        text = (
            f"{self.tried[0]} of {self.candidates} questions tried, {self.passed[-1]} have usable "
            f"paraphrases of all passages: {self.passed[0]} of {self.tried[0]} relevant passages "
            f"and {sum(self.passed[1:])} of {sum(self.tried[1:])} others can be used, so about "
            f"{expected} of {self.candidates} questions are expected"
        )
        if self.expected >= self.target:
            return f"{text}."
        return (
            f"{text}, but {self.target} are needed: use a better model, raise `attempts` or "
            "`candidates`, or lower `k`, under `attribution` in config.yaml."
        )


def explain_no_questions(left_out: Mapping[str, int], usable: int, *, longest: int | None) -> str:
    """Explain why no question can be tried, and what to do."""
    reasons = ", ".join(f"{fault}: {number}" for fault, number in left_out.items()) or "none"
    sentence = (
        f"no question can be tried: {sum(left_out.values())} are excluded because of their "
        f"passages ({reasons})"
    )
    if longest is None:
        return f"{sentence}; use another run."
    return (
        f"{sentence} and {usable} because of passages of more than {longest} words; use another "
        "run, or raise `longest` under `attribution.paraphrases` in config.yaml."
    )


def paraphrase_questions(
    questions: Sequence[Question],
    paraphrase_again: Callable[[Sequence[str]], Sequence[Paraphrase]],
    answers: Mapping[str, Sequence[str]],
    *,
    target: int,
    report: Callable[[Outlook], None] = lambda outlook: None,
) -> tuple[list[str], list[Paraphrase]]:
    """Paraphrase the passages of questions until enough questions are complete.

    Questions are tried in the given order, in rounds whose requests are sent together. Each round
    is twice as large as the previous one, starting with `STEP`, but not larger than needed if all
    of its questions succeed. The requests and the result are the same as if every round had `STEP`
    questions.
    """
    ordered = [_relevant_first(question) for question in questions]
    depth = len(ordered[0]) if ordered else 0
    paraphrases: dict[str, Paraphrase] = {}
    complete: list[str] = []
    # Number of checked passages, by the position of the question.
    checked = [0] * len(questions)
    tried, passed = [0] * depth, [0] * depth
    start, size = 0, STEP
    while start < len(questions) and len(complete) < target:
        needed = STEP * math.ceil((target - len(complete)) / STEP)
        active = list(range(len(questions))[start : start + min(size, needed)])
        start, size = active[-1] + 1, 2 * size
        for position in range(depth):
            names = dict.fromkeys(ordered[number][position] for number in active)
            new = [name for name in names if name not in paraphrases]
            paraphrases |= {paraphrase.id: paraphrase for paraphrase in paraphrase_again(new)}
            tried[position] += len(active)
            for number in active:
                checked[number] += 1
            active = [
                number
                for number in active
                if _is_usable(
                    paraphrases[ordered[number][position]],
                    () if position == 0 else answers[questions[number].id],
                )
            ]
            passed[position] += len(active)
        complete += [questions[number].id for number in active]
        report(Outlook(tuple(tried), tuple(passed), len(questions), target))
    # In the order of rounds of `STEP` questions.
    names = dict.fromkeys(
        ordered[number][position]
        for first in range(0, start, STEP)
        for position in range(depth)
        for number in range(first, min(first + STEP, start))
        if checked[number] > position
    )
    return complete[:target], [paraphrases[name] for name in names]


def _relevant_first(question: Question) -> list[str]:
    documents = list(question.documents)
    return [documents.pop(question.gold - 1), *documents]


def _is_usable(paraphrase: Paraphrase, forbidden: Sequence[str]) -> bool:
    # A model may add the answer to a passage that did not contain it.
    return not paraphrase.reason and not (
        forbidden and is_correct(paraphrase.text, forbidden, match="squad")
    )
