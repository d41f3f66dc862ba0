"""Counterfactual data substitution: replace gendered words of a text with their counterparts.

Words are replaced according to a list of pairs (``gender_pairs.yaml``, or the caller's own); first
names are replaced by names of the other gender. Capitalisation is kept ("She", "SHE"), as is
everything around a word: in "the man's", only "man" is replaced. Pronouns that correspond to two
words in the other gender are disambiguated without a tagger, by the words around them:

==========  ================  ===============
word        before a noun     standing alone
==========  ================  ===============
her         his               him
his         her               hers
him         her               her
hers        his               his
==========  ================  ===============

A pronoun stands alone in three cases:

- the text or clause ends after it (with any mark except an opening quotation mark or bracket);
- the next word cannot begin a noun phrase after "her" or "his" (an article, preposition,
  conjunction, pronoun, auxiliary, or one of certain adverbs and verbs: `ALONE_BEFORE`);
- it follows a form of let, make or give, but not "made her own dinner", "made her way" and other
  nouns of `OWNED`.

Blanks may have HTML tags of words, such as ``<b>``, and marks of emphasis around them. In a pair,
the other pronoun decides: "his/her", "his or her" and "his (her)" become "her/his", "her or his"
and "her (his)", "him/her" becomes "her/him", and "his-and-hers" becomes "hers-and-his". "Her and
his" is a pair only at the start of a clause, since "saw her and his friend" is more common
elsewhere. In a list of three or more pronouns ("his, her, or their choice"), all have one role.
Short forms of both genders ("s/he", "(s)he", "(wo)man") remain.

These rules make mistakes. They take "run" in "see her run" for a noun, which gives "see his run".
"told him stories" becomes "told his stories" when swapped twice. "a friend of his and her husband"
is read as "his and her" before a noun. "made her dinner" always becomes
"made him dinner", even if it was her dinner.

Source: abolghasemi2026, section 4.5 (iii), after Maudslay et al., "It's all in the name" (EMNLP
2019). The thesis used part-of-speech tags for "her", but does not state the tagger or the pairs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

import pandas as pd
import yaml

from everycell.base.errors import DataError

#: Words that cannot begin a noun phrase after "her" or "his", so that the pronoun stands alone.
ALONE_BEFORE = frozenset(
    """
    a an the this that these those some any another each every all both either neither
    i you he she it we they me us them my your our their his her him
    who whom whose what which when where why how whether
    and or but nor so yet if because although though while until unless than as since after before
    to of in on at by for from with without about into onto over under through during between
    among against around across along toward towards upon off up down out away back near behind
    beyond like per via
    is are was were be been being am has have had do does did will would can could may might must
    shall should
    not never always often again too also now then here there just even only ever still already soon
    today tomorrow yesterday tonight once instead together anymore anyway forever alone well right
    go get become know feel come think say find keep give take see understand make want stay realize
    seem look achieve choose avoid
    """.split()
)

#: Nouns and adjectives after "make her" or "give her", so that the pronoun is before a noun.
OWNED = frozenset("own way debut living best".split())

_WORD = re.compile(r"[^\W\d_]+")
#: Marks around a pronoun that is emphasised: "(her) own car".
_OPENING, _CLOSING = "\"'“‘([*_", "\"'”’)]*_"
#: Characters that may occur between a pronoun and its noun; an empty line ends a text.
_TAG = (
    r"</?(?:a|abbr|b|big|cite|code|em|font|i|ins|mark|q|s|small|span|strong|sub|sup|tt|u)"
    r"(?:\s[^<>]{0,200})?>"
)
_BEFORE_A_NOUN = re.compile(
    rf"(?:{_TAG})*(?P<blank>(?:\s|&nbsp;)+)(?:[\"'“‘(\[*_`]|{_TAG})*(?P<next>[^\W_]+)"
    # The word after "own", which may be a verb: "let her own a car".
    r"(?:\s+(?P<after>[^\W_]+))?",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"\n\s*\n|\u2029")
_GOVERNOR = re.compile(
    r"\b(?:let|lets|letting|make|makes|made|making|give|gives|gave|given|giving)\s+"
    rf"(?:[*_]{{1,3}}|{_TAG})?$",
    re.IGNORECASE,
)
#: Number of characters before a pronoun that are searched for a governor or another pronoun.
_REACH = 24
_PRONOUNS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"her": ("his", "him"), "his": ("her", "hers"), "him": ("her", "her"), "hers": ("his", "his")}
)
_BEFORE = dict.fromkeys(("my", "your", "our", "their", "its"), True)
#: Whether a pronoun is before a noun if it is paired with another, as in "his/her".
_IN_PAIR: Mapping[str, Mapping[str, bool]] = MappingProxyType(
    {
        "his": _BEFORE | {"her": True} | dict.fromkeys(("hers", "mine", "ours", "theirs"), False),
        "her": _BEFORE | {"his": True} | dict.fromkeys(("him", "me", "us", "them"), False),
    }
)
_GAP, _HYPHEN = rf"(?:[\s\"'“”‘’*_]|{_TAG})", "[-\u2010\u2011\u2013]"
_SLASH = (
    rf"(?:{_GAP}*[/\\|&+]{_GAP}*|{_HYPHEN}(?:(?:and|or){_HYPHEN})?"
    rf"|{_GAP}*[(\[]{_GAP}*(?:/|(?:and|or)\b)?{_GAP}*)"
)
_CONJUNCTION = rf"(?:,?{_GAP}+(?P<or>or|and/or|nor),?{_GAP}+|{_GAP}+and{_GAP}+)"
_OTHER = r"(?P<other>hers?|his|him|my|me|mine|yours?|ours?|us|theirs?|them|its)"
_PAIR_AFTER = re.compile(
    rf"(?:(?P<slash>{_SLASH})|{_CONJUNCTION}){_OTHER}(?![^\W_])", re.IGNORECASE
)
_PAIR_BEFORE = re.compile(
    rf"(?<![^\W_]){_OTHER}(?:(?P<slash>{_SLASH})|{_CONJUNCTION})$", re.IGNORECASE
)
#: Roles of pronouns in lists: before a noun, alone as an object, alone as a possessive.
_ROLES: Mapping[str, frozenset[str]] = MappingProxyType(
    {"his": frozenset(["noun", "own"]), "her": frozenset(["noun", "object"])}
    | dict.fromkeys(_BEFORE, frozenset(["noun"]))
    | dict.fromkeys(("him", "me", "us", "them"), frozenset(["object"]))
    | dict.fromkeys(("hers", "mine", "yours", "ours", "theirs"), frozenset(["own"]))
)
_MEMBER = rf"(?:{'|'.join(sorted(_ROLES, key=len, reverse=True))})(?![^\W_])"
_LIST = re.compile(
    rf"(?<![^\W_]){_MEMBER}(?:{_GAP}{{0,3}},{_GAP}+(?:(?:or|and/or|nor|and){_GAP}+)?{_MEMBER}"
    rf"|{_GAP}+(?:or|and/or|nor|and),?{_GAP}+{_MEMBER}){{2,10}}",
    re.IGNORECASE,
)
_CLOSED = re.compile(rf"{_GAP}*[)\]]")
_START_OF_CLAUSE = re.compile(r"(?:^|[.!?:;,\n(\[])[\s\"'“‘*_]*$")
#: Short forms of both genders, and the beginnings that they have.
_SHORT_FORMS = frozenset(["he", "man", "men", "male", "males"])
_SHORT_BEGINNING = re.compile(r"(?:(?<![\w'’])(?:s|wo|fe)/|[(\[](?:s|wo|fe)[)\]])$", re.IGNORECASE)
_PAIRS = Path(__file__).with_name("gender_pairs.yaml")


@dataclass(frozen=True)
class GenderPairs:
    """Words and names with their counterparts."""

    words: Mapping[str, str]
    names: Mapping[str, str]


def make_pairs(
    words: Iterable[tuple[str, str]], names: Iterable[tuple[str, str]] = ()
) -> GenderPairs:
    """Make a two-way list of pairs."""
    known: set[str] = set()

    def both_ways(pairs: Iterable[tuple[str, str]], kind: str) -> Mapping[str, str]:
        counterparts: dict[str, str] = {}
        for first, second in pairs:
            for word in (first, second):
                lower = word.lower()
                for is_invalid, fault in (
                    (not _WORD.fullmatch(word), "which is not a single word of letters"),
                    (lower in _PRONOUNS, "which is a pronoun with its own rule"),
                    (lower in known, "which is in two pairs"),
                ):
                    if is_invalid:
                        raise DataError(column=kind, value=word, fault=fault, fix="remove the pair")
                known.add(lower)
            counterparts |= {first: second, second: first}
        return MappingProxyType(counterparts)

    lower_case = [(first.lower(), second.lower()) for first, second in words]
    return GenderPairs(both_ways(lower_case, "word"), both_ways(names, "name"))


@cache
def default_pairs() -> GenderPairs:
    """Read the project's own pairs, ``gender_pairs.yaml``; its header states their source."""
    lists = yaml.safe_load(_PAIRS.read_text(encoding="utf-8"))
    return make_pairs(map(tuple, lists["nouns"]), map(tuple, lists["names"]))


