"""Models of the YAML files of ``published/``: a paper, its chapters and their records.

A paper is a folder of ``published/``: ``paper.yaml`` names it, and one YAML file per chapter holds
a record for each of its tables and figures. A record says what each tier gives of an artefact.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, model_validator

from everycell.engine.claims import CardFileModel, Conclusion, NotTestable, SpeaksIf, Untested
from everycell.engine.published_cells import Selector
from everycell.engine.spread import SEEDS
from everycell.engine.tiers import TIERS, Tier

State = Literal["rebuilt", "stand_in", "quoted", "not_run", "drawing"]
#: Place of an erratum's cause: the paper; our copy of it; the method (the published number is what
#: the software gives, but the analysis is open to criticism); or undecided.
Where = Literal["print", "copy", "method", "undecided"]
#: States of an artefact in a tier without a run.
RUNNABLE: frozenset[State] = frozenset({"rebuilt", "stand_in"})


class TierCard(CardFileModel):
    """What a tier provides for an artefact."""

    state: State = Field(
        description="`rebuilt`: reproduced; `stand_in`: run on surrogate data; `quoted`: taken "
        "from the paper; `not_run`: not computed; `drawing`: a drawing without data."
    )
    needs: str = Field(min_length=3, description="What a run of this tier needs, in words.")
    name: str | None = Field(None, description="Surrogate data: what they are, for the page.")
    lacks: dict[str, list[str]] = Field(
        {},
        description="Surrogate data: key column -> values without a counterpart. A claim that "
        "selects them among others is tested on the others.",
    )
    may_lack: dict[str, list[str]] = Field(
        {},
        description="Reproduced: key column -> values whose cells a run may omit, such as models "
        "that the user chooses.",
    )
    varies: str | None = Field(
        None,
        min_length=10,
        description="Surrogate data: why values differ between machines; `check-verdicts` then "
        "skips the claims.",
    )
    settings: list[
        Annotated[str, Field(pattern=r"^([2-9] of [a-z0-9_.]+|[a-z0-9_.]+(\|[a-z0-9_.]+)*)$")]
    ] = Field(
        [],
        description="Keys of `config.yaml` that only the user can set and that a run needs. `a|b` "
        "is one of two; `3 of a` is three names under a key.",
    )
    speaks_if: list[SpeaksIf] = Field(
        [], description="Surrogate data: what they must show before they count for a claim."
    )
    not_testable: NotTestable | None = Field(
        None, description="Surrogate data: claims that they cannot test by their nature."
    )

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

    rows: list[str] = Field(description="Key columns down the table.")
    columns: list[str] = Field(description="Key columns across the table.")


class Precision(CardFileModel):
    """Precision of cells that differs from that of the rest of their metric."""

    cells: Selector = Field(description="Selector of the cells.")
    decimals: int | Literal["text"] | None = Field(
        None, description="As in the record's `decimals`; by default those of the metric."
    )
    measured: bool = Field(
        False,
        description="Numbers without decimals: whether they are rounded measurements (a share in "
        "whole percents) and not counts, labels or ranks.",
    )

    @model_validator(mode="after")
    def _is_not_empty(self) -> Precision:
        if self.decimals is None and not self.measured:
            raise ValueError("a precision needs `decimals`, or `measured: true`")
        if self.measured and self.decimals not in (0, None):
            raise ValueError("`measured` is for numbers without decimals; others always are")
        return self


class Tolerance(CardFileModel):
    """A distance within which a cell counts as close, derived from a named cause."""

    cells: Selector = Field({}, description="Selector of the cells; by default all.")
    within: float | None = Field(
        None, gt=0, description="Largest distance from the published value."
    )
    from_spread: list[Tier] = Field(
        [],
        description="Instead of `within`: tiers that train with several seeds, whose spread gives "
        "the distance.",
    )
    print_is_mean_of: int = Field(
        1, ge=1, description="Number of training runs of which the published value is the mean."
    )
    because: str = Field(
        min_length=10,
        description="How the distance follows from a named cause, never from the observed one.",
    )

    @model_validator(mode="after")
    def _one_distance(self) -> Tolerance:
        if (self.within is None) == (not self.from_spread):
            raise ValueError("a tolerance needs `within` or `from_spread`, and not both")
        if self.within is not None and self.print_is_mean_of > 1:
            raise ValueError("`print_is_mean_of` goes with `from_spread`, not with `within`")
        return self


class Quoted(CardFileModel):
    """Published cells that are inputs, or that the paper took from elsewhere."""

    cells: Selector = Field({}, description="Selector of the cells; by default all.")
    because: str = Field(min_length=3, description="Why they are quoted.")
    is_input: bool = Field(False, description="Whether a rule may read these published values.")
    observations: bool = Field(
        False,
        description="Whether these inputs are data and not results (votes, annotations), so that "
        "values computed from them count as reproduced.",
    )
    tiers: Annotated[list[Tier], Field(min_length=1)] = Field(
        list(TIERS), description="Tiers in which they are quoted."
    )


class Derived(CardFileModel):
    """Published cells that a tier computes from other published values."""

    cells: Selector = Field({}, description="Selector of the cells; by default all.")
    because: str = Field(min_length=10, description="From which published values, and how.")
    tiers: Annotated[list[Tier], Field(min_length=1)] = Field(
        list(TIERS), description="Tiers that compute them in this way."
    )


class NotRun(CardFileModel):
    """Published cells that a tier cannot compute although it reproduces others of the artefact."""

    cells: Selector = Field(description="Selector of the cells.")
    tier: Tier = Field(description="Tier that cannot compute them.")
    needs: str = Field(min_length=3, description="What would be needed, in words.")


class Gives(CardFileModel):
    """Reproduced value of published cells that an erratum explains."""

    cells: Selector = Field(description="Selector of cells that the erratum selects too.")
    value: str = Field(
        min_length=1,
        description="Reproduced value at the published precision; only it is explained.",
    )


class Erratum(CardFileModel):
    """A published value that is wrong or disputed, with the evidence."""

    id: str = Field(pattern=r"^[a-z0-9_]+$", description="Name of the erratum.")
    where: Where = Field(
        description="Place of the cause. `print`: the paper, shown by internal evidence; `copy`: a "
        "transcription error; `method`: the value follows from another computation than the "
        "described one; `undecided`: the cause is unknown."
    )
    cells: list[Selector] = Field(
        [], description="Selectors of the cells that it explains; none if the text is wrong."
    )
    gives: list[Gives] = Field(
        [],
        description="Reproduced values that it explains; a cell with another value differs.",
    )
    finding: str = Field(min_length=10, description="What is wrong.")
    evidence: str = Field(min_length=10, description="How that is known.")
    audit: str | None = Field(
        None,
        description="Function in `audits.py` of the chapter that shows it from published values.",
    )
    source: str | None = Field(None, description="Section or page of the paper.")
    same_as: str | None = Field(
        None,
        pattern=r"^\w+/\w+ [a-z0-9_]+$",
        description="The same erratum in another record, as `KEY/table_2 ID`; both count once.",
    )


class Card(CardFileModel):
    """Everything known about one table, figure, passage of text or drawing."""

    kind: Literal["table", "figure", "text", "drawing"] = Field(
        description="What it is; a passage of text is `text`."
    )
    title: str = Field(min_length=5, description="Title in your words.")
    source: str = Field(min_length=2, description="Section or page of the paper.")
    tiers: Annotated[dict[Tier, TierCard], Field(min_length=1)] = Field(
        description="What each tier gives."
    )
    layout: Layout | None = Field(None, description="Rows and columns of the displayed table.")
    readings: str | None = Field(
        None,
        description="Column that only the reproduced table has, with results for several settings "
        "that the paper leaves open.",
    )
    names: dict[str, str] = Field(
        {},
        description="Headings of key columns and metrics, and labels, as published. `Attribution "
        "quality | Recall` is a heading below that of a group of columns.",
    )
    labels: list[str] = Field(
        [],
        description="Key columns that only describe another one; claims are tested without them.",
    )
    decimals: dict[str, int | Literal["text"]] = Field(
        {},
        description="Metric -> published decimals, or `text` to compare strings; `all` is for "
        "every other metric.",
    )
    precision: list[Precision] = Field(
        [], description="Cells with another precision than their metric, and rounded whole numbers."
    )
    tolerances: list[Tolerance] = Field(
        [], description="Distances within which a cell counts as close."
    )
    quoted: list[Quoted] = Field([], description="Cells that are inputs or come from elsewhere.")
    derived: list[Derived] = Field(
        [], description="Cells that a tier computes from other published values."
    )
    published_inputs: list[Derived] = Field(
        [], description="Cells computed by the paper's method from inputs that the paper publishes."
    )
    kinds: dict[Literal["number", "category", "identifier", "check"], list[Selector]] = Field(
        {},
        description="Kinds of cells. By default a value is a `number` or, if it is not one, a "
        "`category`. A `check` is not published in this form (such as a hash) and is not counted "
        "as a cell.",
    )
    not_run: list[NotRun] = Field(
        [], description="Cells that a tier cannot compute although it reproduces others."
    )
    conclusions: list[Conclusion] = Field([], description="Claims of the paper.")
    errata: list[Erratum] = Field(
        [], description="Published values that are wrong or disputed, with the evidence."
    )
    beside: dict[str, str] = Field(
        {}, description="Supplementary tables and figures: file suffix -> title."
    )
    explanation: str | None = Field(None, description="Explanation for readers of the page.")

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
        return {owner for owner, _ in map(split_supplement_name, self.tables_read(tier)) if owner}


def split_supplement_name(name: str) -> tuple[str, str]:
    """Artefact of a supplementary table, and the table's suffix; either may be empty."""
    owner, dot, suffix = name.partition(".")
    if dot or re.match("(table|figure|text)_", name):
        return owner, suffix
    return "", name


