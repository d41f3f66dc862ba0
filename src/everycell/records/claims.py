"""Models of claims: predicates over the cells of a paper's tables."""

from __future__ import annotations

import re
from itertools import product
from typing import Annotated, Literal

from pydantic import Field, model_validator

from everycell.base.validation import Strict
from everycell.records.cells import Selector

#: Tables that a predicate can be tested on.
Kind = Literal["published", "reproduced", "surrogate"]
KINDS: tuple[Kind, ...] = ("published", "reproduced", "surrogate")
#: Names of metrics that are outcomes of significance tests.
_SIGNIFICANCE = re.compile(r"p([_ -].+)?|(.+ )?significant")


class Predicate(Strict):
    """A claim as a test over the cells of one table.

    Each cell that `cells` selects is compared with `value`, or with the cell whose key differs only
    in the columns of `other`. The claim is supported if as many comparisons are true as
    `quantifier` requires. A comparison is inconclusive if its interval (`low` and `high`, or
    `interval`) contains the value, if its p-value is not below `alpha`, or if its marker shows no
    significance (`sign`, `letters`).
    """

    quantifier: Literal["all", "any", "all but one", "none", "most", "almost all"] = Field(
        "all",
        description="How many comparisons must be true. `most`: more than half. `almost all`: at "
        "least 90 %; contradicted at 50 % or less and inconclusive in between.",
    )
    cells: Selector = Field(description="Selector of the cells to compare.")
    op: Literal[
        "<", "<=", ">", ">=", "==", "!=", "between", "highest", "lowest",
        "in", "not in", "contains", "lacks",
    ] = Field(
        description="Comparison. `between`: from the first to the second number of `value`, both "
        "included. `highest` and `lowest`: `position` of the cell in the order of `among`."
    )  # fmt: skip
    value: float | str | list[float] | list[str] | None = Field(
        None,
        description="Number, text, list of texts (for `in`) or two bounds (for `between`) to "
        "compare with.",
    )
    among: Selector = Field(
        {},
        description="With `highest` or `lowest`: the cells that a cell is ranked with, by the key "
        "columns in which they differ from it.",
    )
    position: int = Field(
        1,
        ge=1,
        description="With `among`: 1 for the best cell, 2 for the second best. Equal values share "
        "the better position.",
    )
    other: dict[str, str] | None = Field(
        None,
        description="Instead of `value`: the cell to compare with, by the key columns in which it "
        "differs.",
    )
    minus: dict[str, str] | None = Field(
        None,
        description="A cell to subtract first, by the key columns in which it differs; the "
        "difference is compared.",
    )
    other_minus: dict[str, str] | None = Field(
        None, description="With `minus` and `other`: the same for the other cell."
    )
    over: dict[str, str] | None = Field(
        None,
        description="With `value`: a cell to divide by, by the key columns in which it differs; "
        "the ratio is compared.",
    )
    supplement: str | None = Field(
        None,
        pattern=r"^((table|figure|text)_\w+\.)?\w+$",
        description="Table of the cells; by default the artefact's own. A supplementary table "
        "(`tests`), that of another artefact of the paper (`table_5_1.intervals`), or another "
        "artefact's own table (`table_5_1`).",
    )
    reads: str = Field(
        "value",
        description="Column to read: `value`, `marker`, or a column after `value` of a "
        "supplementary table.",
    )
    tested_on: Annotated[list[Kind], Field(min_length=1)] = Field(
        list(KINDS),
        description="Tables that it is tested on; a predicate with `supplement` is never tested on "
        "the published values.",
    )
    low: dict[str, str] | None = Field(
        None,
        description="With `high`: lower bound of an interval, by the key columns in which its cell "
        "differs.",
    )
    high: dict[str, str] | None = Field(
        None,
        description="With `low`: upper bound; inconclusive if `value` is in the interval.",
    )
    interval: bool = Field(
        False,
        description="Whether the bounds are in the columns `low` and `high` of the cell's row.",
    )
    p: dict[str, str] | None = Field(
        None,
        description="A p-value, by the key columns in which its cell differs; inconclusive if it "
        "is not below `alpha`.",
    )
    alpha: float = Field(0.05, gt=0, lt=1, description="Significance level.")
    sign: str | None = Field(
        None,
        min_length=1,
        description="Sign in the marker of significant cells, such as †; inconclusive without it.",
    )
    mark: str | None = Field(
        None,
        min_length=1,
        description="Sign that the claim itself asserts, such as † for 'significantly better'; "
        "false without it.",
    )
    letters: bool | Literal["surrogate"] = Field(
        False,
        description="Whether the marker of the greater cell must contain the letter of the smaller "
        "cell: that cell's value in the column of `other`. In a marker, `a-d` is a range of four "
        "letters. `surrogate`: only on surrogate data, which have fewer queries.",
    )
    absolute: bool = Field(False, description="Whether absolute values are compared.")

    @property
    def tests_significance(self) -> bool:
        """Whether the predicate reads a p-value, an interval or a marker."""
        names = [
            value
            for values in self.cells.values()
            for value in ([values] if isinstance(values, str) else values)
        ]
        return (
            any((self.low, self.interval, self.p, self.sign, self.mark, self.letters is True))
            or self.reads == "marker"
            or any(_SIGNIFICANCE.fullmatch(name) for name in names)
        )

    @property
    def needs_markers(self) -> bool:
        """Whether the predicate reads the marker of a cell."""
        return bool(self.mark or self.sign or self.letters or self.reads == "marker")

    @property
    def moves(self) -> list[dict[str, str]]:
        """Changes to a cell's key that give the other cells of its comparison."""
        overrides = [self.other, self.low, self.high, self.p, self.minus, self.over]
        return [
            *filter(None, overrides),
            *([(self.other or {}) | self.other_minus] if self.other_minus else []),
            *self.rivals,
        ]

    @property
    def rivals(self) -> list[dict[str, str]]:
        """Changes to a cell's key that give the cells that it is ranked with."""
        values = [[v] if isinstance(v, str) else v for v in self.among.values()]
        return [
            dict(zip(self.among, names, strict=True)) for names in product(*values) if self.among
        ]

    @model_validator(mode="after")
    def _check_value_or_other(self) -> Predicate:
        if (self.op in ("highest", "lowest")) != bool(self.among):
            raise ValueError("`among` is required for `highest` and `lowest`, and only for them")
        if [self.value is None, self.other is None, not self.among].count(False) != 1:
            raise ValueError("a predicate needs one of `value`, `other` and `among`")
        if self.position > 1 and not self.among:
            raise ValueError("`position` requires `among`")
        if (self.low is None) != (self.high is None):
            raise ValueError("`low` and `high` must be used together")
        with_interval = self.interval or self.low is not None
        if with_interval and self.value is None:
            raise ValueError("an interval (`interval`, `low`, `high`) requires a `value`")
        if self.interval and self.low is not None:
            raise ValueError("`interval` cannot be combined with `low` and `high`")
        if (self.op in ("in", "not in", "between")) != isinstance(self.value, list):
            raise ValueError(
                "`value` must be a list for `in`, `not in` and `between`, and only for them"
            )
        if self.op == "between" and not _is_range(self.value):
            raise ValueError("`between` requires two numbers as `value`, the lower one first")
        if self.op in ("contains", "lacks") and not isinstance(self.value, str):
            raise ValueError("`contains` and `lacks` require text as `value`")
        if self.absolute and with_interval:
            raise ValueError("`absolute` cannot be combined with an interval")
        if self.op in ("<", "<=", ">", ">=") and isinstance(self.value, str):
            raise ValueError(f"`{self.op}` requires a number as `value`, without quotation marks")
        return self

    @model_validator(mode="after")
    def _check_options(self) -> Predicate:
        if self.letters and (self.other is None or len(self.other) != 1):
            raise ValueError("`letters` requires `other` with one column, whose value is a letter")
        if self.reads == "marker" and self.op in ("<", "<=", ">", ">="):
            raise ValueError("a marker is text: compare it with `contains`, `lacks`, `==` or `in`")
        if self.other_minus is not None and (self.other is None or self.minus is None):
            raise ValueError("`other_minus` requires `minus` and `other`")
        if self.minus is not None and self.other is not None and self.other_minus is None:
            raise ValueError("`minus` with `other` requires `other_minus`")
        if self.over is not None and (self.other or self.minus):
            raise ValueError("`over` cannot be combined with `other` or `minus`")
        if self.interval and self.supplement is None:
            raise ValueError("`interval` requires a supplementary table; set `supplement`")
        if self.reads not in ("value", "marker") and self.supplement is None:
            raise ValueError(
                f"`reads: {self.reads}` requires a supplementary table; set `supplement`"
            )
        if self.supplement is not None and self.tested_on == ["published"]:
            raise ValueError(
                "`supplement` cannot be combined with `tested_on: [published]`, since a paper has "
                "no supplementary tables"
            )
        return self


