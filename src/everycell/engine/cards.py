"""Models of the YAML files of ``published/``: a paper, its chapters and their cards.

A paper is a folder of ``published/``: ``paper.yaml`` names it, and one YAML file per chapter holds
a card for each of its tables and figures. A card says what each tier can tell about an artefact.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from everycell.engine.published_cells import Selector
from everycell.engine.spread import SEEDS
from everycell.engine.tiers import TIERS, Tier

State = Literal["rebuilt", "stand_in", "quoted", "not_run", "drawing"]
#: Place of an erratum's cause: the paper; our copy of it; the method (the published number is what
#: the software gives, but the analysis is open to criticism); or undecided.
Where = Literal["print", "copy", "method", "undecided"]
#: States of an artefact in a tier without a run.
RUNNABLE: frozenset[State] = frozenset({"rebuilt", "stand_in"})
#: What a conclusion can be tested on.
Kind = Literal["printed", "rebuilt", "stand_in"]
KINDS: tuple[Kind, ...] = ("printed", "rebuilt", "stand_in")
#: Names of metrics that are the outcome of a significance test.
_SIGNIFICANCE = re.compile(r"p([_ -].+)?|(.+ )?significant")


class CardFileModel(BaseModel):
    """Base of the models of card files: unknown keys are an error, and instances are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,))


class TierCard(CardFileModel):
    """What a tier provides for an artefact."""

    state: State
    needs: str = Field(min_length=3, description="What a run of this tier needs, in words.")
    #: For surrogate data: the name under which the page shows it.
    name: str | None = None
    #: For surrogate data: values of key columns without a counterpart there. A claim that
    #: selects them among others is tested on the others.
    lacks: dict[str, list[str]] = {}
    #: For a reproduced tier: values of key columns whose cells a run may leave out, such as models
    #: that the user does not name.
    may_lack: dict[str, list[str]] = {}
    #: For surrogate data: why values vary between machines, so that the outcome of a conclusion
    #: is not expected to be the same everywhere.
    varies: str | None = Field(None, min_length=10)
    #: Keys of ``config.yaml`` that only the user can set and that a run of this tier needs.
    #: "a|b" means one of the two; "3 of a" means three names under a key that holds names.
    settings: list[
        Annotated[str, Field(pattern=r"^([2-9] of [a-z0-9_.]+|[a-z0-9_.]+(\|[a-z0-9_.]+)*)$")]
    ] = []
    #: For surrogate data: what they must show before they count for or against a claim.
    speaks_if: list[SpeaksIf] = []
    #: For surrogate data: claims that they cannot test by their nature.
    not_testable: NotTestable | None = None

    @model_validator(mode="after")
    def _check_state(self) -> TierCard:
        if self.state == "stand_in" and not self.name:
            raise ValueError("a stand_in needs a `name` that says what it is run on")
        if self.state != "stand_in" and self.lacks:
            raise ValueError("only a stand_in has `lacks`; others name cells in `not_run`")
        if self.state != "rebuilt" and self.may_lack:
            raise ValueError("only what is rebuilt has `may_lack`; a stand_in has `lacks`")
        if self.state != "stand_in" and self.varies:
            raise ValueError("only a stand_in has `varies`; what is rebuilt must not vary")
        if self.state != "stand_in" and self.speaks_if:
            raise ValueError("only a stand_in has `speaks_if`; what is rebuilt speaks")
        if self.state != "stand_in" and self.not_testable:
            raise ValueError("only a stand_in has `not_testable`; give a conclusion `inconclusive`")
        return self

    def can_test(self, conclusion: str) -> bool:
        """Whether the tier's data can answer a conclusion, by its id."""
        declared = self.not_testable
        return declared is None or conclusion not in (declared.conclusions or [conclusion])


class Layout(CardFileModel):
    """Which key columns are rows of a displayed table and which are columns."""

    rows: list[str]
    columns: list[str]


class Precision(CardFileModel):
    """Precision of cells that differs from that of the rest of their metric."""

    cells: Selector
    #: As in `decimals`; if absent, the precision of the metric.
    decimals: int | Literal["text"] | None = None
    #: For numbers without decimals: whether they are rounded measurements (a share in whole
    #: percents) or counts, labels and ranks.
    measured: bool = False

    @model_validator(mode="after")
    def _says_something(self) -> Precision:
        if self.decimals is None and not self.measured:
            raise ValueError("a precision needs `decimals`, or `measured: true`")
        if self.measured and self.decimals not in (0, None):
            raise ValueError("`measured` is for numbers without decimals; others always are")
        return self


