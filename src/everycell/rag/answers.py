"""Correctness of generated answers: exact match with normalised gold answers.

A full sentence never equals a gold answer of two words, so an answer that *contains* a gold answer
is correct (abolghasemi2026, section 5.3.3, after Gao et al. 2023). The text gives no details. There
are three normalisations:

- `normalise_answer`, the default: lower case, without articles and punctuation, but with the marks
  of numbers. "3.5", "1/2", "-5", "2:1", "50%" and "$5" differ from "35", "12", "5", "21", "50" and
  "5"; "1,000" equals "1000", "½" equals "1/2" (but not "12"), "5 €" equals "€5", and full-width
  digits ("３．５") and those of other scripts equal "3.5". Superscripts stay ("10²" is not "102").
- `normalise_as_squad`: the same without any ASCII punctuation, so "3.5" equals "35". `Match`
  "squad" is for studies whose papers follow SQuAD.
- `without_punctuation`: that of the library of abolghasemi2026, which searches the answer for the
  characters of a gold answer (`Match` "substring"). It keeps articles, a match may start inside a
  word, and the number of a citation can match a gold answer.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from everycell.base.errors import DataError
from everycell.language_models.reasoning import without_reasoning

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")

_SYMBOLS = re.compile(r"[^\w\s]")

#: Ways to match a gold answer: its characters anywhere, its words, the complete answer, or its
#: words as SQuAD normalises them.
Match = Literal["substring", "words", "whole", "squad"]

_DIGIT = re.compile(r"\d")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
#: "½", also in "1½"; an amount with its currency behind it.
_FRACTION = re.compile(r"(?P<whole>\d?)(?P<fraction>[¼-¾⅐-⅞↉])(?=(?P<next>\d?))")
_AMOUNT = re.compile(
    r"(?<![\w.,:/$€£¥])(?<!\d[-'])(?P<number>\d+(?:[.,]\d+)*)"
    r"[ \u00a0\u2009\u202f]?(?P<currency>[€£¥$])(?![ ]?[-.]?\d)"
)
#: Hyphens, dashes up to the en dash and the minus sign; the slash of fractions; longer dashes,
#: which separate words; quotation marks.
_SPELLINGS = str.maketrans(
    "\u2010\u2011\u2012\u2013\u2212\u2044\u2014\u2015“”„«»‘’", '-----/  """""\'\''
)
#: Separators of thousands, also no-break and thin spaces; "5,202" in "May 5,2020" has none.
_THOUSANDS = re.compile(
    r"(?<![\w.,:'’])([1-9]\d{0,2})((?P<mark>[,'’\u00a0\u2009\u202f])\d{3}(?:(?P=mark)\d{3})*)"
    r"(?!\d|[,'’]\d)"
)
#: Punctuation inside, before and after a number; the last alternative is any other.
_MARKS = re.compile(
    rf"(?:(?<=\d)|(?<=\de)(?=-))(?P<inside>[{re.escape(string.punctuation)}]+)(?=\d)"
    r"|(?<![\w%-])(?P<before>(?:[-<>=]|[$€£¥]\s?)+)(?=\.?\d)"
    # "p < 0.05", "US$5"
    r"|(?P<within>(?:(?<![-<>=])[<>]=?\s?|(?<=[^\W\d])[$€£¥])(?=[-$€£¥]?\.?\d))"
    r"|(?<![\w.])(?P<point>\.)(?=\d)"
    r"|(?<=\d)\s?(?P<after>[%‰])"
    rf"|[{re.escape(string.punctuation)}]"
)
#: What belongs to a number that begins with its point: "<.05", "p < .05", "$ .5", "-.5".
_BEFORE_POINT = re.compile(r"(^|[-=]|(?:[<>]=?|[$€£¥])\s?)$")
_INSIDE = frozenset(".,:/-'^*+_~<>=")
_ORDER_BEFORE = "<>=$€£¥-"


# Interventions repeat the same passages and statements. The cache takes about 10 MB.
@lru_cache(maxsize=5_000)
def normalise_answer(text: str) -> str:
    """Normalise text as SQuAD does, except that numbers keep their marks.

    Kept are marks between digits, signs, comparisons and currencies before a number, and per cent
    signs after it. Separators of thousands are removed. Minus signs and short dashes are hyphens;
    longer dashes separate words.
    """
    text = _plain_digits(text.translate(_SPELLINGS))
    if not _DIGIT.search(text):
        return normalise_as_squad(text)
    text = _THOUSANDS.sub(lambda match: match[1] + match[2].replace(match["mark"], ""), text)
    text = _AMOUNT.sub(r"\g<currency>\g<number> ", text)
    return " ".join(_ARTICLES.sub(" ", _MARKS.sub(_keep_mark, text.lower())).split())


