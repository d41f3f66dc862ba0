"""Lists of the terms that represent each group."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from everycell.base.errors import DataError
from everycell.base.text_files import text_lines

Words = Mapping[str, Collection[str]]

#: Possible names of the columns of a word list.
_TERM = {"term", "terms", "word", "words", "token", "tokens", "keyword", "lemma", "form"}
_GROUP = {"group", "groups", "gender", "sex", "class", "category", "label", "attribute", "type"}
#: Invisible characters that are not part of a word: soft hyphen, word joiner, byte order mark and
#: marks of direction; next to white space or punctuation, also the zero-width space and joiners.
_ALWAYS, _AT_EDGES = (
    "\u00ad\u2060\ufeff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069",
    "\u200b-\u200d",
)
_INNER = r"[^\s!-/:-@\[-`{-~]"
_INVISIBLE = re.compile(rf"[{_ALWAYS}]+|(?<!{_INNER})[{_AT_EDGES}]+|[{_AT_EDGES}]+(?!{_INNER})")
#: A faster pattern, since most texts have none of these characters.
_ANY_INVISIBLE = re.compile(f"[{_ALWAYS}{_AT_EDGES}]")

#: Columns of a counts file that are not groups.
DOCUMENT, LENGTH = "document_id", "length"


def read_words(path: Path | str) -> dict[str, tuple[str, ...]]:
    """Read a list of group-representative terms, in the format of the NFaiRR authors.

    A CSV file of terms and their groups, with or without a header such as "term,group". Terms are
    normalised to NFC and lower case, without invisible characters and duplicates.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(
            f"The word list {path} does not exist: check the path, or download the list."
        )
    words: dict[str, dict[str, None]] = {}
    order, first = 1, True
    for number, line in text_lines(path):
        if not line.strip():
            continue
        try:
            (row,) = csv.reader([line], strict=True, skipinitialspace=True)
        except csv.Error:
            row = []
        cells = [normalise_term(cell, lower=False) for cell in row]
        names = [cell.lower() for cell in cells]
        if first and len(names) == 2:
            first = False
            if order := _header_order(names):
                continue
            order = 1
            if names[0] in _TERM | _GROUP or names[1] in _TERM | _GROUP:
                raise DataError(
                    path,
                    number,
                    value=line,
                    fault="which looks like a header",
                    fix="rename the columns to 'term,group', or remove the line",
                )
        if len(cells) != 2 or not all(cells):
            raise DataError(path, number, value=line, expected="'term,group'")
        term, group = cells[::order]
        words.setdefault(group, {})[term.lower()] = None
    groups_of_terms(words, path)
    return {group: tuple(terms) for group, terms in words.items()}


def _header_order(names: list[str]) -> int:
    """Order of a header's columns: 1 for term, group; -1 for group, term; 0 if not a header."""
    for order in (1, -1):
        term, group = names[::order]
        if term in _TERM and group in _GROUP:
            return order
    return 0


def normalise_term(term: str, *, lower: bool = True) -> str:
    """Normalise a term like a text, without surrounding space."""
    term = normalise_text(term).strip()
    return unicodedata.normalize("NFC", term.lower()) if lower else term


def normalise_text(text: str) -> str:
    """Normalise a text to NFC, without invisible characters; zero-width spaces split words."""
    if text.isascii():
        return text
    if _ANY_INVISIBLE.search(text):
        text = _INVISIBLE.sub("", text).replace("\u200b", " ")
    return unicodedata.normalize("NFC", text)


def groups_of_terms(words: Words, path: Path | None = None) -> dict[str, int]:
    """Check a word list, and map each of its terms to the number of its group."""
    if not words:
        fix = "give the terms of at least two groups"
        raise DataError(path, column="word list", fault="is empty", fix=fix)
    names = list(words)
    if len({name.casefold() for name in names}) < len(names):
        fault = "which differ only in case"
        raise DataError(path, None, "names of groups", names, fault, fix="use one spelling")
    group_of: dict[str, int] = {}
    for number, (group, terms) in enumerate(words.items()):
        if group in (DOCUMENT, LENGTH) or not group:
            fault = "which is empty or reserved"
            raise DataError(path, None, "name of a group", group, fault, fix="rename the group")
        where = f"group {group!r}"
        if isinstance(terms, str) or not terms:
            fix = "add terms, or remove the group"
            raise DataError(path, where, "list of terms", terms, expected="a list", fix=fix)
        for term in terms:
            normalised = normalise_term(term)
            if not normalised:
                raise DataError(path, where, "term", term, "which is empty", fix="remove it")
            if group_of.setdefault(normalised, number) != number:
                groups = f"{names[group_of[normalised]]!r} and {group!r}"
                raise _ambiguous(term, groups, path)
    return group_of


def _ambiguous(term: str, groups: str, path: Path | None = None) -> DataError:
    """Error for a term of two groups."""
    return DataError(
        path,
        column="term",
        value=term,
        fault=f"which is in the groups {groups}",
        fix="remove it from one, as a term can represent only one group",
    )


def read_word_lists(paths: Sequence[Path | str]) -> dict[str, tuple[str, ...]]:
    """Read one or more word lists as one: groups with the same name are merged."""
    sources: dict[str, tuple[str, Path | str]] = {}
    words: dict[str, list[str]] = {}
    for path in paths:
        for group, terms in read_words(path).items():
            for term in terms:
                first_group, first_path = sources.setdefault(term, (group, path))
                if first_group != group:
                    raise _ambiguous(
                        term, f"{first_group!r} of {first_path} and {group!r} of {path}"
                    )
                if first_path is path:
                    words.setdefault(group, []).append(term)
    return {group: tuple(terms) for group, terms in words.items()}
