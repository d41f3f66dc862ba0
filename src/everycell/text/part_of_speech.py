"""Part-of-speech tags of English words by an averaged perceptron, as NLTK's `pos_tag` gives them.

The weights are NLTK's, converted from its pickle to JSON: weights per feature and tag, the tags,
and the words that always have the same tag. Sources: Honnibal's averaged perceptron, as in
`nltk.tag.perceptron`; the Treebank's tokenisation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from everycell.base.untrusted import read_json
from everycell.text.sentences import sentence_spans

_TOKEN = re.compile(
    r"""
    (?i:n['’]t|['’](?:s|m|d|ll|re|ve))(?!\w)    # the end of a contraction
    |[^\W_]+?(?=n['’]t(?!\w))                   # its beginning
    |[^\W_]+(?:[-.,/][^\W_]+)*                  # words, numbers, compounds
    |\.{2,}|--+|[^\w\s]|_+
    """,
    re.VERBOSE,
)
_BEFORE, _AFTER = ("-START-", "-START2-"), ("-END-", "-END2-")


@dataclass(frozen=True)
class Tagger:
    """Weights of the perceptron, and what it knows without them."""

    weights: Mapping[str, Mapping[str, float]]
    #: Words that always have the same tag.
    tagdict: Mapping[str, str]
    classes: Sequence[str]

    def tag(self, words: Sequence[str]) -> list[str]:
        """Tag the words of a sentence."""
        previous, tags = list(_BEFORE), []
        context = [*_BEFORE, *map(_normalise, words), *_AFTER]
        for index, word in enumerate(words):
            tag = self.tagdict.get(word) or self._best(
                _features(word, context[index : index + 5], previous)
            )
            tags.append(tag)
            previous = [tag, previous[0]]
        return tags

    def _best(self, features: Sequence[str]) -> str:
        scores = dict.fromkeys(self.classes, 0.0)
        for feature in features:
            for tag, weight in self.weights.get(feature, {}).items():
                scores[tag] += weight
        return max(scores, key=lambda tag: (scores[tag], tag))


def read_tagger(path: Path | str) -> Tagger:
    """Read the weights of a tagger."""
    return Tagger(**read_json(path))


def tagged_words(text: str, tagger: Tagger) -> dict[tuple[int, int], str]:
    """Tag of each token of a text, by its start and end, sentence by sentence."""
    tags = {}
    for start, end in sentence_spans(text):
        spans = [match.span() for match in _TOKEN.finditer(text, start, end)]
        words = [text[first:last] for first, last in spans]
        tags |= dict(zip(spans, tagger.tag(words), strict=True))
    return tags


def _normalise(word: str) -> str:
    if "-" in word and word[0] != "-":
        return "!HYPHEN"
    if word.isdigit() and len(word) == 4:
        return "!YEAR"
    return "!DIGITS" if word[0].isdigit() else word.lower()


def _features(word: str, context: Sequence[str], previous: Sequence[str]) -> list[str]:
    """Features of a word, whose normalised form is in the middle of five."""
    before_last, last, this, following, after_next = context
    tag, tag_before = previous
    return [
        "bias",
        f"i suffix {word[-3:]}",
        f"i pref1 {word[0]}",
        f"i-1 tag {tag}",
        f"i-2 tag {tag_before}",
        f"i tag+i-2 tag {tag} {tag_before}",
        f"i word {this}",
        f"i-1 tag+i word {tag} {this}",
        f"i-1 word {last}",
        f"i-1 suffix {last[-3:]}",
        f"i-2 word {before_last}",
        f"i+1 word {following}",
        f"i+1 suffix {following[-3:]}",
        f"i+2 word {after_next}",
    ]