def _is_range(value: object) -> bool:
    """Whether a value is a list of two numbers in ascending order."""
    if not isinstance(value, list) or len(value) != 2:
        return False
    low, high = value
    return not isinstance(low, str) and not isinstance(high, str) and low <= high


class DecisiveIf(Strict):
    """Condition that surrogate data must meet to test claims.

    If it is not met, comparisons with any of the cells are inconclusive or, if it has neither
    `cells` nor `claims`, no claim of the table can be tested.
    """

    cells: Selector = Field({}, description="Cells that it applies to; by default all.")
    claims: list[str] = Field(
        [], description="Ids of the claims that it applies to; by default all."
    )
    supported_if: Annotated[list[Predicate], Field(min_length=1)] = Field(
        description="Predicates over the table or its supplementary tables, all of which must hold."
    )
    because: str = Field(
        min_length=10, description="Why surrogate data that do not meet it cannot test the claims."
    )


class Missing(Strict):
    """What the test of a claim needs and does not have."""

    kind: Literal["file", "column", "model", "system", "experiment", "definition"] = Field(
        description="`file`, `model` or `system` that the registry of the paper lacks; `column` "
        "that its released files lack; `experiment` that nobody ran; `definition` of a word of the "
        "claim that has no number."
    )
    name: str = Field(
        min_length=3,
        description="Words that the address of such a file, or the heading of such a column, would "
        "have; for a `definition`, the word of the claim.",
    )


