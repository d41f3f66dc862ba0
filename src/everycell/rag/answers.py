"""Correctness of generated answers: exact match with normalised gold answers.

A full sentence never equals a gold answer of two words, so an answer that *contains* a gold answer
counts (abolghasemi2026, section 5.3.3, after Gao et al. 2023). The text gives no details. Its
authors' library searches for the characters of a gold answer, in lower case and without
punctuation, in the whole answer: `Match` "substring". There articles are kept, a match may start
inside a word, and the number of a citation can match as a right answer.
"""

from __future__ import annotations

import re
import string
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")

_NEITHER_WORD_NOR_BLANK = re.compile(r"[^\w\s]")

#: Ways to match a gold answer: its characters anywhere, its words, or the whole answer.
Match = Literal["substring", "words", "whole"]
MATCHES = ("substring", "words", "whole")


# Interventions ask for the same passages and statements again and again. So many passages take some
# 10 MB.
@lru_cache(maxsize=5_000)
def normalise_answer(text: str) -> str:
    """Normalise text as SQuAD does."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def without_punctuation(text: str) -> str:
    """Normalise text as the library of abolghasemi2026 does: articles are kept."""
    return " ".join(_NEITHER_WORD_NOR_BLANK.sub("", text.lower()).split())


def usable_answers(gold: Sequence[str], *, match: Match = "words") -> list[str]:
    """Gold answers that are not empty after normalisation.

    Examples
    --------
    >>> usable_answers(["The", "-", "The Hague"])
    ['The Hague']
    >>> usable_answers(["The", "-"], match="substring")
    ['The']
    """
    normal = _normaliser(match)
    return [answer for answer in gold if normal(answer)]


def _normaliser(match: Match) -> Callable[[str], str]:
    """Normaliser of text for a way to match."""
    if match not in MATCHES:
        raise ValueError(f"match is {match!r}; give one of {', '.join(MATCHES)}.")
    return without_punctuation if match == "substring" else normalise_answer


def is_correct(output: str, gold: Sequence[str], *, match: Match = "words") -> bool:
    """Whether an answer matches one of the gold answers, both normalised."""
    normal = _normaliser(match)
    answers = [normal(answer) for answer in usable_answers(gold, match=match)]
    if not answers:
        raise ValueError(
            f"Normalisation leaves no words of the gold answers {list(gold)}; give an answer with "
            "at least one word, or leave the question out."
        )
    normalised = normal(output)
    if match == "whole":
        return normalised in answers
    if match == "substring":
        return any(answer in normalised for answer in answers)
    return any(f" {answer} " in f" {normalised} " for answer in answers)


def answer_holders(
    passages: Mapping[str, str], questions: Mapping[str, Sequence[str]]
) -> list[tuple[str, str]]:
    """Find the passages of a pool that contain an answer to each question, by their words."""
    texts = {name: f" {normalise_answer(text)} " for name, text in passages.items()}
    # Only texts with all words of an answer are searched: all pairs would take minutes.
    having = defaultdict[str, set[str]](set)
    for name, text in texts.items():
        for word in text.split():
            having[word].add(name)
    number_of = {name: number for number, name in enumerate(texts)}
    holders = []
    for question, answers in questions.items():
        numbers = set()
        for answer in filter(None, map(normalise_answer, answers)):
            likely = set.intersection(*(having.get(word, set()) for word in answer.split()))
            numbers |= {name for name in likely if f" {answer} " in texts[name]}
        holders += [(question, name) for name in sorted(numbers, key=number_of.__getitem__)]
    return holders
