"""Cards and printed cells: what the papers print, and what each tier can say about it.

A paper is a folder of ``published/``: ``paper.yaml`` names it, one YAML file a chapter holds a
card for each of its tables and figures, and ``table_4_8.csv`` beside it holds the printed cells,
one row a cell. The columns ``value, unit, marker, line, note`` describe a cell; all columns
before ``value`` are its *key*, which a rebuilt table repeats.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import pandas as pd
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from everycell.engine.foreign import quoted
from everycell.engine.validation import describe_fault
from everycell.engine.yaml import load_yaml, yaml_fault

Tier = Literal["embedded", "released", "full"]
State = Literal["rebuilt", "stand_in", "quoted", "not_run", "drawing"]
TIERS: tuple[Tier, ...] = ("embedded", "released", "full")
#: What a tier says of an artefact when its run is not there, or could not be had.
RUNNABLE: frozenset[State] = frozenset({"rebuilt", "stand_in"})
#: Columns of a cells file that describe a cell rather than name it.
DESCRIPTION = ("value", "unit", "marker", "line", "note")
ARTEFACT_ID = re.compile(r"(table|figure|text)_([0-9A-Z]+)(_[0-9A-Z]+)*")
#: Kinds of card that an id may stand for, by its first word.
_KINDS = {"table": ("table",), "figure": ("figure", "drawing"), "text": ("text",)}

Selector = dict[str, str | list[str]]


class CardError(Exception):
    """A card, or its printed cells, cannot be used; the message says where and why."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,))


_Content = TypeVar("_Content", bound=_Model)


class TierCard(_Model):
    """What a tier gives for an artefact."""

    state: State
    needs: str = Field(min_length=3, description="What a run of this tier takes, in words.")
    #: For a stand-in: the name under which the page shows it.
    name: str | None = None
    #: For a stand-in: values of key columns that nothing of it stands for. A conclusion that
    #: selects them among others is tested on the others.
    lacks: dict[str, list[str]] = {}
    #: For a stand-in: why its values differ from machine to machine, so that nobody expects the
    #: same outcome of a conclusion everywhere.
    varies: str | None = Field(None, min_length=10)

    @model_validator(mode="after")
    def _named(self) -> TierCard:
        if self.state == "stand_in" and not self.name:
            raise ValueError("a stand_in needs a `name` that says what it is run on")
        if self.state != "stand_in" and self.lacks:
            raise ValueError("only a stand_in has `lacks`; others name cells in `not_run`")
        if self.state != "stand_in" and self.varies:
            raise ValueError("only a stand_in has `varies`; what is rebuilt must not vary")
        return self


class Layout(_Model):
    """Which key columns run down a shown table and which run across."""

    rows: list[str]
    columns: list[str]


class Tolerance(_Model):
    """A distance within which a cell counts as close, derived from a named cause."""

    cells: Selector = {}
    within: float = Field(gt=0)
    because: str = Field(min_length=10)


class Quoted(_Model):
    """Printed cells that are inputs, or that the paper took from elsewhere."""

    cells: Selector = {}
    because: str = Field(min_length=3)
    #: True where a rebuild may read the printed values of these cells.
    is_input: bool = False
    #: Tiers in which they are quoted: the full run may rebuild what a smaller one takes as given.
    tiers: Annotated[list[Tier], Field(min_length=1)] = list(TIERS)


class NotRun(_Model):
    """Printed cells that a tier cannot reach although it rebuilds others of the artefact."""

    cells: Selector
    tier: Tier
    needs: str = Field(min_length=3)


class Gives(_Model):
    """What a rebuild gives in printed cells that an erratum explains."""

    cells: Selector
    value: str = Field(min_length=1, description="At the precision of the print.")


class Erratum(_Model):
    """A printed value that does not stand, with its evidence."""

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    #: Where the error is: in the print, in our copy of it, or undecided.
    where: Literal["print", "copy", "undecided"]
    #: The cells it explains; none where the finding is about the text around them.
    cells: list[Selector] = []
    #: Rebuilt values that it explains; a cell with another value differs, erratum or not.
    gives: list[Gives] = []
    finding: str = Field(min_length=10)
    evidence: str = Field(min_length=10)
    #: Name of the function in `everycell.engine.audits` that shows it from printed numbers.
    audit: str | None = None
    source: str | None = None


