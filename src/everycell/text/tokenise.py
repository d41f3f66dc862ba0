"""Five tokenisations of abolghasemi2026 (Table 2.2), from texts to lists of index terms.

=============  ========================================  ==========  ==============
name           tokenizer                                 lower case  Porter stemmer
=============  ========================================  ==========  ==============
SA             Elasticsearch's standard tokenizer        yes         no
STM1           Elasticsearch's whitespace tokenizer      yes         yes
STM2           Elasticsearch's standard tokenizer        yes         yes
BERT-Token     word pieces of BERT                       yes         no
SciBERT-Token  word pieces of SciBERT                    yes         no
=============  ========================================  ==========  ==============

Terms do not contain white space as Java defines it, so they can be joined with spaces and indexed
unchanged.

A character separates two tokens, is a part of a token, or is removed, which joins its neighbours.
The column "blank" is for comparison: it is not one of the five, but the default of
`everycell.metrics.term_counts.count_terms`, which first removes the characters of the last two
rows; inside a word, it keeps joiners and replaces U+200B by a space.

========================================  =========  =========  =========  =============
character                                 blank      SA, STM2   STM1       BERT, SciBERT
========================================  =========  =========  =========  =============
space, tab, LF, CR, other Unicode spaces  separates  separates  separates  separates
no-break spaces U+00A0, U+2007, U+202F    separates  separates  is a part  separates
next line U+0085                          separates  separates  is a part  removed
VT, FF, U+001C to U+001F                  separates  separates  separates  removed
zero-width space U+200B                   is a part  separates  is a part  removed
soft hyphen, joiners, byte order mark     is a part  is a part  is a part  removed
========================================  =========  =========  =========  =============

SA and STM2 follow the grammar of Lucene's StandardTokenizer, with three exceptions:

- Character classes are those of the `regex` package, whereas Lucene uses Unicode 9 (with newer
  emoji). So letters and emoji that were added later are recognised here.
- A token of more than 255 characters is cut every 255 code points. Lucene counts UTF-16 units and
  looks for punctuation again after each cut.
- A letter that is also an emoji (U+2139) and starts an emoji sequence is treated as a word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, groupby
from pathlib import Path
from typing import Literal

import regex
import Stemmer
from tokenizers import BertWordPieceTokenizer

from everycell.base.errors import DataError

#: Names in Table 2.2 of abolghasemi2026, in the same order.
Name = Literal["SA", "STM1", "STM2", "BERT-Token", "SciBERT-Token"]
Tokeniser = Callable[[Sequence[str]], list[list[str]]]

#: Registry keys of the vocabulary files.
VOCABULARIES: Mapping[Name, str] = {
    "BERT-Token": "wordpiece-vocab/bert-base-uncased-vocab.txt",
    "SciBERT-Token": "wordpiece-vocab/scibert-scivocab-uncased-vocab.txt",
}
#: Longest token of Lucene's tokenizers; longer ones are cut.
LONGEST = 255

# The results of a batch are larger than its texts, so the number of texts per batch is limited.
_BATCH = 1000

#: Text without Java's white space (Character.isWhitespace). Unlike that of `str.split`, this does
#: not include no-break spaces and U+0085.
JAVA_TOKEN = re.compile(
    r"[^\t-\r\x1c-\x20\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]+"
)
# Both patterns also match, outside their group, a run of underscores that no letter or digit
# follows; the second also one of joiners without an emoji. The match yields "", and the run is read
# only once. The group of the first pattern is not
# possessive, because Python 3.11.4 and earlier match such a group wrongly; nothing follows it, so
# there is no backtracking.
_ASCII_TOKEN = re.compile(
    r"""( _*+ [A-Za-z0-9]
          (?: [A-Za-z0-9_]++
            | (?<=[A-Za-z]) [:.'] (?=[A-Za-z])
            | (?<=[0-9]) [,;.'] (?=[0-9])
          )*
        )
      | _++""",
    re.VERBOSE,
)
# Format characters, marks and joiners stay with the preceding character (rule WB4). Since Unicode
# 11, skin tones are marks and U+202F joins words; here both are treated as in Unicode 9.
_MARK = r"[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}]--[\U0001F3FB-\U0001F3FF]"
_MARKS = rf"[{_MARK}]*+"
_EMOJI_MARKS = rf"[{_MARK}--[\uFE0E\uFE0F]]*+"
_KEYCAP_MARKS = rf"[{_MARK}--[\uFE0E\uFE0F\u20E3]]*+"
_CLASSES = {
    "letter": r"[\p{WB=ALetter}\p{WB=Hebrew_Letter}]",
    "hebrew": r"\p{WB=Hebrew_Letter}",
    "digit": r"[\p{WB=Numeric}[\p{Block=Halfwidth_and_Fullwidth_Forms}&&\p{Nd}]]",
    "katakana": r"\p{WB=Katakana}",
    "joiner": r"[\p{WB=ExtendNumLet}--\u202F]",
    "between_letters": r"[\p{WB=MidLetter}\p{WB=MidNumLet}\p{WB=Single_Quote}]",
    "between_digits": r"[\p{WB=MidNum}\p{WB=MidNumLet}\p{WB=Single_Quote}]",
    "quote": r"\p{WB=Single_Quote}",
    "double_quote": r"\p{WB=Double_Quote}",
    "complex": r"\p{LB=SA}",
    "flag": r"\p{WB=Regional_Indicator}",
    "single": r"[\p{Script=Han}\p{Script=Hiragana}]",
}
_EMOJI_CHARACTER = (
    r"[\p{Extended_Pictographic}"
    r"[\p{Emoji}--[\p{WB=Regional_Indicator}\p{Emoji_Modifier}0-9\#*©®™\u3030\u303D]]]"
)
_EMOJI = rf"""(?: \p{{WB=ZWJ}}*+ {_EMOJI_CHARACTER} {_EMOJI_MARKS}
                  (?: \uFE0F | \p{{Emoji_Modifier}} {_EMOJI_MARKS} )?+
                | \p{{Emoji_Modifier}} {_EMOJI_MARKS} )"""
_UNICODE_TOKEN = regex.compile(
    r"""( {joiner}*+ {word} (?: {joiner}++ {word} )*+ {joiner}*+
        | {emoji} (?: (?: \u200D | (?<=\u200D) ) {emoji} )*+
        | [0-9\#*] {keycap_marks} \uFE0F?+ \u20E3 {emoji_marks}
        | {flag}{{2}}
        | {complex}++
        | {single}
        )
      | {joiner}++
      | \p{{WB=ZWJ}}++""".format(
        word=r"""(?: (?: {hebrew} {double_quote} {hebrew} | {hebrew} {quote}
                      | {letter} (?: {between_letters} (?={letter}) )?+
                      | {digit} (?: {between_digits} (?={digit}) )?+ )++
                   | {katakana}++ )""".format(
            **{name: f"(?:{pattern}{_MARKS})" for name, pattern in _CLASSES.items()}
        ),
        emoji=_EMOJI,
        emoji_marks=_EMOJI_MARKS,
        keycap_marks=_KEYCAP_MARKS,
        **{name: f"(?:{pattern}{_MARKS})" for name, pattern in _CLASSES.items()},
    ),
    regex.VERBOSE | regex.VERSION1,
)
# Endings that step 1 reduces to i.
_I_AFTER_STEP_1 = re.compile(r"[iy](?:e?s|eds?|ings?)?")
# Not thread-safe (PyStemmer's documentation), but each process has its own.
_SNOWBALL = Stemmer.Stemmer("porter")


def tokeniser(name: Name, vocabulary: Path | None = None) -> Tokeniser:
    """Return one of the five tokenisations of Table 2.2 of abolghasemi2026.

    The thesis names tokenizers and filters, but not their order or stop words. Here lower-casing
    precedes Porter, which expects lower case, and stop words are kept. As in BERT's own tokenizer,
    "[SEP]" and similar strings in a text become special pieces.
    """
    if name in VOCABULARIES:
        assert vocabulary is not None, f"{name} needs a vocabulary"
        return _word_pieces(vocabulary)
    split = whitespace_tokens if name == "STM1" else standard_tokens
    uses_stemming = name != "SA"

    def tokenise(texts: Sequence[str]) -> list[list[str]]:
        _check_texts(texts)
        # Tokens are cut before they are lower-cased, as in Lucene. Lower-casing keeps the length,
        # except for the one character that `lower` handles.
        tokens_by_text = ([lower(token) for token in split(text)] for text in texts)
        return [
            [porter_stem(token) for token in tokens] if uses_stemming else tokens
            for tokens in tokens_by_text
        ]

    return tokenise


def standard_tokens(text: str) -> list[str]:
    """Split a text into words, as Lucene's StandardTokenizer does (UAX #29).

    Source: rules WB1 to WB999 of Unicode Standard Annex #29 as Lucene's grammar
    (StandardTokenizerImpl) implements them: emoji are words, and so are runs of the scripts for
    which UAX #29 recommends dictionaries.
    """
    if text.isascii():
        tokens = _ASCII_TOKEN.findall(text)
    else:
        # Spaces separate tokens, so ASCII words can use the ASCII pattern, which is nine times
        # faster.
        parts = groupby(text.split(" "), str.isascii)
        tokens = chain.from_iterable(
            (_ASCII_TOKEN if ascii_only else _UNICODE_TOKEN).findall(" ".join(words))
            for ascii_only, words in parts
        )
    return _cut_tokens(filter(None, tokens))


def whitespace_tokens(text: str) -> list[str]:
    """Split a text at white space, as Lucene's WhitespaceTokenizer does."""
    return _cut_tokens(JAVA_TOKEN.findall(text))


def lower(text: str) -> str:
    """Lower case, code point by code point, as Lucene's LowerCaseFilter does."""
    if text.isascii():
        return text.lower()
    return text.replace("İ", "i").replace("Σ", "σ").lower()


@lru_cache(maxsize=1 << 18)
def porter_stem(word: str) -> str:
    """Stem of a word by the later version of Porter's algorithm, as in Lucene.

    Source: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with three
    changes from his own programs, which Lucene's PorterStemFilter has and Snowball's "porter" does
    not: words of one or two letters are not stemmed, and in step 2, -bli becomes -ble (paper: -abli
    becomes -able) and -logi becomes -log. One difference from Lucene remains: it treats the yy
    of -yyed and -yying as a double consonant.
    """
    if len(word) <= 2:
        return word
    stem = _SNOWBALL.stemWord(word)
    if not stem.endswith(("bli", "logi")):
        return stem
    # If a word has this ending after step 1, the paper's later steps do not change it, so the two
    # added rules still apply. In any other word, a later step produced the ending.
    start = stem.removesuffix("i")
    if not word.startswith(start) or not _I_AFTER_STEP_1.fullmatch(word.removeprefix(start)):
        return stem
    if not _has_measure(start.removesuffix("bl").removesuffix("log")):
        return stem
    return start if start.endswith("log") else _SNOWBALL.stemWord(start + "e")


def _has_measure(start: str) -> bool:
    """Whether a vowel is followed by a consonant (m > 0): the condition for removing -ness."""
    return _SNOWBALL.stemWord(start + "ness") != start + "ness"


def _cut_tokens(tokens: Iterable[str]) -> list[str]:
    return [
        token[start : start + LONGEST]
        for token in tokens
        for start in range(0, len(token), LONGEST)
    ]


def _check_texts(texts: Sequence[str]) -> None:
    """Refuse surrogates, which JSON can contain but UTF-8 cannot encode."""
    for number, text in enumerate(texts):
        try:
            text.isascii() or text.encode()
        except UnicodeEncodeError as error:
            raise DataError(
                row=f"text {number} (counted from 0)",
                fault=f"has an unpaired surrogate at character {error.start}",
                fix="read its source as UTF-8, or replace the character",
            ) from error


def _word_pieces(vocabulary: Path) -> Tokeniser:
    with vocabulary.open(encoding="utf-8") as lines:
        numbers = {line.rstrip("\n"): number for number, line in enumerate(lines)}
    pieces = BertWordPieceTokenizer(numbers, lowercase=True)

    def tokenise(texts: Sequence[str]) -> list[list[str]]:
        _check_texts(texts)
        starts = range(0, len(texts), _BATCH)
        return [
            encoding.tokens
            for start in starts
            for encoding in pieces.encode_batch(
                list(texts[start : start + _BATCH]), add_special_tokens=False
            )
        ]

    return tokenise