class Tolerance(CardFileModel):
    """A distance within which a cell counts as close, derived from a named cause."""

    cells: Selector = {}
    within: float | None = Field(None, gt=0)
    #: Instead of `within`: tiers that train with several seeds, whose spread gives the distance
    #: (`everycell.engine.spread`).
    from_spread: list[Tier] = []
    #: Number of training runs of which the published value is the mean.
    print_is_mean_of: int = Field(1, ge=1)
    because: str = Field(min_length=10)

    @model_validator(mode="after")
    def _one_distance(self) -> Tolerance:
        if (self.within is None) == (not self.from_spread):
            raise ValueError("a tolerance needs `within` or `from_spread`, and not both")
        if self.within is not None and self.print_is_mean_of > 1:
            raise ValueError("`print_is_mean_of` goes with `from_spread`, not with `within`")
        return self


class Quoted(CardFileModel):
    """Published cells that are inputs, or that the paper took from elsewhere."""

    cells: Selector = {}
    because: str = Field(min_length=3)
    #: Whether a rebuild may read the published values of these cells.
    is_input: bool = False
    #: Whether these inputs are data rather than results (votes, annotations, an example's
    #: documents), so that values computed from them count as rebuilt.
    observations: bool = False
    #: Tiers in which they are quoted: the full tier may rebuild what a smaller one takes as given.
    tiers: Annotated[list[Tier], Field(min_length=1)] = list(TIERS)


class Derived(CardFileModel):
    """Published cells that a tier derives from other ones: a check of the paper itself."""

    cells: Selector = {}
    because: str = Field(min_length=10, description="From which published cells, and how.")
    tiers: Annotated[list[Tier], Field(min_length=1)] = list(TIERS)


class NotRun(CardFileModel):
    """Published cells that a tier cannot reach although it rebuilds others of the artefact."""

    cells: Selector
    tier: Tier
    needs: str = Field(min_length=3)


class Gives(CardFileModel):
    """Reproduced value of published cells that an erratum explains."""

    cells: Selector
    value: str = Field(min_length=1, description="At the published precision.")


class Erratum(CardFileModel):
    """A published value that is wrong or disputed, with the evidence."""

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    where: Where
    #: Cells that it explains; none if the finding concerns the text around them.
    cells: list[Selector] = []
    #: Reproduced values that it explains; a cell with another value differs despite the erratum.
    gives: list[Gives] = []
    finding: str = Field(min_length=10)
    evidence: str = Field(min_length=10)
    #: Name of the audit, of the card's chapter, that shows it from published numbers.
    audit: str | None = None
    source: str | None = None
    #: The same finding on another card, `KEY/table_2 its_id`, with which it is counted once.
    same_as: str | None = Field(None, pattern=r"^\w+/\w+ [a-z0-9_]+$")


