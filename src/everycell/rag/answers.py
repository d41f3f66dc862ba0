"""Correctness of generated answers: exact match with normalised gold answers.

A full sentence never equals a gold answer of two words, so an answer that *contains* a gold answer
is correct (abolghasemi2026, section 5.3.3, after Gao et al. 2023). The text gives no details. The
authors' library searches the answer for the characters of a gold answer, in lower case and without
punctuation: `Match` "substring". It keeps articles, a match may start inside a word, and the number
of a citation can match a gold answer.
"""

from __future__ import annotations

import re
import string
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from everycell.language_models.reasoning import without_reasoning

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")

_SYMBOLS = re.compile(r"[^\w\s]")

#: Ways to match a gold answer: its characters anywhere, its words, or the complete answer.
Match = Literal["substring", "words", "whole"]
MATCHES = ("substring", "words", "whole")


# Interventions repeat the same passages and statements. The cache takes about 10 MB.
@lru_cache(maxsize=5_000)
def normalise_answer(text: str) -> str:
    """Normalise text as SQuAD does."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def without_punctuation(text: str) -> str:
    """Normalise text as the library of abolghasemi2026 does: articles are kept."""
    return " ".join(_SYMBOLS.sub("", text.lower()).split())


def usable_answers(gold: Sequence[str], *, match: Match = "words") -> list[str]:
    """Gold answers that are not empty after normalisation.

    Examples
    --------
    >>> usable_answers(["The", "-", "The Hague"])
    ['The Hague']
    >>> usable_answers(["The", "-"], match="substring")
    ['The']
    """
    normalise = _normaliser(match)
    return [answer for answer in gold if normalise(answer)]


def _normaliser(match: Match) -> Callable[[str], str]:
    """Normalisation for a way of matching."""
    if match not in MATCHES:
        raise ValueError(f"match is {match!r}; expected one of {', '.join(MATCHES)}.")
    return without_punctuation if match == "substring" else normalise_answer


def is_correct(output: str, gold: Sequence[str], *, match: Match = "words") -> bool:
    """Whether an answer, without its reasoning, matches a gold answer, both normalised."""
    normalise = _normaliser(match)
    answers = [normalise(answer) for answer in usable_answers(gold, match=match)]
    if not answers:
        raise ValueError(
            f"Normalisation leaves no words of the gold answers {list(gold)}; give an answer with "
            "at least one word, or exclude the question."
        )
    normalised = normalise(without_reasoning(output))
    if match == "whole":
        return normalised in answers
    if match == "substring":
        return any(answer in normalised for answer in answers)
    return any(f" {answer} " in f" {normalised} " for answer in answers)


def passages_with_answers(
    passages: Mapping[str, str], questions: Mapping[str, Sequence[str]]
) -> list[tuple[str, str]]:
    """Pairs of a question and a passage that contains the words of one of its answers."""
    texts = {name: f" {normalise_answer(text)} " for name, text in passages.items()}
    # Only texts with all words of an answer are searched: all pairs would take minutes.
    names_by_word = defaultdict[str, set[str]](set)
    for name, text in texts.items():
        for word in text.split():
            names_by_word[word].add(name)
    position_of = {name: position for position, name in enumerate(texts)}
    pairs = []
    for question, answers in questions.items():
        names = set()
        for answer in filter(None, map(normalise_answer, answers)):
            candidates = set.intersection(
                *(names_by_word.get(word, set()) for word in answer.split())
            )
            names |= {name for name in candidates if f" {answer} " in texts[name]}
        pairs += [(question, name) for name in sorted(names, key=position_of.__getitem__)]
    return pairs
