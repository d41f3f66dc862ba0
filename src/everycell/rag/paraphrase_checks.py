"""Check whether a text is still a paraphrase of another one.

The checks (`fault`) use words normalised as in SQuAD, except for names:

- the answers in the original are still there,
- at most `Limits.copied` of its five-word sequences are from the original,
- it has between `Limits.shortest` and `Limits.longest` times the words of the original,
- it adds no number and no name (a word with a capital letter inside a sentence).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from everycell.language_models.generation import Answer
from everycell.rag.answers import is_correct, normalise_answer

#: Length, in words, of the sequences that a paraphrase may share with its original.
SEQUENCE = 5
#: Length, in words, of a quotation that a rejected text must not pass on.
QUOTED = 8
# Prefix of the reason in `finish` of an answer whose text is not passed on.
_WITHHELD = "withheld: "
#: Why a text is not a paraphrase -> meaning.
FAULTS = {
    "empty": "there is no word",
    "refusal": "the model declines, or speaks of itself",
    "cut": "the answer exceeded the allowed length",
    "answer lost": "an answer in the original is no longer there",
    "copy": "too many five-word sequences are from the original",
    "too short": "too few words for the original",
    "too long": "too many words for the original",
    "made up": "a number or a name is not in the original",
}
_QUOTES = "\"'“”‘’«» \t"
# Prefixes that small models put before a text; a colon in the text itself is kept.
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
# Characters before the first word of a sentence.
_ENDED = re.compile(r"[.!?:][\"'“”‘’«»()\s]*$")


class Limits(NamedTuple):
    """Limits on a paraphrase."""

    copied: float = 0.5
    shortest: float = 0.5
    longest: float = 2.0


LIMITS = Limits()


def clean_answer(text: str, *, keep_all: bool = False) -> str:
    """Extract the paraphrase from an answer, without its framing."""
    body = _LEAD.sub("", text.strip().strip(_QUOTES))
    if keep_all:
        return " ".join(body.strip(_QUOTES).split())
    line = next((line for line in body.splitlines() if normalise_answer(line)), "")
    return " ".join(line.strip(_QUOTES).split())


def copied_share(text: str, original: str) -> float:
    """Share of a text's five-word sequences that occur in another text, both normalised."""
    words, original_words = (normalise_answer(part).split() for part in (text, original))
    size = min(SEQUENCE, len(words))
    if not size:
        return 0.0
    original_sequences = set(_sequences(original_words, size))
    sequences = _sequences(words, size)
    return sum(sequence in original_sequences for sequence in sequences) / len(sequences)


def _sequences(words: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + size]) for start in range(len(words) - size + 1)]


def answers_in(text: str, answers: Sequence[str]) -> list[str]:
    """Answers that occur in a text, both normalised.

    Examples
    --------
    >>> answers_in("It has canals.", ["Canals", "the", "a canal"])
    ['Canals']
    """
    return [answer for answer in answers if normalise_answer(answer) and is_correct(text, [answer])]


def fault(text: str, original: str, answers: Sequence[str], limits: Limits = LIMITS) -> str:
    """Why a text is not a paraphrase of another one."""
    words = normalise_answer(text).split()
    if not words:
        return "empty"
    if _REFUSAL.search(text.replace("’", "'")):
        return "refusal"
    expected = answers_in(original, answers)
    if len(answers_in(text, expected)) < len(expected):
        return "answer lost"
    if copied_share(text, original) > limits.copied:
        return "copy"
    length = len(words) / max(1, len(normalise_answer(original).split()))
    if length < limits.shortest:
        return "too short"
    if length > limits.longest:
        return "too long"
    return "made up" if added_numbers_and_names(text, original) else ""


def added_numbers_and_names(text: str, original: str) -> list[str]:
    """Numbers and names of a text that do not occur in another one.

    A name is a word with a capital letter that does not begin a sentence, in any case in the other
    text. Small models mostly make up years and names.
    """
    original_words = set(_WORD.findall(original.casefold()))
    additions = []
    for match in _WORD.finditer(text):
        word = match[0]
        first = not text[: match.start()].strip(_QUOTES + "(") or _ENDED.search(
            text[: match.start()]
        )
        counts = word[0].isdigit() or (word[0].isupper() and not first)
        if counts and word.casefold() not in original_words:
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
    """Extract the paraphrase from an answer, and say what is wrong with it.

    Examples
    --------
    >>> judge(Answer(text="Delft it is.", finish="length"), "It is in Delft.", [])
    ('Delft it is.', 'cut')
    """
    text = clean_answer(answer.text, keep_all=keep_all)
    if answer.finish.startswith(_WITHHELD):
        return text, answer.finish.removeprefix(_WITHHELD)
    if answer.finish == "refusal":
        return text, "refusal"
    if answer.finish == "length":
        return text, "cut"
    return text, fault(text, original, answers, limits)


def passed_on(answer: Answer, original: str, reason: str) -> Answer:
    """An answer as a record may pass it on: a rejected text must not quote its passage."""
    words, original_words = (normalise_answer(part).split() for part in (answer.text, original))
    quoted = set(_sequences(words, QUOTED)) & set(_sequences(original_words, QUOTED))
    if not reason or not quoted:
        return answer
    return Answer(text="", finish=f"{_WITHHELD}{reason}")