class ChapterFile(CardFileModel):
    """A chapter, `chN.yaml`: the records of its tables, figures and passages of text."""

    chapter: str = Field(description='Number or letter, as text: `"1"`.')
    title: str = Field(description="Title in your words.")
    source: str | None = Field(None, description="Where the chapter is in the paper.")
    names: dict[str, str] = Field(
        {}, description="`names` for all records of the chapter; a record may override them."
    )
    artefacts: dict[str, Card] = Field(
        description="Records by id: `table_4_8`, `figure_A_1`, `text_4_3`.",
        json_schema_extra={"propertyNames": {"pattern": "^(table|figure|text)(_[0-9A-Z]+)+$"}},
    )
    untested: list[Untested] = Field([], description="Claims that cannot be tested.")


class PaperFile(CardFileModel):
    """A paper: its `paper.yaml`."""

    title: str = Field(description="Title of the paper.")
    authors: str = Field(description="Authors, separated by commas.")
    year: int = Field(description="Year of publication.")
    kind: Literal["thesis", "paper"] = Field(
        description="In a `thesis`, the number of a table begins with its chapter."
    )
    reference: str = Field(description="Where it was published.")
    # Its model is in `everycell.engine.publications`: what only the page shows is not part of the
    # code behind results.
    publication: dict[str, object] = Field(
        {}, description="Where it can be read and cited, and where its code and data are."
    )
    facts: list[str] = Field(
        [], description="CSV files of the folder that are not published values of an artefact."
    )
