"""The five tokenisations of Table 2.2 of abolghasemi2026, each from texts to lists of index terms.

SA, STM1 and STM2 reproduce Elasticsearch's standard and whitespace tokenizers; the other two split
text into the word pieces of BERT and SciBERT. No term contains white space, so terms joined by
spaces can be indexed and come back unchanged.

SA and STM2 follow the grammar of Lucene's StandardTokenizer and differ from it only at the edges:

- Character classes are those of the `regex` package, where Lucene stays at Unicode 9 (with newer
  emoji): letters and emoji that were added later are found here.
- A token of more than 255 characters is cut every 255 code points. Lucene counts UTF-16 units and
  looks for punctuation again after each cut.
- A letter that is also an emoji (U+2139) and starts an emoji sequence is taken as a word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, groupby
from pathlib import Path
from typing import Literal, get_args

import regex
import Stemmer
from tokenizers import BertWordPieceTokenizer

from everycell.engine.text_files import check_regular
from everycell.engine.untrusted import in_quotes

#: Names of Table 2.2, in its order.
Name = Literal["SA", "STM1", "STM2", "BERT-Token", "SciBERT-Token"]
Tokeniser = Callable[[Sequence[str]], list[list[str]]]

#: Registry keys of the vocabulary files.
VOCABULARIES: Mapping[Name, str] = {
    "BERT-Token": "wordpiece-vocab/bert-base-uncased-vocab.txt",
    "SciBERT-Token": "wordpiece-vocab/scibert-scivocab-uncased-vocab.txt",
}
#: Longest token of Lucene's tokenizers; longer ones are cut.
LONGEST = 255

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
# Results of a batch are larger than its text, so the number of texts per batch is limited.
_BATCH = 1000

# Java's Character.isWhitespace, which excludes no-break spaces and U+0085 (unlike str.split).
_WHITESPACE_TOKEN = re.compile(
    r"[^\t-\r\x1c-\x20\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]+"
)
# In both patterns runs of underscores without a letter or digit are eaten outside the group, so
# that each is read once only, and come out as "". The group of the first is not possessive:
# Python 3.11.4 and earlier match such a group wrongly. Nothing follows it, so nothing is retried.
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
# Format characters, marks and joiners stay with what they follow (rule WB4). Skin tones are marks
# since Unicode 11, and U+202F joins words since then: both are as in Unicode 9 here.
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
      | {joiner}++""".format(
        word=r"""(?: (?: {hebrew} {double_quote} {hebrew} | {hebrew} {quote}
                      | {letter} (?: {between_letters} (?={letter}) )?+
                      | {digit} (?: {between_digits} (?={digit}) )?+ )++
                   | {katakana}++ )""".format(
            **{name: f"(?:{one}{_MARKS})" for name, one in _CLASSES.items()}
        ),
        emoji=_EMOJI,
        emoji_marks=_EMOJI_MARKS,
        keycap_marks=_KEYCAP_MARKS,
        **{name: f"(?:{one}{_MARKS})" for name, one in _CLASSES.items()},
    ),
    regex.VERBOSE | regex.VERSION1,
)
# Endings that step 1 reduces to i.
_I_AFTER_STEP_1 = re.compile(r"[iy](?:e?s|eds?|ings?)?")
# Not safe for threads, as PyStemmer says; a process has its own.
_SNOWBALL = Stemmer.Stemmer("porter")


class TokeniseError(ValueError):
    """A text or a vocabulary cannot be used; the message names it and says what is allowed."""


def tokeniser(name: Name, vocabulary: Path | None = None) -> Tokeniser:
    """Return one of the five tokenisations of Table 2.2.

    The thesis names tokenizers and filters, but neither their order nor stop words: here lower case
    comes before Porter, which knows no capitals, and no stop word is dropped. As with BERT's own
    tokenizer, "[SEP]" and the like in a text are the special pieces.
    """
    if name not in get_args(Name):
        raise TokeniseError(
            f"Tokenisation {name!r} is unknown; choose one of {', '.join(get_args(Name))}."
        )
    if name in VOCABULARIES:
        if vocabulary is None:
            raise TokeniseError(
                f"{name} needs a vocabulary file: fetch {VOCABULARIES[name]} and give its path."
            )
        return _word_pieces(Path(vocabulary))
    if vocabulary is not None:
        raise TokeniseError(f"{name} uses no vocabulary, but {vocabulary} was given; leave it out.")
    split = whitespace_tokens if name == "STM1" else standard_tokens
    stemmed = name != "SA"

    def tokenise(texts: Sequence[str]) -> list[list[str]]:
        _check(texts)
        # Tokens are cut before they are lower-cased, as in Lucene. Lower-casing keeps the length,
        # except for the one character that `lower` handles.
        tokens = ([lower(token) for token in split(text)] for text in texts)
        return [[porter_stem(t) for t in one] if stemmed else one for one in tokens]

    return tokenise