def _match_case(word: str, model: str) -> str:
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word.capitalize() if model[0].isupper() else word


def _stands_alone(text: str, pronoun: re.Match[str]) -> bool:
    """Whether a pronoun stands alone, instead of before its noun."""
    is_before_noun = _role_in_pair(text, pronoun)
    if is_before_noun is not None:
        return not is_before_noun
    start, end = pronoun.span()
    emphasis = _OPENING.find(text[start - 1 : start] or " ")
    end += emphasis >= 0 and text[end : end + 1] == _CLOSING[emphasis]
    next_word = _BEFORE_A_NOUN.match(text, end)
    if next_word is None or next_word["next"].lower() in ALONE_BEFORE:
        return True
    if _PARAGRAPH.search(next_word["blank"]) is not None:
        return True
    governor = _GOVERNOR.search(text, max(start - _REACH, 0), start)
    return governor is not None and not _is_owned(governor, next_word)


def _is_owned(governor: re.Match[str], next_word: re.Match[str]) -> bool:
    """Whether a pronoun after a form of make, give or let is before a noun: "her own dinner"."""
    if next_word["next"].lower() not in OWNED:
        return False
    # "Let her own a car" has a verb, unlike "gave her own to the poor".
    return (
        next_word["next"].lower() != "own"
        or governor[0].lower().startswith("g")
        or (next_word["after"] or "").lower() not in ALONE_BEFORE
    )