class Predicate(CardFileModel):
    """A claim as a test over the cells of one table.

    Each cell that `cells` selects is compared with `value`, or with the cell whose key differs from
    its own only in `other`. The claim holds if `quantifier` of the comparisons are true. A
    difference that is not significant is not decisive: a comparison is undecided if its interval
    (`low` and `high`, or `interval`) contains the value, if its p-value is not below `alpha`, or if
    the marker shows no significance (`sign`, `letters`). With `absolute` the signs of the two
    numbers are ignored, as in "further away". With `undecided_if_equal` a comparison of two equal
    numbers is undecided: no difference is not evidence against the claim.
    """

    quantifier: Literal["all", "any", "all but one", "none", "most", "almost all"] = "all"
    cells: Selector
    op: Literal["<", "<=", ">", ">=", "==", "!=", "in", "not in", "contains", "lacks"]
    value: float | str | list[str] | None = None
    other: dict[str, str] | None = None
    #: Key columns of a cell to subtract first, for the cell and for the other one.
    minus: dict[str, str] | None = None
    other_minus: dict[str, str] | None = None
    #: Key columns of a cell by which to divide first.
    over: dict[str, str] | None = None
    #: Table of these cells: the suffix of one of its supplementary tables ("tests"), one of
    #: another artefact of the paper ("table_5_1.intervals"), or that artefact's own table
    #: ("table_5_1").
    beside: str | None = Field(None, pattern=r"^((table|figure|text)_\w+\.)?\w+$")
    #: Column to read: "value", "marker", or a column after `value` in a supplementary table.
    reads: str = "value"
    #: Tables on which it is tested. The paper has no supplementary tables.
    tested_on: Annotated[list[Kind], Field(min_length=1)] = list(KINDS)
    low: dict[str, str] | None = None
    high: dict[str, str] | None = None
    #: The bounds of the interval are in the columns `low` and `high` of the cell's own row.
    interval: bool = False
    #: Key columns that lead from a cell to the p-value of its comparison.
    p: dict[str, str] | None = None
    alpha: float = Field(0.05, gt=0, lt=1)
    #: Sign in the marker of a cell whose comparison is significant.
    sign: str | None = Field(None, min_length=1)
    #: The marker of the greater cell names the smaller one by its value in the column of `other`.
    #: With "stand_in" this is required only in surrogate data, which have fewer queries.
    letters: bool | Literal["stand_in"] = False
    absolute: bool = False
    undecided_if_equal: bool = False

    @property
    def tests_significance(self) -> bool:
        """Whether a p-value, an interval or a marker is read."""
        names = [
            value
            for values in self.cells.values()
            for value in ([values] if isinstance(values, str) else values)
        ]
        return (
            any((self.low, self.interval, self.p, self.sign, self.letters is True))
            or self.reads == "marker"
            or any(_SIGNIFICANCE.fullmatch(name) for name in names)
        )

    @property
    def moves(self) -> list[dict[str, str]]:
        """Key columns that lead from a cell to each other cell of its comparison."""
        ways = [self.other, self.low, self.high, self.p, self.minus, self.over]
        return [
            *filter(None, ways),
            *([(self.other or {}) | self.other_minus] if self.other_minus else []),
        ]

    @model_validator(mode="after")
    def _one_side(self) -> Predicate:
        if (self.value is None) == (self.other is None):
            raise ValueError("a predicate needs `value` or `other`, and not both")
        if (self.low is None) != (self.high is None):
            raise ValueError("`low` and `high` go together")
        with_interval = self.interval or self.low is not None
        if with_interval and self.value is None:
            raise ValueError("an interval (`interval`, `low`, `high`) is tested against a `value`")
        if self.interval and self.low is not None:
            raise ValueError("an interval is given by `interval` or by `low` and `high`, not both")
        if (self.op in ("in", "not in")) != isinstance(self.value, list):
            raise ValueError("`in` and `not in` need a list as `value`, other comparisons none")
        if self.op in ("contains", "lacks") and not isinstance(self.value, str):
            raise ValueError("`contains` and `lacks` need a text as `value`")
        if self.absolute and with_interval:
            raise ValueError("an interval has signs, so `absolute` does not go with it")
        if self.undecided_if_equal and self.op not in ("<", ">"):
            raise ValueError("`undecided_if_equal` goes with `<` and `>` alone")
        if self.op in ("<", "<=", ">", ">=") and isinstance(self.value, str):
            raise ValueError(f"`{self.op}` needs a number as `value`, without quotation marks")
        return self

    @model_validator(mode="after")
    def _sides_of_significance(self) -> Predicate:
        if self.letters and (self.other is None or len(self.other) != 1):
            raise ValueError("`letters` needs `other` with one column, whose value is a letter")
        if self.reads == "marker" and self.op in ("<", "<=", ">", ">="):
            raise ValueError("a marker is text: compare it with `contains`, `lacks`, `==` or `in`")
        if self.other_minus is not None and (self.other is None or self.minus is None):
            raise ValueError("`other_minus` goes with `minus` and `other`")
        if self.minus is not None and self.other is not None and self.other_minus is None:
            raise ValueError("`minus` with `other` needs `other_minus`: one difference against one")
        if self.over is not None and (self.other or self.minus):
            raise ValueError("`over` goes with `value`: a share is compared with a number")
        if self.interval and self.beside is None:
            raise ValueError("`interval` reads the columns of a table `beside`; name it")
        if self.reads not in ("value", "marker") and self.beside is None:
            raise ValueError(f"`reads: {self.reads}` names a column of a table `beside`; name it")
        if self.beside is not None and self.tested_on == ["printed"]:
            raise ValueError("`tested_on: [printed]`, but the paper has no supplementary table")
        return self


class SpeaksIf(CardFileModel):
    """What surrogate data must show before they count for or against a claim.

    If `holds_if` does not hold, each comparison with one of the cells is undecided. A rule that
    names neither cells nor conclusions is about the whole table, which is then not testable.
    """

    #: The cells that it applies to; all of them, if absent.
    cells: Selector = {}
    #: The claims to which it applies; all of them, if absent.
    conclusions: list[str] = []
    holds_if: Annotated[list[Predicate], Field(min_length=1)]
    because: str = Field(
        min_length=10, description="Why the surrogate data would not count otherwise."
    )


class NotTestable(CardFileModel):
    """Claims that other data than the paper's cannot test by their nature."""

    because: str = Field(min_length=10, description="One sentence for all of them.")
    #: All claims, if absent.
    conclusions: Annotated[list[str], Field(min_length=1)] | None = None