def standard_tokens(text: str) -> list[str]:
    """Words of a text as Lucene's StandardTokenizer finds them (UAX #29), in their own case.

    Source: rules WB1 to WB999 of Unicode Standard Annex #29 as Lucene's grammar
    (StandardTokenizerImpl) reads them: emoji are words, and so are runs of the scripts that UAX #29
    leaves to dictionaries.
    """
    if text.isascii():
        tokens = _ASCII_TOKEN.findall(text)
    else:
        # A blank ends every token, so most of the text can take the path that is nine times faster.
        parts = groupby(text.split(" "), str.isascii)
        tokens = chain.from_iterable(
            (_ASCII_TOKEN if ascii_only else _UNICODE_TOKEN).findall(" ".join(words))
            for ascii_only, words in parts
        )
    return _cut(filter(None, tokens))


def whitespace_tokens(text: str) -> list[str]:
    """Pieces of a text between white space, as Lucene's WhitespaceTokenizer cuts it."""
    return _cut(_WHITESPACE_TOKEN.findall(text))


def lower(text: str) -> str:
    """Lower case, code point by code point, as Lucene's LowerCaseFilter does."""
    if text.isascii():
        return text.lower()
    return text.replace("İ", "i").replace("Σ", "σ").lower()


@lru_cache(maxsize=1 << 18)
def porter_stem(word: str) -> str:
    """Stem of a word by Porter's algorithm in the author's later version, as Lucene has it.

    Source: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the three
    departures of his own programs, which Lucene's PorterStemFilter took over and Snowball's
    "porter" did not: words of one or two letters stay, and in step 2 -bli becomes -ble (paper:
    -abli becomes -able) and -logi becomes -log. Not followed: Lucene takes the two y of -yyed and
    -yying for a double consonant.
    """
    if len(word) <= 2:
        return word
    stem = _SNOWBALL.stemWord(word)
    if not stem.endswith(("bli", "logi")):
        return stem
    # A word that ends so after step 1 comes through the paper's later steps as it is, so the two
    # added rules can still be applied; in any other word the ending was laid bare by a later step.
    start = stem.removesuffix("i")
    if not word.startswith(start) or not _I_AFTER_STEP_1.fullmatch(word.removeprefix(start)):
        return stem
    if not _has_measure(start.removesuffix("bl").removesuffix("log")):
        return stem
    return start if start.endswith("log") else _SNOWBALL.stemWord(start + "e")


def _has_measure(start: str) -> bool:
    """Whether a vowel is followed by a consonant (m > 0): the condition for -ness to go."""
    return _SNOWBALL.stemWord(start + "ness") != start + "ness"


def _cut(tokens: Iterable[str]) -> list[str]:
    return [
        token[start : start + LONGEST]
        for token in tokens
        for start in range(0, len(token), LONGEST)
    ]


def _check(texts: Sequence[str]) -> None:
    if isinstance(texts, str):
        raise TokeniseError("Texts must come as a list, but one string was given; wrap it in [].")
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise TokeniseError(
                f"Text {number} (counted from 0) is {text!r}, but a text must be a string; give '' "
                "for a missing one."
            )
        try:
            text.isascii() or text.encode()
        except UnicodeEncodeError as error:
            raise TokeniseError(
                f"Text {number} (counted from 0) has an unpaired surrogate at character "
                f"{error.start}, which UTF-8 cannot encode; read its source as UTF-8 or replace it."
            ) from error


def _word_pieces(vocabulary: Path) -> Tokeniser:
    pieces = BertWordPieceTokenizer(_read_vocabulary(vocabulary), lowercase=True)

    def tokenise(texts: Sequence[str]) -> list[list[str]]:
        _check(texts)
        starts = range(0, len(texts), _BATCH)
        return [
            encoding.tokens
            for start in starts
            for encoding in pieces.encode_batch(
                list(texts[start : start + _BATCH]), add_special_tokens=False
            )
        ]

    return tokenise


def _read_vocabulary(path: Path) -> dict[str, int]:
    try:
        check_regular(path, TokeniseError)
        with path.open(encoding="utf-8") as lines:
            vocabulary: dict[str, int] = {}
            for number, line in enumerate(lines):
                piece = line.rstrip("\n")
                if piece in vocabulary:
                    raise TokeniseError(
                        f"{path}, line {number + 1}: {in_quotes(piece)} is in line "
                        f"{vocabulary[piece] + 1} already; each piece occurs once, so remove one."
                    )
                vocabulary[piece] = number
    except OSError as error:
        raise TokeniseError(
            f"{path} cannot be read ({error.strerror}); name a vocabulary of word pieces."
        ) from error
    except UnicodeDecodeError as error:
        raise TokeniseError(
            f"{path} is not UTF-8 text (byte {error.start}); name a vocabulary of word pieces."
        ) from error
    missing = [piece for piece in _SPECIAL if piece not in vocabulary]
    if missing:
        raise TokeniseError(
            f"{path} with {len(vocabulary)} pieces lacks {', '.join(missing)}; name a vocabulary "
            "of BERT, one piece per line."
        )
    return vocabulary
