"""Models of the YAML files of ``published/``: a paper, its chapters and their cards.

A paper is a folder of ``published/``: ``paper.yaml`` names it, and one YAML file a chapter holds a
card for each of its tables and figures. A card says what each tier can say about an artefact.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from everycell.engine.printed_cells import Selector

Tier = Literal["embedded", "released", "full"]
State = Literal["rebuilt", "stand_in", "quoted", "not_run", "drawing"]
#: Where the cause of an erratum is: in the print; in our copy of it; in the analysis, of which the
#: printed number is what the software gives; or undecided.
Where = Literal["print", "copy", "method", "undecided"]
TIERS: tuple[Tier, ...] = ("embedded", "released", "full")
#: What a tier says of an artefact when its run is not there, or could not be had.
RUNNABLE: frozenset[State] = frozenset({"rebuilt", "stand_in"})


class CardFileModel(BaseModel):
    """What stands in a card file: unknown keys are an error, and nothing changes once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,))


class TierCard(CardFileModel):
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


class Layout(CardFileModel):
    """Which key columns run down a shown table and which run across."""

    rows: list[str]
    columns: list[str]


class Tolerance(CardFileModel):
    """A distance within which a cell counts as close, derived from a named cause."""

    cells: Selector = {}
    within: float = Field(gt=0)
    because: str = Field(min_length=10)


class Quoted(CardFileModel):
    """Printed cells that are inputs, or that the paper took from elsewhere."""

    cells: Selector = {}
    because: str = Field(min_length=3)
    #: True where a rebuild may read the printed values of these cells.
    is_input: bool = False
    #: Tiers in which they are quoted: the full run may rebuild what a smaller one takes as given.
    tiers: Annotated[list[Tier], Field(min_length=1)] = list(TIERS)


class Derived(CardFileModel):
    """Printed cells that a tier works out from other printed cells: the print against itself."""

    cells: Selector = {}
    because: str = Field(min_length=10, description="From which printed cells, and how.")
    tiers: Annotated[list[Tier], Field(min_length=1)] = list(TIERS)


class NotRun(CardFileModel):
    """Printed cells that a tier cannot reach although it rebuilds others of the artefact."""

    cells: Selector
    tier: Tier
    needs: str = Field(min_length=3)


class Gives(CardFileModel):
    """What a rebuild gives in printed cells that an erratum explains."""

    cells: Selector
    value: str = Field(min_length=1, description="At the precision of the print.")


class Erratum(CardFileModel):
    """A printed value that does not stand, with its evidence."""

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    where: Where
    #: The cells it explains; none where the finding is about the text around them.
    cells: list[Selector] = []
    #: Rebuilt values that it explains; a cell with another value differs, erratum or not.
    gives: list[Gives] = []
    finding: str = Field(min_length=10)
    evidence: str = Field(min_length=10)
    #: Name of the audit of the card's chapter that shows it from printed numbers.
    audit: str | None = None
    source: str | None = None


class Predicate(CardFileModel):
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


class Conclusion(CardFileModel):
    """A claim of the paper, in our words, that the rebuilt table can support or contradict."""

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    claim: str = Field(min_length=10)
    source: str = Field(min_length=2, description="Line or section of the paper.")
    #: All predicates must hold.
    holds_if: Annotated[list[Predicate], Field(min_length=1)]
    #: Name of the significance test where the paper claims significance.
    test: str | None = None


class Card(CardFileModel):
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
    derived: list[Derived] = []
    not_run: list[NotRun] = []
    conclusions: list[Conclusion] = []
    errata: list[Erratum] = []
    #: Tables that stand beside the rebuilt one: file suffix -> title.
    beside: dict[str, str] = {}
    explanation: str | None = None


class ChapterFile(CardFileModel):
    """A chapter: `chN.yaml` with the cards of its artefacts."""

    chapter: str
    title: str
    source: str | None = None
    artefacts: dict[str, Card]


class PaperFile(CardFileModel):
    """A paper: its `paper.yaml`."""

    title: str
    authors: str
    year: int
    kind: Literal["thesis", "paper"]
    reference: str
    #: Files of the folder that are facts for a rebuild and no artefact's cells.
    facts: list[str] = []
