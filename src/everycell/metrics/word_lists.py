"""Lists of the terms that represent each group."""

from __future__ import annotations

import csv
import string
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from everycell.engine.text_files import text_lines
from everycell.engine.untrusted import in_quotes

Words = Mapping[str, Collection[str]]

#: Names of the columns of a word list with a header.
_TERM = {"term", "terms", "word", "words", "token", "tokens", "keyword", "lemma", "form"}
_GROUP = {"group", "groups", "gender", "sex", "class", "category", "label", "attribute", "type"}
#: Soft hyphen, zero-width space, word joiner and byte order mark: no part of a word.
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))
#: Joiners belong to words of some scripts, but not to their ends.
_BLANK = string.whitespace + "\u00a0\u202f\u200c\u200d\u200e\u200f"

#: Columns of a counts file that are not groups.
DOCUMENT, LENGTH = "document_id", "length"


def read_words(path: Path | str) -> dict[str, tuple[str, ...]]:
    r"""Read group-representative terms: lines "term,group", as the NFaiRR authors publish them.

    CSV, with or without a header such as "term,group" or "group,word". Terms are brought to NFC,
    without characters that are invisible, such as zero-width spaces.

    Parameters
    ----------
    path
        Text file in UTF-8. Empty lines are left out.

    Returns
    -------
    dict of str to tuple of str
        Group -> terms in lower case, both in the order of the file; duplicates within a group (also
        in another case) are dropped.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        A line without a term and a group, an empty file, or terms that `count_terms` would not
        take, such as one in two groups.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "words.txt"
    >>> _ = path.write_text("she,f\nhe,m\nMary,f\n")
    >>> read_words(path)
    {'f': ('she', 'mary'), 'm': ('he',)}
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(
            f"The word list {path} does not exist: check the path, or fetch it."
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
        cells = [plain_term(cell, lower=False) for cell in row]
        names = [cell.lower() for cell in cells]
        if first and len(names) == 2:
            first = False
            if order := _header(names):
                continue
            order = 1
            if names[0] in _TERM | _GROUP or names[1] in _TERM | _GROUP:
                raise ValueError(
                    f"Line {number} of {path} reads {in_quotes(line)}, which seems to be a header; "
                    "name the columns 'term,group', or remove the line."
                )
        if len(cells) != 2 or not all(cells):
            raise ValueError(
                f"Line {number} of {path} reads {in_quotes(line)}; a line is 'term,group', so "
                "correct it."
            )
        term, group = cells[::order]
        words.setdefault(group, {})[term.lower()] = None
    try:
        groups_of_terms(words)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return {group: tuple(terms) for group, terms in words.items()}


def _header(names: list[str]) -> int:
    """1 for a header 'term, group', -1 for 'group, term', 0 for another row."""
    for order in (1, -1):
        term, group = names[::order]
        if term in _TERM and group in _GROUP:
            return order
    return 0


def plain_term(term: str, *, lower: bool = True) -> str:
    """Bring a term to the form in which documents are searched: NFC, without what is invisible."""
    term = unicodedata.normalize("NFC", term.translate(_INVISIBLE)).strip(_BLANK)
    return unicodedata.normalize("NFC", term.lower()) if lower else term


def groups_of_terms(words: Words) -> dict[str, int]:
    """Term -> number of its group, for a word list with nothing wrong."""
    if not words:
        raise ValueError("The word list is empty; give the terms of at least two groups.")
    names = list(words)
    if len({name.casefold() for name in names}) < len(names):
        raise ValueError(
            f"Groups differ only in case: {', '.join(map(repr, names))}; spell each in one way."
        )
    group_of: dict[str, int] = {}
    for number, (group, terms) in enumerate(words.items()):
        if group in (DOCUMENT, LENGTH) or not group:
            raise ValueError(
                f"A group is called {group!r}, which is another column's name or empty; rename it."
            )
        if isinstance(terms, str):
            raise ValueError(
                f"The terms of group {group!r} are one string, {terms!r}; give a list of terms."
            )
        if not terms:
            raise ValueError(f"Group {group!r} has no terms; give it one or more, or drop it.")
        for term in terms:
            plain = plain_term(term)
            if not plain:
                raise ValueError(f"Group {group!r} has an empty term; remove it.")
            if group_of.setdefault(plain, number) != number:
                other = names[group_of[plain]]
                raise ValueError(
                    f"The term {term!r} is in the groups {other!r} and {group!r}; a term "
                    "represents one group, so remove it from one."
                )
    return group_of


def read_word_lists(paths: Sequence[Path | str]) -> dict[str, tuple[str, ...]]:
    """Read one or more word lists as one: groups with the same name are merged.

    Parameters
    ----------
    paths
        Files as `read_words` reads them; one or more.

    Returns
    -------
    dict of str to tuple of str
        Group -> terms in lower case, in the order of the files, each once.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        What `read_words` refuses, a file that is not UTF-8, or a term that two files have in
        different groups; the message names the file.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("she,f" + chr(10) + "he,m")
    >>> _ = (folder / "b.txt").write_text("queen,f" + chr(10) + "she,f")
    >>> read_word_lists([folder / "a.txt", folder / "b.txt"])
    {'f': ('she', 'queen'), 'm': ('he',)}
    """
    source: dict[str, tuple[str, Path | str]] = {}
    words: dict[str, list[str]] = {}
    for path in paths:
        for group, terms in read_words(path).items():
            for term in terms:
                other, before = source.setdefault(term, (group, path))
                if other != group:
                    raise ValueError(
                        f"The term {term!r} is in group {other!r} of {before} and in group "
                        f"{group!r} of {path}; a term represents one group, so remove it from one."
                    )
                if before is path:
                    words.setdefault(group, []).append(term)
    return {group: tuple(terms) for group, terms in words.items()}
