"""Names of papers, chapters, artefacts and tiers, in any spelling."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal, cast
from unicodedata import combining, normalize

from everycell.records.cells import RecordError
from everycell.records.folders import TIERS, Tier
from everycell.records.papers import Artefact, Paper, all_artefacts

#: Spellings of the words before a number -> their normal form.
_KINDS = {
    "table": "table",
    "tab": "table",
    "tbl": "table",
    "figure": "figure",
    "fig": "figure",
    "text": "text",
    "chapter": "ch",
    "ch": "ch",
    "appendix": "ch",
}
#: "table4" and "A1" are two words; "lajewska2025" is one.
_WITH_NUMBER = re.compile(rf"({'|'.join(_KINDS)}|[a-z](?=\d))(\d+|[a-z])")
_STOP_WORDS = {"of", "in", "the", "results"}
#: Name of an artefact in the path of a result, followed by the rest of the file name.
_ENDING = re.compile(r"(?<=/)((?:table|figure|text)_\w+)\.[\w.]+$")


#: Letters without a decomposition into a base letter and a mark -> the letters written instead.
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i"})


@dataclass(frozen=True)
class Selection:
    """Artefacts that a name refers to.

    Attributes
    ----------
    kind
        "tier" for all artefacts of a tier, "all" for everything that needs neither a GPU nor hours.
    tier
        The tier, if the name contains one.
    """

    kind: Literal["artefact", "chapter", "paper", "tier", "all"]
    paper: str = ""
    chapter: str = ""
    artefact: str = ""
    tier: Tier | None = None

    def __str__(self) -> str:
        """Name of the artefact, chapter, paper or tier, in standard form."""
        if self.kind == "artefact":
            return f"{self.paper}/{self.artefact}"
        if self.kind == "chapter":
            return f"{self.paper}_ch{self.chapter}"
        return self.paper or self.tier or "all"

    @property
    def target(self) -> str:
        """Name of the Snakemake target, without the tier."""
        return str(self).replace("/", "_")

    def has(self, artefact: Artefact, tier: Tier | None = None) -> bool:
        """Whether the selection includes an artefact (in a tier, if one is given)."""
        return (
            self.paper in ("", artefact.paper)
            and self.chapter in ("", artefact.chapter)
            and self.artefact in ("", artefact.name)
            and (tier is None or self.tier in (None, tier))
        )


def words_of(text: str) -> tuple[str, ...]:
    """Words of a name, without case, diacritics, punctuation, abbreviations and file endings."""
    words = []
    folded = _ENDING.sub(r"\1", text).casefold().translate(_LETTERS)
    letters = "".join(c for c in normalize("NFKD", folded) if not combining(c))
    for text_word in re.findall(r"[^\W_]+", letters):
        match = _WITH_NUMBER.fullmatch(text_word)
        words += match.groups() if match else [text_word]
    return tuple(_KINDS.get(word, word) for word in words if word not in _STOP_WORDS)


def _spellings(key: str) -> list[tuple[str, ...]]:
    """Spellings of a paper: by key, as cited, or by author (heuss2025, Heuss (2025), Heuss)."""
    author, year = re.fullmatch(r"(\D*)(.*)", key).groups()  # type: ignore[union-attr]
    return list(dict.fromkeys([words_of(key), words_of(f"{author} {year}"), words_of(author)]))


class Names:
    """Index of papers, chapters, artefacts and tiers by name."""

    def __init__(self, papers: Mapping[str, Paper]) -> None:
        self._selections: dict[tuple[str, ...], list[Selection]] = {}
        #: Chapter -> the words of its title, for suggestions.
        self._titles = {
            f"{paper.key}_ch{chapter}": {*words_of(title)}
            for paper in papers.values()
            for chapter, title in paper.chapters.items()
        }
        self._add(Selection("all"), words_of("all"))
        for tier in TIERS:
            self._add(Selection("tier", tier=tier), (tier,))
        for paper in papers.values():
            for spelling in _spellings(paper.key):
                self._add(Selection("paper", paper.key), spelling)
            for chapter in paper.chapters:
                selection = Selection("chapter", paper.key, chapter)
                self._add(selection, words_of(f"ch{chapter}"))
                # The name of the method, such as RankingSHAP.
                for name in re.findall(r"\((\w+)\)", paper.chapters[chapter]):
                    self._add(selection, words_of(name))
        for artefact in all_artefacts(papers):
            selection = Selection("artefact", artefact.paper, artefact.chapter, artefact.name)
            self._add(selection, words_of(artefact.name))

    def _add(self, selection: Selection, name: tuple[str, ...]) -> None:
        """Add a name alone, and before and after the name of its paper."""
        papers = _spellings(selection.paper) if selection.chapter else []
        for words in {
            name,
            *(name + paper for paper in papers),
            *(paper + name for paper in papers),
        }:
            self._selections.setdefault(words, []).append(selection)

    def find(self, text: str) -> Selection:
        """Look up a name in any spelling.

        A tier may come first or last, as in a path below ``results/``.
        """
        words = words_of(text)
        selections, tier = self._selections.get(words, []), None
        if not selections and words:
            for word, name in ((words[0], words[1:]), (words[-1], words[:-1])):
                if word in TIERS and name in self._selections:
                    selections, tier = self._selections[name], cast(Tier, word)
        if not selections:
            raise RecordError(f"{text!r} is not a paper, chapter or artefact; {self._hint(words)}")
        if len(selections) > 1:
            meanings = ", ".join(map(str, selections))
            raise RecordError(f"{text!r} is ambiguous ({meanings}); use one of these names.")
        return replace(selections[0], tier=tier or selections[0].tier)

    def _hint(self, words: tuple[str, ...]) -> str:
        names = [name for name, title in self._titles.items() if words and title >= {*words}]
        if not names:
            names = self._similar_names(words)
        if not names:
            return "`everycell list` lists them all."
        return f"did you mean {', '.join(names[:3])}?"

    def _similar_names(self, words: tuple[str, ...]) -> list[str]:
        """Names with a similar spelling; but not Table 5.2 for Table 99.99."""
        names_by_spelling = {
            " ".join(spelling): str(selection)
            for spelling, selections in self._selections.items()
            for selection in selections
        }
        similar = get_close_matches(" ".join(words), names_by_spelling, n=6, cutoff=0.6)
        names = dict.fromkeys(names_by_spelling[spelling] for spelling in similar)
        number = _first_number(words)
        return [name for name in names if number.startswith(_first_number(words_of(name))[:1])]


def _first_number(words: tuple[str, ...]) -> str:
    return next((word for word in words if word.isdecimal()), "")
