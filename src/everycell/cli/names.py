"""Names of works, chapters, artefacts and tiers that can be made or shown, in any spelling."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal, cast

from everycell.engine.artefacts import Artefact, Paper, all_artefacts
from everycell.engine.printed_cells import CardError
from everycell.engine.tiers import TIERS, Tier

#: Spellings, in print and by readers, of the kinds of names that have a number.
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
_FILLING = {"of", "in", "the", "results"}
#: End of a result's file name: its ending, and the part after the artefact's own name.
_ENDING = re.compile(r"(?<=/)((?:table|figure|text)_\w+)\.[\w.]+$")


@dataclass(frozen=True)
class Selection:
    """What a name stands for.

    Attributes
    ----------
    kind
        "tier" for a whole tier, or "all" for everything that needs neither a GPU nor hours.
    tier
        The tier if the name gives it, else None.
    """

    kind: Literal["artefact", "chapter", "work", "tier", "all"]
    paper: str = ""
    chapter: str = ""
    artefact: str = ""
    tier: Tier | None = None

    def __str__(self) -> str:
        """The name as `everycell list` prints it."""
        if self.kind == "artefact":
            return f"{self.paper}/{self.artefact}"
        if self.kind == "chapter":
            return f"{self.paper}_ch{self.chapter}"
        return self.paper or self.tier or "all"

    def has(self, artefact: Artefact, tier: Tier | None = None) -> bool:
        """Whether an artefact, and a tier of it if given, belongs to this name."""
        return (
            self.paper in ("", artefact.paper)
            and self.chapter in ("", artefact.chapter)
            and self.artefact in ("", artefact.name)
            and (tier is None or self.tier in (None, tier))
        )


def words_of(text: str) -> tuple[str, ...]:
    """Words of a name, normalised for case, punctuation, abbreviations and file endings.

    Examples
    --------
    >>> words_of("Table 4.8 of lajewska2025")
    ('table', '4', '8', 'lajewska2025')
    >>> words_of("results/released/lajewska2025/table_4_8.power.csv")
    ('released', 'lajewska2025', 'table', '4', '8')
    >>> words_of("Fig. A1"), words_of("lajewska2025_chA")
    (('figure', 'a', '1'), ('lajewska2025', 'ch', 'a'))
    """
    found = []
    for word in re.findall(r"[^\W_]+", _ENDING.sub(r"\1", text).casefold()):
        split = _WITH_NUMBER.fullmatch(word)
        for part in split.groups() if split else [word]:
            if part not in _FILLING:
                found.append(_KINDS.get(part, part))
    return tuple(found)


def _spellings(key: str) -> list[tuple[str, ...]]:
    """A work as its key, as scholars cite it and by its author: heuss2025, Heuss (2025), Heuss."""
    author, year = re.fullmatch(r"(\D*)(.*)", key).groups()  # type: ignore[union-attr]
    return list(dict.fromkeys([words_of(key), words_of(f"{author} {year}"), words_of(author)]))


class Names:
    """All names in the papers, and what each stands for."""

    def __init__(self, papers: Mapping[str, Paper]) -> None:
        self._known: dict[tuple[str, ...], list[Selection]] = {}
        self._add(Selection("all"), words_of("all"))
        for tier in TIERS:
            self._add(Selection("tier", tier=tier), (tier,))
        for paper in papers.values():
            for work in _spellings(paper.key):
                self._add(Selection("work", paper.key), work)
            for chapter in paper.chapters:
                named = Selection("chapter", paper.key, chapter)
                self._add(named, words_of(f"ch{chapter}"), *_spellings(paper.key))
        for artefact in all_artefacts(papers):
            named = Selection("artefact", artefact.paper, artefact.chapter, artefact.name)
            self._add(named, words_of(artefact.name), *_spellings(artefact.paper))

    def _add(self, named: Selection, own: tuple[str, ...], *works: tuple[str, ...]) -> None:
        for words in {own, *(own + work for work in works), *(work + own for work in works)}:
            self._known.setdefault(words, []).append(named)

    def find(self, text: str) -> Selection:
        """Find what a name stands for, however it is spelled.

        A tier may precede or follow it, as in a path below ``results/``.

        Examples
        --------
        >>> Names({}).find("Released").tier
        'released'
        >>> Names({}).find("everything")
        Traceback (most recent call last):
            ...
        everycell.engine.printed_cells.CardError: 'everything' is not a work, chapter or artefact; \
`everycell list` names all.
        """
        words = words_of(text)
        found, tier = self._known.get(words), None
        if not found:
            for place, rest in ((0, words[1:]), (-1, words[:-1])):
                if rest and words[place] in TIERS and rest in self._known:
                    found, tier = self._known[rest], cast(Tier, words[place])
        if not found:
            raise CardError(f"{text!r} is not a work, chapter or artefact; {self._hint(words)}")
        if len(found) > 1:
            several = ", ".join(map(str, found))
            raise CardError(f"{text!r} stands for {several}; name the work too.")
        [named] = found
        if tier is None:
            return named
        return replace(named, tier=tier)

    def _hint(self, words: tuple[str, ...]) -> str:
        spelled = {
            " ".join(known): named for known, names in self._known.items() for named in names
        }
        near = get_close_matches(" ".join(words), spelled, n=6, cutoff=0.6)
        names = list(dict.fromkeys(str(spelled[one]) for one in near))[:3]
        return f"did you mean {', '.join(names)}?" if names else "`everycell list` names all."