class Predicate(_Model):
    """A claim as a test over the cells of one table.

    Each cell that `cells` selects is compared with `value`, or with the cell whose key differs
    from its own only in `other`. The claim holds if `quantifier` of the comparisons are true.
    With `low` and `high` (overrides that lead from a cell to the ends of its interval) a
    comparison is undecided while the interval holds `value`. With `absolute` the signs of the two
    numbers do not count, as in "further away". With `undecided_if_equal` a comparison of two equal
    numbers is undecided: a difference of nothing does not speak against its claim.
    """

    quantifier: Literal["all", "any", "none", "most"] = "all"
    cells: Selector
    op: Literal["<", "<=", ">", ">=", "==", "!=", "in", "not in"]
    value: float | str | list[str] | None = None
    other: dict[str, str] | None = None
    low: dict[str, str] | None = None
    high: dict[str, str] | None = None
    absolute: bool = False
    undecided_if_equal: bool = False

    @model_validator(mode="after")
    def _one_side(self) -> Predicate:
        if (self.value is None) == (self.other is None):
            raise ValueError("a predicate needs `value` or `other`, and not both")
        if (self.low is None) != (self.high is None):
            raise ValueError("`low` and `high` go together")
        if self.low is not None and self.value is None:
            raise ValueError("an interval (`low`, `high`) is tested against a `value`")
        if (self.op in ("in", "not in")) != isinstance(self.value, list):
            raise ValueError("`in` and `not in` need a list as `value`, other comparisons none")
        if self.absolute and self.low is not None:
            raise ValueError("an interval has signs, so `absolute` does not go with it")
        if self.undecided_if_equal and self.op not in ("<", ">"):
            raise ValueError("`undecided_if_equal` goes with `<` and `>` alone")
        if self.op in ("<", "<=", ">", ">=") and isinstance(self.value, str):
            raise ValueError(f"`{self.op}` needs a number as `value`, without quotation marks")
        return self


class Conclusion(_Model):
    """A claim of the paper, in our words, that the rebuilt table can support or contradict."""

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    claim: str = Field(min_length=10)
    source: str = Field(min_length=2, description="Line or section of the paper.")
    #: All predicates must hold.
    holds_if: Annotated[list[Predicate], Field(min_length=1)]
    #: Name of the significance test where the paper claims significance.
    test: str | None = None


class Card(_Model):
    """What there is to know about one table, figure, run of text or drawing."""

    kind: Literal["table", "figure", "text", "drawing"]
    title: str = Field(min_length=5)
    source: str = Field(min_length=2)
    tiers: Annotated[dict[Tier, TierCard], Field(min_length=1)]
    layout: Layout | None = None
    #: Key columns that only describe another one; conclusions are tested without them.
    labels: list[str] = []
    #: Decimals by metric; "text" compares the strings. `all` holds where no metric is named.
    decimals: dict[str, int | Literal["text"]] = {}
    tolerances: list[Tolerance] = []
    quoted: list[Quoted] = []
    not_run: list[NotRun] = []
    conclusions: list[Conclusion] = []
    errata: list[Erratum] = []
    #: Tables that stand beside the rebuilt one: file suffix -> title.
    beside: dict[str, str] = {}
    explanation: str | None = None


class _ChapterFile(_Model):
    chapter: str
    title: str
    source: str | None = None
    artefacts: dict[str, Card]


class _PaperFile(_Model):
    title: str
    authors: str
    year: int
    kind: Literal["thesis", "paper"]
    reference: str
    #: Files of the folder that are facts for a rebuild and no artefact's cells.
    facts: list[str] = []