class NotTestable(Strict):
    """Claims that only the paper's own data can test."""

    missing: Annotated[list[Missing], Field(min_length=1)] = Field(
        description="What a test would need, and the surrogate data lack."
    )
    because: str = Field(min_length=10, description="Reason, in one sentence for all claims.")
    claims: Annotated[list[str], Field(min_length=1)] | None = Field(
        None, description="Ids of the claims; by default all claims of the record."
    )


class Claim(Strict):
    """A claim of the paper that a reproduced table can support or contradict."""

    id: str = Field(pattern=r"^[a-z0-9_]+$", description="Name of the claim.")
    claim: str = Field(
        min_length=10,
        description="The claim, in your own words. If the paper's wording is vague ('strong'), "
        "state your threshold at the end, or name the word as `vague`.",
    )
    source: str = Field(min_length=2, description="Section or page of the paper.")
    supported_if: Annotated[list[Predicate], Field(min_length=1)] = Field(
        description="Predicates, all of which must hold."
    )
    test: str | None = Field(
        None,
        description="Significance test, if the paper claims significance; at least one predicate "
        "must read its outcome.",
    )
    on_published: Literal["supported", "contradicted", "inconclusive"] = Field(
        "supported",
        description="Outcome on the published values. A contradicted claim requires an erratum.",
    )
    vague: str | None = Field(
        None,
        min_length=3,
        description="A word of the paper that has no number ('comparable'), and for which no "
        "threshold is stated; the claim quotes it. The claim is then inconclusive, whatever the "
        "comparisons give.",
    )
    tests_must_agree: bool = Field(
        False,
        description="Whether the predicates make the same comparison in several ways, such as with "
        "two tests, because the paper does not specify which, or because its text and its table "
        "suggest different ones; if they disagree, the claim is inconclusive.",
    )
    erratum: str | None = Field(
        None,
        description="Id of the record's erratum about this claim, which says whether the cause is "
        "known if the claim is contradicted, and whose it is.",
    )

    @model_validator(mode="after")
    def _check_vague(self) -> Claim:
        if self.vague is not None and self.vague.lower() not in self.claim.lower():
            raise ValueError(
                f"`vague` is {self.vague!r}, which the claim does not contain; quote the word in "
                "the claim"
            )
        return self


class Untested(Strict):
    """A claim of a chapter that cannot be tested here."""

    source: str = Field(min_length=2, description="Section or page of the paper.")
    claim: str = Field(min_length=10, description="The claim, in your own words.")
    missing: Annotated[list[Missing], Field(min_length=1)] = Field(
        description="What a test would need. `everycell check` looks for it."
    )
    reason: str = Field(min_length=10, description="Why the claim cannot be tested, for readers.")