def _role_in_pair(text: str, pronoun: re.Match[str]) -> bool | None:
    """Whether a pronoun in a pair such as "his/her" is before a noun; None if not in a pair."""
    (start, end), word = pronoun.span(), pronoun[0].lower()
    earliest = max(start - _REACH, 0)
    if word in _IN_PAIR and (role := _role_in_list(text, start, end)):
        return role == "noun"
    before = _PAIR_BEFORE.search(text, earliest, start)
    after = _PAIR_AFTER.match(text, end)
    for pair in filter(None, (before, after)):
        other = pair["other"].lower()
        is_before_noun = _IN_PAIR.get(word, {}).get(other)
        if is_before_noun is None:
            continue
        if pair["slash"] is not None:
            in_brackets = pair["slash"].strip()[0] in "(["
            if not in_brackets or _CLOSED.match(text, end if pair is before else pair.end()):
                return is_before_noun
        elif is_before_noun and (
            pair["or"] is not None
            or (word == "his" and pair is after and other == "her")
            or (word == "her" and pair is before)
            or (pair is after and _START_OF_CLAUSE.search(text, earliest, start))
        ):
            return is_before_noun
    return None


def _role_in_list(text: str, start: int, end: int) -> str:
    """Role of a pronoun in a list of three or more, such as "his, her, or their"; "" if none."""
    if "," not in text[max(start - _REACH, 0) : end + _REACH]:
        return ""
    for match in _LIST.finditer(text, max(start - 4 * _REACH, 0), end + 4 * _REACH):
        if match.start() <= start < match.end():
            members = [word.lower() for word in _WORD.findall(match[0])]
            roles = frozenset.intersection(*(_ROLES[word] for word in members if word in _ROLES))
            return next(iter(roles)) if len(roles) == 1 else ""
    return ""


def swap_gender(text: str, pairs: GenderPairs | None = None) -> str:
    """Replace every gendered word of a text with its counterpart."""
    known = pairs or default_pairs()

    def replace(match: re.Match[str]) -> str:
        word = match[0]
        lower = word.lower()
        if lower in _PRONOUNS:
            before_noun, alone = _PRONOUNS[lower]
            pronoun = alone if _stands_alone(text, match) else before_noun
            return _match_case(pronoun, word)
        if lower in _SHORT_FORMS and _SHORT_BEGINNING.search(
            text, max(match.start() - len("(wo)"), 0), match.start()
        ):
            return word
        if lower in known.words:
            return _match_case(known.words[lower], word)
        name = word if word in known.names else word.capitalize()
        if name in known.names and (name == word or word.isupper()):
            return known.names[name].upper() if word != name else known.names[name]
        return word

    return _WORD.sub(replace, text)


def swap_coverage(
    texts: Iterable[str],
    words: Mapping[str, Collection[str]],
    pairs: GenderPairs | None = None,
) -> pd.DataFrame:
    """Count the group terms of texts, and how many of them a swap replaces."""
    known = pairs or default_pairs()
    group_of = {term.lower(): group for group, terms in words.items() for term in terms}
    occurrences: Counter[str] = Counter()
    replaced: Counter[str] = Counter()
    for text in texts:
        for word in _WORD.findall(text):
            if (term := word.lower()) in group_of:
                occurrences[term] += 1
                replaced[term] += swap_gender(word, known) != word
    rows = [(group_of[term], term, number, replaced[term]) for term, number in occurrences.items()]
    frame = pd.DataFrame(rows, columns=["group", "term", "occurrences", "replaced"])
    return frame.sort_values(
        ["occurrences", "group", "term"], ascending=[False, True, True], ignore_index=True
    )
