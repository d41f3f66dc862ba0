"""Checks of the paraphrases of chapter 5 of abolghasemi2026 by a language model.

The checks (`fault`) use words normalised as in SQuAD, except for names:

- the text contains all answers that the original contains,
- at most a share `Limits.copied` of its five-word sequences occurs in the original,
- it has between `Limits.shortest` and `Limits.longest` times as many words as the original,
- it adds no number and no name (a capitalised word inside a sentence).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from everycell.language_models.endings import WITHHELD
from everycell.language_models.generation import Answer
from everycell.language_models.reasoning import without_reasoning
from everycell.rag.answers import answers_in, normalise_as_squad

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