class Conclusion(CardFileModel):
    """A claim of the paper, in our words, that the reproduced table can support or contradict."""

    id: str = Field(pattern=r"^[a-z0-9_]+$")
    claim: str = Field(min_length=10)
    source: str = Field(min_length=2, description="Section or page of the paper.")
    #: All predicates must hold.
    holds_if: Annotated[list[Predicate], Field(min_length=1)]
    #: The significance test where the paper claims significance; a predicate reads its outcome.
    test: str | None = None
    #: Its outcome on the published cells. A claim that they contradict needs an erratum.
    on_print: Literal["holds", "fails", "undecided"] = "holds"
    #: Why nothing decides the claim, such as words without a number for which we declare no margin.
    inconclusive: str | None = Field(None, min_length=10)
    #: The predicates are one comparison by several tests, as the paper names none.
    tests_must_agree: bool = False
    #: The card's erratum about this claim; without a known cause it contradicts nothing.
    erratum: str | None = None


class Untested(CardFileModel):
    """A claim of a chapter that cannot be tested here."""

    source: str = Field(min_length=2, description="Section or page of the paper.")
    claim: str = Field(min_length=10)
    reason: str = Field(min_length=10)


class Card(CardFileModel):
    """Everything known about one table, figure, passage of text or drawing."""

    kind: Literal["table", "figure", "text", "drawing"]
    title: str = Field(min_length=5)
    source: str = Field(min_length=2)
    tiers: Annotated[dict[Tier, TierCard], Field(min_length=1)]
    layout: Layout | None = None
    #: Column that only our table has: results for several settings, of which one is compared with
    #: the published values (`everycell.engine.readings`).
    readings: str | None = None
    #: Headings of key columns and metrics, and labels, as published.
    #: "Attribution quality | Recall" is a heading below that of a group of columns.
    names: dict[str, str] = {}
    #: Key columns that only describe another one; conclusions are tested without them.
    labels: list[str] = []
    #: Decimals by metric; "text" compares the strings. `all` holds where no metric is named.
    decimals: dict[str, int | Literal["text"]] = {}
    #: Cells with another precision than their metric, and rounded whole numbers.
    precision: list[Precision] = []
    tolerances: list[Tolerance] = []
    quoted: list[Quoted] = []
    derived: list[Derived] = []
    #: Cells that a tier computes by the paper's method from inputs that the paper publishes.
    published_inputs: list[Derived] = []
    #: Kinds of cells, where they are not numbers, or categories compared as text. A `check` is
    #: not published in this form (such as a hash) and not counted as a cell.
    kinds: dict[Literal["number", "category", "identifier", "check"], list[Selector]] = {}
    not_run: list[NotRun] = []
    conclusions: list[Conclusion] = []
    errata: list[Erratum] = []
    #: Supplementary tables: file suffix -> title.
    beside: dict[str, str] = {}
    explanation: str | None = None

    def tables_read(self, tier: Tier) -> set[str]:
        """Supplementary tables that verdicts of a tier read, as predicates name them."""
        rules = self.tiers[tier].speaks_if if tier in self.tiers else []
        seeds = {SEEDS} if any(tier in one.from_spread for one in self.tolerances) else set()
        return seeds | {
            predicate.beside
            for entry in (*self.conclusions, *rules)
            for predicate in entry.holds_if
            if predicate.beside is not None
        }

    def artefacts_with_tables_read(self, tier: Tier) -> set[str]:
        """Return the other artefacts beside which conclusions or `speaks_if` read a table."""
        return {owner for owner, _ in map(table_beside, self.tables_read(tier)) if owner}


def table_beside(name: str) -> tuple[str, str]:
    """Artefact of a supplementary table, and the table's suffix; either may be empty."""
    owner, dot, suffix = name.partition(".")
    if dot or re.match("(table|figure|text)_", name):
        return owner, suffix
    return "", name


class ChapterFile(CardFileModel):
    """A chapter: `chN.yaml` with the cards of its artefacts."""

    chapter: str
    title: str
    source: str | None = None
    #: `names` for all its cards, which may have others.
    names: dict[str, str] = {}
    artefacts: dict[str, Card]
    #: Claims of the chapter that cannot be tested here, in addition to the conclusions of its
    #: cards.
    untested: list[Untested] = []


class PaperFile(CardFileModel):
    """A paper: its `paper.yaml`."""

    title: str
    authors: str
    year: int
    kind: Literal["thesis", "paper"]
    reference: str
    #: Publication data, see `everycell.engine.publications`: what only the page shows is not
    #: part of the code behind results.
    publication: dict[str, object] = {}
    #: Files of the folder with facts of the paper that are not cells of an artefact.
    facts: list[str] = []
