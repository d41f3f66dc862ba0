"""Use a language model to paraphrase documents.

A study of attribution needs each document twice: as people wrote it, and as paraphrased by a
language model (abolghasemi2026, section 5.4). The checks of a paraphrase (`fault`) use words
normalised as in SQuAD, except for names:

- the text contains all answers that the original contains,
- at most a share `Limits.copied` of its five-word sequences occurs in the original,
- it has between `Limits.shortest` and `Limits.longest` times as many words as the original,
- it adds no number and no name (a capitalised word inside a sentence).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Literal, NamedTuple

import pandas as pd

from everycell.language_models import templates
from everycell.language_models.endings import WITHHELD
from everycell.language_models.generation import Answer, Request
from everycell.language_models.reasoning import without_reasoning
from everycell.language_models.settings import Decoding
from everycell.rag.answers import answers_in, is_correct, normalise_as_squad
from everycell.rag.prompts import Question
from everycell.text.sentences import sentence_spans

#: Length, in words, of the sequences that are compared with the original.
SEQUENCE = 5
#: Reason why a text is not a paraphrase -> explanation.
FAULTS = {
    "empty": "no words",
    "refusal": "the model declines or talks about itself",
    "cut": "the answer exceeded the allowed length",
    "answer lost": "an answer in the original is missing",
    "copy": "too many five-word sequences of the original",
    "too short": "too few words compared with the original",
    "too long": "too many words compared with the original",
    "made up": "a number or name that is not in the original",
}
_QUOTES = "\"'“”‘’«» \t"
# Introductions of small models; a colon in the text itself is kept.
_LEAD = re.compile(
    r"^(?:sure|certainly|of course|here(?: is|'s)|paraphrase|rewritten|rephrased)\b"
    r"[^.:?\n]{0,80}:\s*",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:as an ai\b|i am an? (?:ai|language)\b|i'm an? (?:ai|language)\b|language model\b"
    r"|i(?:'m| am) sorry\b|i (?:can ?not|can't|won't|am unable to|'m unable to)\b"
    r"|(?:the|this) (?:sentence|passage|text) (?:is|was|has been) (?:rewritten|rephrased))",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
# Characters between two sentences.
_SENTENCE_END = re.compile(r"[.!?:][\"'“”‘’«»()\s]*$")


class Limits(NamedTuple):
    """Limits on a paraphrase."""

    copied: float = 0.5
    shortest: float = 0.5
    longest: float = 2.0


LIMITS = Limits()


def clean_answer(text: str, *, keep_all: bool = False) -> str:
    """Extract the paraphrase from an answer, without introduction and quotation marks."""
    body = _LEAD.sub("", text.strip().strip(_QUOTES))
    if keep_all:
        return " ".join(body.strip(_QUOTES).split())
    line = next((line for line in body.splitlines() if normalise_as_squad(line)), "")
    return " ".join(line.strip(_QUOTES).split())


def copied_share(text: str, original: str) -> float:
    """Share of a text's five-word sequences that occur in another text, both normalised."""
    words, original_words = (normalise_as_squad(part).split() for part in (text, original))
    size = min(SEQUENCE, len(words))
    if not size:
        return 0.0
    original_sequences = set(_sequences(original_words, size))
    sequences = _sequences(words, size)
    return sum(sequence in original_sequences for sequence in sequences) / len(sequences)


def _sequences(words: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + size]) for start in range(len(words) - size + 1)]


def fault(text: str, original: str, answers: Sequence[str], limits: Limits = LIMITS) -> str:
    """Reason why a text is not a paraphrase of the original ("" if it is one)."""
    words = normalise_as_squad(text).split()
    if not words:
        return "empty"
    if _REFUSAL.search(text.replace("’", "'")):
        return "refusal"
    expected = answers_in(original, answers)
    if len(answers_in(text, expected)) < len(expected):
        return "answer lost"
    if copied_share(text, original) > limits.copied:
        return "copy"
    length = len(words) / max(1, len(normalise_as_squad(original).split()))
    if length < limits.shortest:
        return "too short"
    if length > limits.longest:
        return "too long"
    return "made up" if added_numbers_and_names(text, original) else ""


def added_numbers_and_names(text: str, original: str) -> list[str]:
    """Numbers and names of a text that do not occur in the original.

    A name is a capitalised word that does not begin a sentence; its case in the original does not
    matter. Small models mostly invent years and names.
    """
    original_words = set(_WORD.findall(original.casefold()))
    additions = []
    for match in _WORD.finditer(text):
        word = match[0]
        before = text[: match.start()]
        begins_sentence = not before.strip(_QUOTES + "(") or _SENTENCE_END.search(before)
        is_number_or_name = word[0].isdigit() or (word[0].isupper() and not begins_sentence)
        if is_number_or_name and word.casefold() not in original_words:
            additions.append(word)
    return additions