class Artefact(_Model):
    r"""A card with its place: paper, chapter, id and the file of its printed cells.

    Examples
    --------
    >>> from everycell.engine.artefacts import load_papers
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "toy"
    >>> folder.mkdir()
    >>> _ = (folder / "paper.yaml").write_text(
    ...     "{title: Toy paper, authors: N. N., year: 2026, kind: paper, reference: none}")
    >>> _ = (folder / "ch1.yaml").write_text('''
    ... chapter: "1"
    ... title: First
    ... artefacts:
    ...   table_1:
    ...     {kind: table, title: A toy table, source: p. 1,
    ...      tiers: {embedded: {state: rebuilt, needs: nothing}}}
    ... ''')
    >>> _ = (folder / "table_1.csv").write_text("row,metric,value\na,AP,0.30\nb,AP,0.4\n")
    >>> toy = load_papers(folder.parent)["toy"].artefacts["table_1"]
    >>> toy.id, toy.cells.shape, toy.decimals("AP")
    ('toy/table_1', (2, 3), 2)
    """

    paper: str
    chapter: str
    name: str
    card: Card
    folder: Path

    @property
    def id(self) -> str:
        """``KEY/table_4_8``."""
        return f"{self.paper}/{self.name}"

    @property
    def cells_path(self) -> Path:
        """File of the printed cells, whether it exists or not."""
        return self.folder / f"{self.name}.csv"

    @property
    def card_path(self) -> Path:
        """File of the chapter's cards."""
        return self.folder / f"ch{self.chapter}.yaml"

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Printed cells: key columns, then `value` and what describes it, all as text.

        Shape (n, k); an artefact without printed cells has shape (0, 0).
        """
        if not self.cells_path.exists():
            return pd.DataFrame()
        return read_cells(self.cells_path)

    @property
    def key_columns(self) -> list[str]:
        """Columns that name a cell."""
        return key_columns(self.cells)

    def decimals(self, metric: str) -> int | Literal["text"]:
        """Declared decimals of a metric, or the most that its printed cells show."""
        declared = self.card.decimals.get(metric, self.card.decimals.get("all"))
        if declared is not None:
            return declared
        values = self.cells["value"]
        if "metric" in self.cells:
            values = values[self.cells["metric"] == metric]
        numbers = values[values.map(is_number)]
        if numbers.empty:
            return "text"
        return int(numbers.map(decimals_shown).max())

    def unlabelled(self, table: pd.DataFrame) -> pd.DataFrame:
        """A table of this artefact, printed or rebuilt, as its conclusions are tested on it."""
        return unlabelled(table, self.card.labels, where=self.id)

    def select(self, selector: Mapping[str, str | list[str]]) -> pd.Series:
        """Boolean mask over `cells`; an unknown column or a value no cell has is an error."""
        return select(self.cells, selector, where=self.id)

    def input_cells(self, tier: Tier | None = None) -> pd.DataFrame:
        """Printed cells that a rebuild may read: the declared inputs of a tier, or of all tiers."""
        mask = pd.Series(False, index=self.cells.index)
        for entry in self.card.quoted:
            if entry.is_input and (tier is None or tier in entry.tiers):
                mask |= self.select(entry.cells)
        return self.cells[mask]


class Paper(_Model):
    """A paper, with its artefacts in the order of the cards."""

    key: str
    title: str
    authors: str
    year: int
    kind: str
    reference: str
    chapters: dict[str, str]
    artefacts: dict[str, Artefact]


def is_number(text: str) -> bool:
    """Whether a printed value is a number (a sign is allowed, a unit is not).

    Examples
    --------
    >>> is_number("+8.0"), is_number("about 30"), is_number("-"), is_number("2e-5")
    (True, False, False, True)
    """
    return re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text.strip()) is not None


def decimals_shown(text: str) -> int:
    """Digits after the point of a printed number, a power of ten written out.

    Examples
    --------
    >>> decimals_shown("0.30"), decimals_shown("12"), decimals_shown("2.5e-5")
    (2, 0, 6)
    """
    return max(0, -int(Decimal(text.strip()).as_tuple().exponent))


def key_columns(cells: pd.DataFrame) -> list[str]:
    """Columns of a cells table that name a cell: all but those of `DESCRIPTION`.

    Examples
    --------
    >>> key_columns(pd.DataFrame(columns=["system", "metric", "value", "note"]))
    ['system', 'metric']
    """
    return [column for column in cells.columns if column not in DESCRIPTION]


def read_cells(path: Path) -> pd.DataFrame:
    r"""Read a cells file as text; "None" and "-" stay what they are.

    Raises
    ------
    CardError
        No `value` column, no rows, a row without a value or with too many fields, an unknown
        column after `value`, or two rows with one key; the message names file and line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table_1.csv"
    >>> _ = path.write_text("level,value\nNone,0.30\n1.10,-\n")
    >>> read_cells(path).values.tolist()
    [['None', '0.30'], ['1.10', '-']]
    """
    try:
        cells = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError) as error:
        raise CardError(f"{path}: cannot be read as CSV ({error}); restore the file.") from None
    if not isinstance(cells.index, pd.RangeIndex):
        raise CardError(f"{path}: its rows have more fields than its header; name each column.")
    if "value" not in cells:
        raise CardError(
            f"{path}: has no column `value`; the columns are {quoted(list(cells.columns), 300)}."
        )
    if cells.empty:
        raise CardError(f"{path}: holds no cells; delete the file or fill it.")
    blank = cells["value"].str.strip() == ""
    if blank.any():
        raise CardError(
            f"{path}, line {int(blank.idxmax()) + 2}: has no value; write what is printed, or drop "
            "the row."
        )
    after = set(cells.columns[list(cells.columns).index("value") :]) - set(DESCRIPTION)
    if after:
        raise CardError(
            f"{path}: the column {quoted(sorted(after)[0])} stands after `value`, where only "
            f"{', '.join(DESCRIPTION[1:])} may; move a column that names cells before `value`."
        )
    keys = key_columns(cells)
    if not keys:
        raise CardError(f"{path}: has no key columns before `value`; name each cell by one.")
    twice = cells.duplicated(keys)
    if twice.any():
        line = int(twice.idxmax()) + 2
        raise CardError(
            f"{path}, line {line}: a second cell for "
            f"{quoted(cells.loc[line - 2, keys].to_dict(), 300)}; each cell stands once."
        )
    return cells


def select(
    table: pd.DataFrame, selector: Mapping[str, str | list[str]], *, where: str
) -> pd.Series:
    """Rows of a tidy table that a selector names, as a boolean mask.

    Parameters
    ----------
    table
        Tidy table with key columns.
    selector
        Key column -> value or values; an empty selector takes every row.
    where
        Name for the error message.

    Raises
    ------
    CardError
        A column or a value that the table does not have, or values that no row has together.

    Examples
    --------
    >>> table = pd.DataFrame({"system": ["a", "b", "c"], "value": ["1", "2", "3"]})
    >>> select(table, {"system": ["a", "c"]}, where="toy").tolist()
    [True, False, True]
    >>> select(table, {"system": "d"}, where="toy")
    Traceback (most recent call last):
    everycell.engine.artefacts.CardError: toy: no cell has system = 'd'; found are ['a', 'b', 'c'].
    """
    mask = pd.Series(True, index=table.index)
    for column, wanted in selector.items():
        if column not in table:
            raise CardError(
                f"{where}: a selector names the column {column!r}; the cells have "
                f"{key_columns(table)}."
            )
        values = [wanted] if isinstance(wanted, str) else list(wanted)
        unknown = set(values) - set(table[column])
        if unknown:
            raise CardError(
                f"{where}: no cell has {column} = {sorted(unknown)[0]!r}; found are "
                f"{sorted(set(table[column]))[:12]}."
            )
        mask &= table[column].isin(values)
    if not mask.any():
        raise CardError(f"{where}: no cell has {dict(selector)} all at once; correct the selector.")
    return mask


def unlabelled(table: pd.DataFrame, labels: Sequence[str], *, where: str) -> pd.DataFrame:
    """Leave out the key columns that only describe another one.

    Parameters
    ----------
    table
        Tidy table with key columns and `value`, shape (n, k).
    labels
        Columns to leave out; one that the table does not have is left out already.
    where
        Name for the error message.

    Returns
    -------
    DataFrame
        Shape (n, k - labels), in the same order.

    Raises
    ------
    CardError
        Two cells that only a label told apart.

    Examples
    --------
    >>> table = pd.DataFrame({"row": ["a", "b"], "model": ["BM25", "TILDE"], "value": [0.4, 0.5]})
    >>> list(unlabelled(table, ["model"], where="toy").columns)
    ['row', 'value']
    >>> unlabelled(table.assign(row="a"), ["model"], where="toy")
    Traceback (most recent call last):
    everycell.engine.artefacts.CardError: toy: without the labels ['model'] two cells have the key \
{'row': 'a'}; tell them apart by another key column.
    """
    if not labels:
        return table
    rest = table.drop(columns=list(labels), errors="ignore")
    keys = key_columns(rest)
    twice = rest.duplicated(keys)
    if twice.any():
        raise CardError(
            f"{where}: without the labels {list(labels)} two cells have the key "
            f"{rest.loc[twice, keys].iloc[0].to_dict()}; tell them apart by another key column."
        )
    return rest


def _read_yaml(path: Path, model: type[_Content]) -> _Content:
    try:
        return model.model_validate(load_yaml(path.read_text(encoding="utf-8")))
    except UnicodeDecodeError:
        raise CardError(f"{path}: is no UTF-8 text; save it as UTF-8.") from None
    except yaml.YAMLError as error:
        raise CardError(f"{path}: is no YAML, {yaml_fault(error)}; mend that line.") from None
    except ValidationError as error:
        raise CardError(f"{path}: {describe_fault(model, error)}") from None


def load_papers(folder: Path) -> dict[str, Paper]:
    """Read all papers of a folder, sorted by key, without checking cells against cards.

    Raises
    ------
    CardError
        No paper, an unreadable file, an unknown key or an id that is none.
    """
    papers: dict[str, Paper] = {}
    for chapter_file in sorted(folder.glob("*/ch*.yaml")):
        if not chapter_file.with_name("paper.yaml").exists():
            raise CardError(
                f"{chapter_file}: there is no paper.yaml beside it; write one that names the paper."
            )
    for paper_file in sorted(folder.glob("*/paper.yaml")):
        home = paper_file.parent
        about = _read_yaml(paper_file, _PaperFile)
        chapters: dict[str, str] = {}
        artefacts: dict[str, Artefact] = {}
        for chapter_file in sorted(home.glob("ch*.yaml"), key=lambda path: _chapter_order(path)):
            chapter = _read_yaml(chapter_file, _ChapterFile)
            if chapter_file.name != f"ch{chapter.chapter}.yaml":
                raise CardError(
                    f"{chapter_file}: says it is chapter {chapter.chapter!r}; rename the file to "
                    f"ch{chapter.chapter}.yaml or mend `chapter`."
                )
            chapters[chapter.chapter] = chapter.title
            for name, card in chapter.artefacts.items():
                if not ARTEFACT_ID.fullmatch(name):
                    raise CardError(
                        f"{chapter_file}: {name!r} is no artefact id; write table_4_8, figure_A_1 "
                        "or text_4_4_4."
                    )
                if name in artefacts:
                    raise CardError(f"{chapter_file}: a second card for {name}; keep one.")
                artefacts[name] = Artefact(
                    paper=home.name, chapter=chapter.chapter, name=name, card=card, folder=home
                )
        papers[home.name] = Paper(
            key=home.name,
            title=about.title,
            authors=about.authors,
            year=about.year,
            kind=about.kind,
            reference=about.reference,
            chapters=chapters,
            artefacts=artefacts,
        )
    if not papers:
        raise CardError(f"{folder}: holds no paper; a paper is a folder with a paper.yaml.")
    return papers


def _chapter_order(path: Path) -> tuple[int, str]:
    chapter = path.stem.removeprefix("ch")
    return (int(chapter), "") if chapter.isdigit() else (10**6, chapter)


def all_artefacts(papers: Mapping[str, Paper]) -> Iterator[Artefact]:
    """Artefacts of all papers, in the order of papers, chapters and cards."""
    for paper in papers.values():
        yield from paper.artefacts.values()


def check_cards(papers: Mapping[str, Paper]) -> list[str]:
    """Check cards against cells; one sentence for each fault, none where all is well.

    Checked are ids that name another kind or (in a thesis) another chapter than the card's,
    drawings that something is said to rebuild, selectors that name no cell, comparisons with a
    cell that is not there, numbers that cannot be parsed in a metric with declared decimals,
    metrics whose decimals are declared but absent or the other way round, more digits printed
    than declared, labels that are no key columns or tell two cells apart, layouts that miss a key
    column, and cells files without a card or cards that point at cells without a file.
    """
    faults: list[str] = []
    for artefact in all_artefacts(papers):
        faults.extend(_check_name(artefact, papers[artefact.paper]))
        try:
            faults.extend(_check_artefact(artefact))
        except CardError as error:
            faults.append(str(error))
    for paper in papers.values():
        home = next(iter(paper.artefacts.values())).folder if paper.artefacts else None
        if home is None:
            faults.append(f"{paper.key}: has no artefact; add a chapter file with cards.")
            continue
        facts = _read_yaml(home / "paper.yaml", _PaperFile).facts
        for path in sorted(home.glob("*.csv")):
            if path.stem not in paper.artefacts and path.name not in facts:
                faults.append(f"{path}: cells without a card; add {path.stem} to a chapter file.")
        for name in facts:
            if not (home / name).exists():
                faults.append(f"{home / 'paper.yaml'}: `facts` names {name}, which is not there.")
    return faults


def _check_name(artefact: Artefact, paper: Paper) -> Iterator[str]:
    prefix, chapter = artefact.name.split("_")[:2]
    if artefact.card.kind not in _KINDS[prefix]:
        yield (
            f"{artefact.card_path}: {artefact.name} is of kind {artefact.card.kind!r}; an id with "
            f"{prefix!r} is of kind {' or '.join(_KINDS[prefix])}."
        )
    for tier, declared in artefact.card.tiers.items():
        if (declared.state == "drawing") != (artefact.card.kind == "drawing"):
            yield (
                f"{artefact.card_path}: {artefact.name} is of kind {artefact.card.kind!r}, but its "
                f"state in tier {tier} is {declared.state!r}; a drawing, and nothing else, has the "
                "state drawing."
            )
    # A paper's tables are numbered through; only a thesis puts the chapter into the number.
    if paper.kind == "thesis" and chapter != artefact.chapter:
        yield (
            f"{artefact.card_path}: {artefact.name} belongs to chapter {chapter}; move its card "
            f"to ch{chapter}.yaml."
        )


def _check_artefact(artefact: Artefact) -> Iterator[str]:
    card, cells = artefact.card, artefact.cells
    if cells.empty:
        used = {
            "labels": card.labels,
            "lacks": [tier.lacks for tier in card.tiers.values() if tier.lacks],
            "decimals": card.decimals,
            "tolerances": card.tolerances,
            "quoted": card.quoted,
            "not_run": card.not_run,
            "conclusions": card.conclusions,
            "errata": [selector for erratum in card.errata for selector in erratum.cells],
        }
        for field, content in used.items():
            if content:
                yield (
                    f"{artefact.id}: `{field}` points at cells, but there is no "
                    f"{artefact.cells_path.name}; add the printed cells or drop the field."
                )
        return
    yield from _check_decimals(artefact)
    for field in (card.tolerances, card.quoted, card.not_run):
        for entry in field:
            artefact.select(entry.cells)
    for erratum in card.errata:
        named = pd.Series(False, index=cells.index)
        for selector in erratum.cells:
            named |= artefact.select(selector)
        for given in erratum.gives:
            if (artefact.select(given.cells) & ~named).any():
                yield (
                    f"{artefact.id}: erratum {erratum.id} gives a value for {given.cells}, which "
                    "its `cells` do not name; name them there too."
                )
    strange = [column for column in card.labels if column not in artefact.key_columns]
    if strange:
        yield (
            f"{artefact.id}: `labels` names the column {strange[0]!r}; the key columns are "
            f"{artefact.key_columns}."
        )
    for tier in card.tiers.values():
        for column, names in tier.lacks.items():
            artefact.select({column: names})
    yield from _check_conclusions(artefact)
    if card.layout is not None:
        laid = [*card.layout.rows, *card.layout.columns]
        if sorted(laid) != sorted(artefact.key_columns):
            yield (
                f"{artefact.id}: `layout` names {laid}; it must name each key column once: "
                f"{artefact.key_columns}."
            )


def _check_decimals(artefact: Artefact) -> Iterator[str]:
    declared, cells = artefact.card.decimals, artefact.cells
    metrics = sorted(set(cells["metric"])) if "metric" in cells else []
    for metric in declared:
        if metric != "all" and metric not in metrics:
            yield f"{artefact.id}: `decimals` names the metric {metric!r}; found are {metrics}."
    rebuilt = any(tier.state == "rebuilt" for tier in artefact.card.tiers.values())
    if rebuilt and "all" not in declared:
        for metric in metrics or ["all"]:
            if metric not in declared:
                yield (
                    f"{artefact.id}: `decimals` says nothing of the metric {metric!r}; "
                    "declare its digits, or text."
                )
    for line, row in enumerate(cells.to_dict("records"), start=2):
        digits = declared.get(row.get("metric", "all"), declared.get("all", "text"))
        if digits == "text":
            continue
        value, place = row["value"], f"{artefact.cells_path}, line {line}"
        # A dash where the print has no number.
        if row.get("marker") == "not_reported":
            continue
        if not is_number(value):
            yield f"{place}: {value!r} is no number, but `decimals` declares {digits} digits."
        elif decimals_shown(value) > digits:
            yield f"{place}: {value!r} shows more digits than the {digits} declared."


def _check_conclusions(artefact: Artefact) -> Iterator[str]:
    labels, cells = artefact.card.labels, artefact.unlabelled(artefact.cells)
    names = key_columns(cells)
    printed = set(cells[names].itertuples(index=False, name=None))
    for conclusion in artefact.card.conclusions:
        place = f"{artefact.id}: conclusion {conclusion.id}"
        for predicate in conclusion.holds_if:
            overrides = list(filter(None, (predicate.other, predicate.low, predicate.high)))
            named = set(labels) & {
                column for part in (predicate.cells, *overrides) for column in part
            }
            if named:
                yield (
                    f"{place} names the label {sorted(named)[0]!r}, which only describes other "
                    f"columns; name cells by {names}."
                )
                continue
            selected = cells[artefact.select(predicate.cells)][names].to_dict("records")
            for override in overrides:
                unknown = [column for column in override if column not in names]
                # Put onto each selected cell, an override must lead to a printed cell.
                lost = [key for key in selected if tuple((key | override).values()) not in printed]
                if unknown:
                    yield f"{place} names the column {unknown[0]!r}; the cells have {names}."
                elif lost:
                    yield f"{place} compares with a cell that is not there, {lost[0] | override}."
    twice = Counter(
        entry.id for part in (artefact.card.conclusions, artefact.card.errata) for entry in part
    )
    for name, count in twice.items():
        if count > 1:
            yield f"{artefact.id}: the id {name!r} stands {count} times; give each its own."


def find_artefact(papers: Mapping[str, Paper], wanted: str) -> Artefact:
    """Artefact by its id; an unknown id is an error that suggests the nearest ones."""
    known = {artefact.id: artefact for artefact in all_artefacts(papers)}
    if wanted in known:
        return known[wanted]
    near = get_close_matches(wanted, [*papers, *known], n=3, cutoff=0.3)
    hint = f"did you mean {', '.join(near)}" if near else "see `everycell list`"
    raise CardError(f"{wanted!r} is no artefact; {hint}.")
