"""Terms by KStem, as Elasticsearch's standard tokenizer, lower case, stop words and KStem give.

KStem (Krovetz 1993) is Lucene's, from pyserini's jar. Unlike Porter's stemmer it looks words up in
a dictionary, so "cities" becomes "city", and "reading" stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from types import SimpleNamespace

from everycell.retrieval.java import java_classes, join_terms, lucene_classes
from everycell.text.tokenise import Tokeniser, lower, standard_tokens

# Number of stems that are remembered.
_REMEMBERED = 1 << 20


def kstem_tokeniser(stop_words: Collection[str]) -> Tokeniser:
    """Tokeniser that removes these stop words and stems the other words."""
    removed, stems = frozenset(stop_words), dict[str, str]()

    def tokenise(texts: Sequence[str]) -> list[list[str]]:
        words_by_text = [
            [word for word in map(lower, standard_tokens(text)) if word not in removed]
            for text in texts
        ]
        unknown = {word for words in words_by_text for word in words} - stems.keys()
        if len(stems) + len(unknown) > _REMEMBERED:
            stems.clear()
            unknown = {word for words in words_by_text for word in words}
        stems.update(zip(unknown, kstem(list(unknown)), strict=True))
        return [[stems[word] for word in words] for words in words_by_text]

    return tokenise


def kstem(words: Sequence[str]) -> list[str]:
    """Stem of each word, which has no white space and at most 255 characters."""
    java, lucene = _classes(), lucene_classes()
    return java.AnalyzerUtils.analyze(java.analyser, lucene.text(join_terms(words))).toArray()


@cache
def _classes() -> SimpleNamespace:
    java = SimpleNamespace(
        **java_classes(
            {
                "io.anserini.analysis": "AnalyzerUtils",
                "java.util": "HashMap",
                "org.apache.lucene.analysis.custom": "CustomAnalyzer",
            }
        )
    )
    builder = java.CustomAnalyzer.builder().withTokenizer("whitespace", java.HashMap())
    java.analyser = builder.addTokenFilter("kstem", java.HashMap()).build()
    return java
