"""Models of the record of a table, figure or passage of text."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, model_validator

from everycell.base.validation import Strict
from everycell.records.cells import SEEDS, Selector, as_number
from everycell.records.claims import Claim, DecisiveIf, NotTestable
from everycell.records.folders import TIERS, Tier

State = Literal["reproduced", "surrogate", "quoted", "not run", "drawing"]
#: Cause of an erratum: an error of the paper, a transcription error, another method than described,
#: or unknown.
Cause = Literal["published", "copy", "method", "unknown"]
#: States of tiers that can be run.
RUNNABLE: frozenset[State] = frozenset({"reproduced", "surrogate"})


class DeclaredTier(Strict):
    """What a tier provides for an artefact."""

    state: State = Field(
        description="`reproduced`: computed again; `surrogate`: run on surrogate data; "
        "`quoted`: taken from the paper; `not_run`: not computed; `drawing`: without data."
    )
    needs: str = Field(min_length=3, description="Requirements of a run, as a short text.")
    name: str | None = Field(
        None, description="With `surrogate`: description of the surrogate data for the page."
    )
    lacks: dict[str, list[str]] = Field(
        {},
        description="With `surrogate`: key column -> values that the surrogate data do not have. "
        "Claims that select them together with other values are tested on the other values.",
    )
    may_lack: dict[str, list[str]] = Field(
        {},
        description="With `reproduced`: key column -> values whose cells a run may omit, such as "
        "models that the user chooses.",
    )
    varies: str | None = Field(
        None,
        min_length=10,
        description="With `surrogate`: why values differ between machines; `check-verdicts` then "
        "skips the claims.",
    )
    varies_by: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="With `varies`: largest difference of a number between machines, as a share of "
        "the range of the numbers of its metric, or of its column.",
    )
    settings: list[
        Annotated[str, Field(pattern=r"^([2-9] of [a-z0-9_.]+|[a-z0-9_.]+(\|[a-z0-9_.]+)*)$")]
    ] = Field(
        [],
        description="Keys of `config.yaml` that the user must set for a run. `a|b` requires one of "
        "two keys; `3 of a` requires a list of at least three values.",
    )
    decisive_if: list[DecisiveIf] = Field(
        [],
        description="With `surrogate`: conditions that the surrogate data must meet to test "
        "a claim.",
    )
    not_testable: NotTestable | None = Field(
        None, description="With `surrogate`: claims that the surrogate data cannot test."
    )

    @model_validator(mode="after")
    def _check_state(self) -> DeclaredTier:
        if self.state == "surrogate" and not self.name:
            raise ValueError("the state surrogate requires a `name` of the surrogate data")
        if self.state != "surrogate" and self.lacks:
            raise ValueError("`lacks` requires the state surrogate; use `not_run` of the record")
        if self.state != "reproduced" and self.may_lack:
            raise ValueError("`may_lack` requires the state reproduced; surrogate has `lacks`")
        if self.state != "surrogate" and self.varies:
            raise ValueError("`varies` requires the state surrogate")
        if (self.varies is None) != (self.varies_by is None):
            raise ValueError("`varies` and `varies_by` require each other")
        if self.state != "surrogate" and self.decisive_if:
            raise ValueError("`decisive_if` requires the state surrogate")
        if self.state != "surrogate" and self.not_testable:
            raise ValueError(
                "`not_testable` requires the state surrogate; list the claim in `untested`"
            )
        return self

    def can_test(self, claim: str) -> bool:
        """Whether the tier's data can test a claim, by its id."""
        declared = self.not_testable
        return declared is None or claim not in (declared.claims or [claim])


class Layout(Strict):
    """Key columns in the rows and in the columns of a displayed table."""

    rows: list[str] = Field(description="Key columns down the table.")
    columns: list[str] = Field(description="Key columns across the table.")


class Precision(Strict):
    """Precision of cells that differs from that of their metric."""

    cells: Selector = Field(description="Selector of the cells.")
    decimals: int | Literal["text"] | None = Field(
        None, description="Published decimals, or `text`; by default those of the metric."
    )
    measured: bool = Field(
        False,
        description="For numbers without decimals: whether they are rounded measurements, such as "
        "percentages, and not counts, labels or ranks.",
    )

    @model_validator(mode="after")
    def _is_not_empty(self) -> Precision:
        if self.decimals is None and not self.measured:
            raise ValueError("a precision needs `decimals` or `measured: true`")
        if self.measured and self.decimals not in (0, None):
            raise ValueError(
                "`measured` is for numbers without decimals; those with decimals are always "
                "measured"
            )
        return self