def judge(
    answer: Answer,
    original: str,
    answers: Sequence[str],
    limits: Limits = LIMITS,
    *,
    keep_all: bool = False,
) -> tuple[str, str]:
    """Extract the paraphrase from an answer, and the reason why it cannot be used."""
    text = clean_answer(without_reasoning(answer.text), keep_all=keep_all)
    if answer.finish.startswith(WITHHELD):
        return text, answer.finish.removeprefix(WITHHELD)
    if answer.finish == "refusal":
        return text, "refusal"
    if answer.finish == "length":
        return text, "cut"
    return text, fault(text, original, answers, limits)


#: Unit of text per prompt.
Unit = Literal["sentence", "passage"]
_FOLDER = Path(__file__).parent / "templates"
#: Our templates; the one for sentences has invented examples.
TEMPLATES: Mapping[Unit, Path] = {
    "sentence": _FOLDER / "paraphrase.txt",
    "passage": _FOLDER / "paraphrase_passage.txt",
}
SLOTS: templates.Slots = {"passage": ("the text to paraphrase", True)}


class Passage(NamedTuple):
    """A passage to paraphrase, without its title, and the answers that it must keep."""

    id: str
    text: str
    answers: tuple[str, ...]


class Paraphrase(NamedTuple):
    """Paraphrase of a passage; `reason` says why it cannot be used ("" if it can)."""

    id: str
    text: str
    attempt: int
    reason: str


def read_template(path: Path = TEMPLATES["sentence"]) -> Template:
    """Read a template with the slots `SLOTS`."""
    return templates.read_template(path, SLOTS, last="passage")


def attempts(
    first: Decoding, *, number: int, temperature: float, top_p: float, seed: int
) -> list[Decoding]:
    """Decoding parameters of each attempt: `first`, then sampling with different seeds."""
    sampled = [
        first.model_copy(update={"temperature": temperature, "top_p": top_p, "seed": seed + offset})
        for offset in range(number - 1)
    ]
    return [first, *sampled]


def paraphrase_all(
    passages: Sequence[Passage],
    ask: Callable[[Sequence[Request]], Sequence[Answer]],
    template: Template,
    decodings: Sequence[Decoding],
    limits: Limits = LIMITS,
    *,
    unit: Unit = "sentence",
    report: Callable[[Request, str, str], None] = lambda request, sentence, reason: None,
) -> list[Paraphrase]:
    """Paraphrase passages, trying the decodings in order until a text passes the checks."""
    sentences = {
        (index, number): passage.text[start:end]
        for index, passage in enumerate(passages)
        for number, (start, end) in enumerate(_spans(passage.text, unit))
    }
    texts: dict[tuple[int, int], str] = {}
    reasons: dict[tuple[int, int], str] = {}
    attempt_counts = dict.fromkeys(sentences, 0)
    for decoding in decodings:
        pending = [name for name in sentences if name not in texts]
        requests = [
            Request(prompt=templates.fill(template, passage=sentences[name]), decoding=decoding)
            for name in pending
        ]
        for name, request, answer in zip(pending, requests, ask(requests), strict=True):
            attempt_counts[name] += 1
            text, reasons[name] = judge(
                answer,
                sentences[name],
                passages[name[0]].answers,
                limits,
                keep_all=unit == "passage",
            )
            report(request, sentences[name], reasons[name])
            if not reasons[name]:
                texts[name] = text
    paraphrases = []
    for index, passage in enumerate(passages):
        units = [name for name in sentences if name[0] == index]
        text = " ".join(texts[name] for name in units if name in texts)
        problem = fault(text, passage.text, passage.answers, limits)
        # For an empty text, the reason for rejecting its first unit is more informative.
        if not text and units:
            problem = reasons[units[0]]
        attempt = max((attempt_counts[name] for name in units), default=0)
        paraphrases.append(Paraphrase(passage.id, text, attempt, problem))
    return paraphrases


def _spans(text: str, unit: Unit) -> list[tuple[int, int]]:
    """Start and end of each unit of a text."""
    return [(0, len(text))] if unit == "passage" else list(sentence_spans(text))


def paraphrases_frame(paraphrases: Sequence[Paraphrase]) -> pd.DataFrame:
    """Paraphrases as a frame that can be stored as Parquet."""
    frame = pd.DataFrame(paraphrases, columns=["document_id", "text", "attempt", "reason"])
    frame.insert(3, "kept", frame["reason"] == "")
    return frame


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
