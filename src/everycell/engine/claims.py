"""Models of claims: sentences of a paper as predicates over the cells of its tables."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from everycell.engine.published_cells import Selector

#: Tables that a predicate can be tested on.
Kind = Literal["printed", "rebuilt", "stand_in"]
KINDS: tuple[Kind, ...] = ("printed", "rebuilt", "stand_in")
#: Names of metrics that are the outcome of a significance test.
_SIGNIFICANCE = re.compile(r"p([_ -].+)?|(.+ )?significant")


class CardFileModel(BaseModel):
    """Base of the models of record files: unknown keys are an error; instances are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,))


class Predicate(CardFileModel):
    """A claim as a test over the cells of one table.

    Each cell that `cells` selects is compared with `value`, or with the cell whose key differs from
    its own only in `other`. The claim holds if `quantifier` of the comparisons are true. A
    difference that is not significant is not decisive: a comparison is undecided if its interval
    (`low` and `high`, or `interval`) contains the value, if its p-value is not below `alpha`, or if
    the marker shows no significance (`sign`, `letters`).
    """

    quantifier: Literal["all", "any", "all but one", "none", "most", "almost all"] = Field(
        "all",
        description="How many comparisons must be true. `most` is more than half. `almost all` is "
        "nine tenths or more; it is contradicted at half or less, and inconclusive in between.",
    )
    cells: Selector = Field(description="Selector of the cells to compare.")
    op: Literal["<", "<=", ">", ">=", "==", "!=", "in", "not in", "contains", "lacks"] = Field(
        description="Comparison."
    )
    value: float | str | list[str] | None = Field(
        None, description="Number, text or (for `in`) list to compare with."
    )
    other: dict[str, str] | None = Field(
        None, description="Instead of `value`: key columns in which the other cell differs."
    )
    minus: dict[str, str] | None = Field(
        None, description="Key columns of a cell to subtract first: a difference is compared."
    )
    other_minus: dict[str, str] | None = Field(
        None, description="With `minus` and `other`: the same for the other cell."
    )
    over: dict[str, str] | None = Field(
        None,
        description="With `value`: key columns of a cell to divide by, so as to compare a share.",
    )
    beside: str | None = Field(
        None,
        pattern=r"^((table|figure|text)_\w+\.)?\w+$",
        description="Table of the cells, if it is not the artefact's own: the suffix of a "
        "supplementary table (`tests`), one of another artefact of the paper "
        "(`table_5_1.intervals`), or the other artefact's own table (`table_5_1`).",
    )
    reads: str = Field(
        "value",
        description="Column to read: `value`, `marker`, or a column after `value` of a "
        "supplementary table.",
    )
    tested_on: Annotated[list[Kind], Field(min_length=1)] = Field(
        list(KINDS),
        description="Tables that it is tested on. The paper has no supplementary tables.",
    )
    low: dict[str, str] | None = Field(
        None, description="With `high`: key columns of the lower bound of an interval."
    )
    high: dict[str, str] | None = Field(
        None,
        description="Key columns of the upper bound; inconclusive if `value` is in the interval.",
    )
    interval: bool = Field(
        False,
        description="Whether the bounds are in the columns `low` and `high` of the cell's row.",
    )
    p: dict[str, str] | None = Field(
        None, description="Key columns of a p-value; inconclusive if it is not below `alpha`."
    )
    alpha: float = Field(0.05, gt=0, lt=1, description="Level of significance.")
    sign: str | None = Field(
        None,
        min_length=1,
        description="Sign in the marker of a significant cell, such as †; inconclusive without it.",
    )
    letters: bool | Literal["stand_in"] = Field(
        False,
        description="Whether the marker of the greater cell must name the smaller one by its value "
        "in the column of `other` (`a-d` names four). `stand_in`: only in surrogate data, which "
        "have fewer queries.",
    )
    absolute: bool = Field(False, description="Whether signs are ignored, as in 'further away'.")
    undecided_if_equal: bool = Field(
        False, description="Whether a comparison (`<` or `>`) of equal numbers is inconclusive."
    )

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

    If `holds_if` does not hold, each comparison with one of the cells is inconclusive. A condition
    with neither `cells` nor `conclusions` applies to the whole table, which is then not testable.
    """

    cells: Selector = Field({}, description="Cells that it applies to; by default all.")
    conclusions: list[str] = Field(
        [], description="Ids of the claims that it applies to; by default all."
    )
    holds_if: Annotated[list[Predicate], Field(min_length=1)] = Field(
        description="Predicates, over the table or its supplementary tables; all must hold."
    )
    because: str = Field(
        min_length=10, description="Why the surrogate data would not count otherwise."
    )


class NotTestable(CardFileModel):
    """Claims that other data than the paper's cannot test by their nature."""

    because: str = Field(min_length=10, description="One sentence for all of them.")
    conclusions: Annotated[list[str], Field(min_length=1)] | None = Field(
        None, description="Ids of the claims; by default all claims of the record."
    )


class Conclusion(CardFileModel):
    """A claim of the paper, in our words, that the reproduced table can support or contradict."""

    id: str = Field(pattern=r"^[a-z0-9_]+$", description="Name of the claim.")
    claim: str = Field(
        min_length=10,
        description="The claim, in your words. If the paper's words have no number ('strong'), "
        "state your margin at the end, or declare the claim `inconclusive`.",
    )
    source: str = Field(min_length=2, description="Section or page of the paper.")
    holds_if: Annotated[list[Predicate], Field(min_length=1)] = Field(
        description="Predicates, all of which must hold."
    )
    test: str | None = Field(
        None,
        description="Significance test, if the paper claims significance; a predicate must read "
        "its outcome.",
    )
    on_print: Literal["holds", "fails", "undecided"] = Field(
        "holds",
        description="Outcome on the published values. A claim that they contradict needs an "
        "erratum.",
    )
    inconclusive: str | None = Field(
        None,
        min_length=10,
        description="Why nothing decides the claim, such as words without a number.",
    )
    tests_must_agree: bool = Field(
        False,
        description="Whether the predicates are one comparison by several tests, because the paper "
        "names none; if they disagree, the claim is inconclusive.",
    )
    erratum: str | None = Field(
        None,
        description="Id of the record's erratum about this claim; while its cause is unknown, the "
        "claim is inconclusive instead of contradicted.",
    )


class Untested(CardFileModel):
    """A claim of a chapter that cannot be tested here."""

    source: str = Field(min_length=2, description="Section or page of the paper.")
    claim: str = Field(min_length=10, description="The claim, in your words.")
    reason: str = Field(min_length=10, description="Why it cannot be tested.")