class Tolerance(Strict):
    """A distance within which a cell counts as within tolerance, derived from a stated cause."""

    cells: Selector = Field({}, description="Selector of the cells; by default all.")
    within: float | None = Field(
        None, gt=0, description="Largest distance from the published value."
    )
    relative: float | None = Field(
        None,
        gt=0,
        le=0.5,
        description="Instead of `within`: largest distance as a share of the published value, such "
        "as 0.01.",
    )
    from_spread: list[Tier] = Field(
        [],
        description="Instead of `within`: tiers in which the distance is derived from the spread "
        "over several seeds.",
    )
    published_is_mean_of: int = Field(
        1, ge=1, description="Number of training runs that the published value is a mean of."
    )
    because: str = Field(
        min_length=10,
        description="Cause from which the distance follows; never the observed difference.",
    )

    @model_validator(mode="after")
    def _one_distance(self) -> Tolerance:
        if [self.within is None, self.relative is None, not self.from_spread].count(False) != 1:
            raise ValueError("a tolerance needs either `within`, `relative` or `from_spread`")
        if not self.from_spread and self.published_is_mean_of > 1:
            raise ValueError("`published_is_mean_of` requires `from_spread`")
        return self

    def distance_from(self, published: str) -> float | None:
        """Declared distance from a published value; None if it is derived from a spread."""
        number = as_number(published)
        if self.relative is None or number is None:
            return self.within
        return self.relative * abs(number)


class Quoted(Strict):
    """Published cells that are inputs, or that the paper quotes from elsewhere."""

    cells: Selector = Field({}, description="Selector of the cells; by default all.")
    because: str = Field(min_length=3, description="Why they are quoted.")
    is_input: bool = Field(False, description="Whether a rule may read these published values.")
    observations: bool = Field(
        False,
        description="Whether these inputs are data, such as votes or annotations, and not results; "
        "values computed from them then count as reproduced.",
    )
    tiers: Annotated[list[Tier], Field(min_length=1)] = Field(
        list(TIERS), description="Tiers in which they are quoted."
    )


class Derived(Strict):
    """Published cells that a tier computes from other published values."""

    cells: Selector = Field({}, description="Selector of the cells; by default all.")
    because: str = Field(
        min_length=10, description="Published values that they are computed from, and how."
    )
    tiers: Annotated[list[Tier], Field(min_length=1)] = Field(
        list(TIERS), description="Tiers that compute them in this way."
    )


class NotRun(Strict):
    """Published cells that a tier cannot compute although it reproduces other cells."""

    cells: Selector = Field(description="Selector of the cells.")
    tier: Tier = Field(description="Tier that cannot compute them.")
    needs: str = Field(min_length=3, description="What computing them would require.")


class Yields(Strict):
    """Where the value is found that the cause of an erratum yields for published cells.

    It is computed by the rule: a cell of the reproduced table, or of a supplementary one. Only if
    it equals the published value after rounding is the cell explained.
    """

    cells: Selector = Field(description="Selector of some of the erratum's cells.")
    at: dict[str, str] = Field(
        {}, description="Key columns in which the cell that has the value differs."
    )
    supplement: str | None = Field(
        None,
        pattern=r"^((table|figure|text)_\w+\.)?\w+$",
        description="Table that has the value; by default the artefact's own.",
    )

    @model_validator(mode="after")
    def _is_another_cell(self) -> Yields:
        if not self.at and self.supplement is None:
            raise ValueError(
                "`yields` needs `at` or `supplement`, since the reproduced value of the cell "
                "itself cannot explain why the published one differs"
            )
        return self


class Erratum(Strict):
    """A published value that is wrong or disputed, with the evidence."""

    id: str = Field(pattern=r"^[a-z0-9_]+$", description="Name of the erratum.")
    cause: Cause = Field(
        description="`published`: an error of the paper, shown by internal evidence; `copy`: a "
        "transcription error; `method`: the value was computed differently from the paper's "
        "description; `unknown`."
    )
    cells: list[Selector] = Field(
        [], description="Selectors of the cells that it explains; empty if the text is wrong."
    )
    yields: list[Yields] = Field(
        [],
        description="Values that the cause yields. A cell is explained only if its value equals "
        "the published one after rounding; without `yields`, or with an unknown cause, it differs.",
    )
    finding: str = Field(min_length=10, description="What is wrong.")
    evidence: str = Field(min_length=10, description="Evidence for the finding.")
    audit: str | None = Field(
        None,
        description="Function in `audits.py` of the chapter that tests the finding on published "
        "values.",
    )
    source: str | None = Field(None, description="Section or page of the paper.")
    same_as: str | None = Field(
        None,
        pattern=r"^\w+/\w+ [a-z0-9_]+$",
        description="The same erratum in another record, as `KEY/table_2 ID`; the two count as "
        "one.",
    )


