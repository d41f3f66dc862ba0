"""Reasons for differences on the page and in the tables of differences."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from everycell.records.cells import Spread, describe_spread, without_spread
from everycell.render.page.overview import failures_of
from everycell.render.verdict_tables import VerdictCell
from everycell.verdicts.reports import JudgedCell

SPREAD = describe_spread(Spread(0.21, 0.02, 0.18, 0.23, 5), 2, mean_of=5)


@pytest.mark.parametrize(
    ("why", "expected"),
    [
        (f"5 of 5 values are below the published ones. {SPREAD} Seeds are unknown.",
         "5 of 5 values are below the published ones. Seeds are unknown."),
        (f"The tolerance exceeds 0.005, half of the published value. {SPREAD}",
         "The tolerance exceeds 0.005, half of the published value."),
        ("Two rows are swapped (see the text). The mean of their mean is right.",
         "Two rows are swapped (see the text). The mean of their mean is right."),
        ("", ""),
    ],
)  # fmt: skip
def test_without_spread(why, expected):
    assert without_spread(why) == expected


def test_failures_of_within_tolerance():
    reason = "5 of 5 values in its column are below the published ones (sign test)."
    judged = [
        JudgedCell(
            key={"row": name},
            published="1",
            reproduced=2.0,
            verdict="different",
            why=f"{reason} {SPREAD} The seeds are unknown.",
        )
        for name in ("a", "b")
    ]
    artefact = SimpleNamespace(
        tiers=[],
        counted_cells=[VerdictCell(cell, "a", "", 0, "", 1, "a") for cell in judged],
        errata=[],
        claims=[],
        claims_count_in=None,
    )
    [table] = failures_of([artefact]).cells["different"]
    assert [group.finding for group in table.reasons] == [f"{reason} The seeds are unknown."]