def _plain_digits(text: str) -> str:
    """Text with fractions such as "1/2", and with full-width forms and other digits in ASCII.

    Unlike NFKC, this keeps superscripts and separates "1½" as "1 1/2".
    """
    if text.isascii():
        return text

    def spell_out(match: re.Match[str]) -> str:
        fraction = unicodedata.normalize("NFKC", match["fraction"]).replace("\u2044", "/")
        return match["whole"] + " " * bool(match["whole"]) + fraction + " " * bool(match["next"])

    return _NOT_ASCII.sub(_in_ascii, _FRACTION.sub(spell_out, text))


def _in_ascii(match: re.Match[str]) -> str:
    character = match[0]
    if "\uff01" <= character <= "\uff5e" or character in "￡￥":
        return unicodedata.normalize("NFKC", character)
    if character in "٫٬":
        return ".,"["٫٬".index(character)]
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def _keep_mark(match: re.Match[str]) -> str:
    """Replacement for punctuation: the marks of a number in one spelling, otherwise nothing."""
    if marks := match["inside"]:
        if set(marks) <= _INSIDE:
            return marks
        # "5%-$10" are two numbers.
        return "%" * marks.startswith("%") + " " + "$" * marks.endswith("$")
    if match["before"]:
        marks = "".join(match["before"].split())
        # A dash or an arrow is no sign.
        is_sign = "--" not in marks and not re.fullmatch("-+>|=+>?", marks)
        return " " + "".join(sorted(set(marks), key=_ORDER_BEFORE.index)) * is_sign
    if match["within"]:
        return " " + match["within"].strip()
    if match["point"]:
        previous = match.string[max(match.start() - 3, 0) : match.start()]
        return "0." if _BEFORE_POINT.search(previous) else " 0."
    return "% " if match["after"] else ""


def normalise_as_squad(text: str) -> str:
    """Normalise text as SQuAD does: without articles and ASCII punctuation."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def without_punctuation(text: str) -> str:
    """Normalise text as the library of abolghasemi2026 does: articles are kept."""
    return " ".join(_SYMBOLS.sub("", text.lower()).split())


def usable_answers(gold: Sequence[str], *, match: Match = "words") -> list[str]:
    """Gold answers that are not empty after normalisation."""
    normalise = _normaliser(match)
    return [answer for answer in gold if normalise(answer)]


def _normaliser(match: Match) -> Callable[[str], str]:
    """Normalisation for a way of matching."""
    return {"substring": without_punctuation, "squad": normalise_as_squad}.get(
        match, normalise_answer
    )


def is_correct(output: str, gold: Sequence[str], *, match: Match = "words") -> bool:
    """Whether an answer, without its reasoning, matches a gold answer, both normalised."""
    normalise = _normaliser(match)
    answers = [normalise(answer) for answer in usable_answers(gold, match=match)]
    if not answers:
        raise DataError(
            column="gold answers",
            value=list(gold),
            fault="which have no words after normalisation",
            fix="give an answer with at least one word, or exclude the question",
        )
    normalised = normalise(without_reasoning(output))
    if match == "whole":
        return normalised in answers
    if match == "substring":
        return any(answer in normalised for answer in answers)
    return any(f" {answer} " in f" {normalised} " for answer in answers)


def answers_in(text: str, answers: Sequence[str]) -> list[str]:
    """Answers that occur in a text, both normalised as in SQuAD."""
    return [
        answer
        for answer in answers
        if normalise_as_squad(answer) and is_correct(text, [answer], match="squad")
    ]


def passages_with_answers(
    passages: Mapping[str, str], questions: Mapping[str, Sequence[str]]
) -> list[tuple[str, str]]:
    """Pairs of a question and a passage with the words of one of its answers, as in SQuAD."""
    texts = {name: f" {normalise_as_squad(text)} " for name, text in passages.items()}
    # Only texts with all words of an answer are searched: all pairs would take minutes.
    names_by_word = defaultdict[str, set[str]](set)
    for name, text in texts.items():
        for word in text.split():
            names_by_word[word].add(name)
    position_of = {name: position for position, name in enumerate(texts)}
    pairs = []
    for question, answers in questions.items():
        names = set()
        for answer in filter(None, map(normalise_as_squad, answers)):
            candidates = set.intersection(
                *(names_by_word.get(word, set()) for word in answer.split())
            )
            names |= {name for name in candidates if f" {answer} " in texts[name]}
        pairs += [(question, name) for name in sorted(names, key=position_of.__getitem__)]
    return pairs
