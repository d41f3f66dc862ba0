"""Lemmas of nuggets for latent semantic analysis in chapter 6 of lajewska2025.

The code of lajewska2025, chapter 6, keeps letters and "#", and lemmatises with NLTK; stop words and
words of up to three letters are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

#: Endings of English nouns and their replacements, as in WordNet's Morphy.
_ENDINGS = (
    ("s", ""),
    ("ses", "s"),
    ("ves", "f"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
)
_WORD = re.compile(r"[A-Za-z#]+")
#: Words with fewer letters are left out.
_LETTERS = 4


def noun_lemma(word: str, nouns: frozenset[str], exceptions: Mapping[str, list[str]]) -> str:
    """Shortest noun of WordNet of which a word may be a form; the word itself without one.

    NLTK's `WordNetLemmatizer` gives the same for its default part of speech.
    """
    if word in exceptions:
        forms = [form for form in (word, *exceptions[word]) if form in nouns]
        return min(forms, key=len) if forms else word
    forms, candidates = [word], [word]
    while forms:
        forms = [
            form[: -len(ending)] + replacement
            for form in forms
            for ending, replacement in _ENDINGS
            if form.endswith(ending)
        ]
        candidates += forms
        if lemmas := [form for form in candidates if form in nouns]:
            return min(lemmas, key=len)
        candidates = []
    return word


def lemmatiser(files: Any) -> Callable[[str], list[str]]:
    """Function that returns the terms of a text, from files of stop words, nouns and exceptions."""
    stop_words = frozenset(_lines(files.stop_words))
    nouns = frozenset(_lines(files.nouns))
    exceptions = {word: forms for word, *forms in map(str.split, _lines(files.exceptions))}

    def terms(text: str) -> list[str]:
        lemmas = (noun_lemma(word, nouns, exceptions) for word in _WORD.findall(text.lower()))
        return [lemma for lemma in lemmas if lemma not in stop_words and len(lemma) >= _LETTERS]

    return terms


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()
