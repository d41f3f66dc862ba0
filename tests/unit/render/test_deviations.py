"""The deviation plot of a chapter, and the sentence that describes it."""

from __future__ import annotations

import pytest

from everycell.render.page.deviations import deviation_plot, deviations
from everycell.verdicts.reports import JudgedCell


def chapter(*cells: tuple[str, str, float], tolerance: float | None = None) -> dict:
    """A chapter with one table per cell: label, published and reproduced value."""
    return {
        "artefacts": [
            {
                "label": label,
                "tables": [
                    {
                        "cells": [
                            {
                                "verdict": "differs",
                                "id": label,
                                "is_different": True,
                                "judged": JudgedCell(
                                    key={"row": label},
                                    printed=published,
                                    rebuilt=reproduced,
                                    verdict="differs",
                                    why=None,
                                    tolerance=tolerance,
                                ),
                            }
                        ]
                    }
                ],
            }
            for label, published, reproduced in cells
        ]
    }


@pytest.mark.parametrize("sign", [1, -1])
def test_deviation_plot_summary_of_either_sign(sign):
    """Deviations of 1, 2 and 30 last digits: below and above the published values alike."""
    one = chapter(
        ("Table 1", "0.50", 0.5 + sign * 0.01),
        ("Table 2", "0.50", 0.5 + sign * 0.02),
        ("Table 3", "0.50", 0.5 + sign * 0.3),
    )
    assert [point.deviation for point in deviations(one)] == pytest.approx(
        [sign, 2 * sign, 30 * sign]
    )
    assert deviation_plot(one)["summary"] == (
        "1 of 3 reproduced numbers are within one unit of the last published digit, or within "
        f"their tolerance; the largest deviation is {sign * 30:+d} units (Table 3)."
    )


def test_deviation_plot_summary_of_mixed_signs():
    one = chapter(("Table 1", "0.50", 0.55), ("Table 2", "0.50", 0.43))
    assert "the largest deviation is -7 units (Table 2)." in deviation_plot(one)["summary"]


def test_deviation_plot_summary_within_one_unit():
    one = chapter(("Table 1", "0.5", 0.45), ("Table 2", "0.5", 0.6))
    assert deviation_plot(one)["summary"] == (
        "2 of 2 reproduced numbers are within one unit of the last published digit, or within "
        "their tolerance."
    )


def test_deviation_plot_without_numbers():
    assert deviation_plot({"artefacts": []}) is None