class Record(Strict):
    """Record of a table, figure, passage of text or drawing."""

    kind: Literal["table", "figure", "text", "drawing"] = Field(
        description="Kind of artefact; `text` is a passage of text."
    )
    title: str = Field(min_length=5, description="Title in your own words.")
    source: str = Field(min_length=2, description="Section or page of the paper.")
    tiers: Annotated[dict[Tier, DeclaredTier], Field(min_length=1)] = Field(
        description="State and requirements of each tier."
    )
    unpublished: bool = Field(
        False, description="Whether the paper states no values of a passage that has `decimals`."
    )
    layout: Layout | None = Field(None, description="Rows and columns of the displayed table.")
    readings: str | None = Field(
        None,
        description="Column that only the reproduced table has: a setting that the paper does not "
        "specify, with a result for each of its values.",
    )
    names: dict[str, str] = Field(
        {},
        description="Published headings of key columns and metrics, and published labels. "
        "`Attribution quality | Recall` puts `Recall` under a spanning heading.",
    )
    labels: list[str] = Field(
        [],
        description="Key columns that only describe other key columns; claims are tested without "
        "them.",
    )
    decimals: dict[str, int | Literal["text"]] = Field(
        {},
        description="Metric -> published decimals, or `text` to compare strings; `all` applies to "
        "all other metrics.",
    )
    precision: list[Precision] = Field(
        [],
        description="Cells whose precision differs from that of their metric, and measurements "
        "rounded to whole numbers.",
    )
    tolerances: list[Tolerance] = Field(
        [], description="Distances within which a cell counts as within tolerance."
    )
    quoted: list[Quoted] = Field([], description="Cells that are inputs or quoted from elsewhere.")
    derived: list[Derived] = Field(
        [], description="Cells that a tier computes from other published values."
    )
    kinds: dict[Literal["number", "category", "identifier", "check", "empty"], list[Selector]] = (
        Field(
            {},
            description="Kinds of cells; by default, numeric values are a `number`, others a "
            "`category`. A `check` does not count as a cell: the paper does not publish it in this "
            "form (such as a hash). Nor does an `empty` cell; a dash among numbers, or with the "
            "marker `not_reported`, is empty without a declaration.",
        )
    )
    not_run: list[NotRun] = Field(
        [], description="Cells that a tier cannot compute although it reproduces other cells."
    )
    claims: list[Claim] = Field([], description="Claims of the paper.")
    errata: list[Erratum] = Field(
        [], description="Published values that are wrong or disputed, with the evidence."
    )
    supplements: dict[str, str] = Field(
        {}, description="Supplementary tables and figures: file suffix -> title."
    )
    explanation: str | None = Field(None, description="Explanation for readers of the page.")

    def tables_read(self, tier: Tier) -> set[str]:
        """Supplementary tables that verdicts of a tier read, as predicates name them."""
        rules = self.tiers[tier].decisive_if if tier in self.tiers else []
        seeds = {SEEDS} if any(tier in entry.from_spread for entry in self.tolerances) else set()
        yielded = {
            entry.supplement
            for erratum in self.errata
            for entry in erratum.yields
            if entry.supplement
        }
        return (
            seeds
            | yielded
            | {
                predicate.supplement
                for entry in (*self.claims, *rules)
                for predicate in entry.supported_if
                if predicate.supplement is not None
            }
        )

    def artefacts_with_tables_read(self, tier: Tier) -> set[str]:
        """Other artefacts whose tables the claims or conditions of a tier read."""
        return {owner for owner, _ in map(split_supplement_name, self.tables_read(tier)) if owner}


def split_supplement_name(name: str) -> tuple[str, str]:
    """Split a table's name into artefact and suffix, either of which may be empty."""
    owner, dot, suffix = name.partition(".")
    if dot or re.match("(table|figure|text)_", name):
        return owner, suffix
    return "", name
