"""The deviation plot of a chapter, and the sentence that describes it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from everycell.render.page.differences import deviation_plot, deviations, overview_plot
from everycell.render.verdict_tables import VerdictCell
from everycell.verdicts.reports import JudgedCell


def chapter(*cells: tuple[str, str, float], **changes: object) -> SimpleNamespace:
    """A chapter with one table per cell: label, published and reproduced value."""
    artefacts = []
    for label, published, reproduced in cells:
        judged = JudgedCell(
            key={"row": label},
            published=published,
            reproduced=reproduced,
            verdict="different",
            why=None,
        )
        if not artefacts:
            judged = judged.model_copy(update=changes)
        cell = VerdictCell(judged, label, "", 1, "", 1, label)
        artefacts.append(SimpleNamespace(label=label, counted_cells=[cell]))
    return SimpleNamespace(artefacts=artefacts)


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
        "3 numbers compared: 3 different; "
        f"the largest deviation is {'−+'[sign > 0]}30 units (Table 3)."
    )


def test_deviation_plot_summary_of_mixed_signs():
    one = chapter(("Table 1", "0.50", 0.55), ("Table 2", "0.50", 0.43))
    assert "the largest deviation is −7 units (Table 2)." in deviation_plot(one)["summary"]


def test_deviation_plot_summary_counts_verdicts():
    """A cell within its tolerance can be different, for its mark or a sign test."""
    cells = ("Table 1", "0.5", 0.45), ("Table 2", "0.5", 0.6)
    one = chapter(*cells, verdict="within tolerance")
    assert deviation_plot(one)["summary"] == (
        "2 numbers compared: 1 within tolerance, 1 different."
    )


def test_deviations_leave_out_checks_of_ours():
    one = chapter(("Table 1", "0.5", 0.45), ("Table 2", "0.5", 0.6), kind="check")
    assert [point.artefact for point in deviations(one)] == ["Table 2"]


def test_deviation_plot_without_numbers():
    assert deviation_plot(chapter()) is None


def test_overview_plot_links_every_point():
    cells = ("Table 1", "0.50", 0.5), ("Table 2 <b>", "0.50", 0.43)
    one = chapter(*cells, verdict="equal")
    one.page, one.short = "pages/a_ch1.html", "Chapter 1"
    paper = SimpleNamespace(chapters=[one, one], about=SimpleNamespace(key="a"))
    plot = overview_plot([paper])
    assert plot["summary"].startswith("4 numbers compared: 2 equal, 2 different")
    for link in ("pages/a_ch1.html#Table 1", "pages/a_ch1.html#Table 2 &lt;b&gt;"):
        assert plot["svg"].count(f'href="{link}"><title>') == 2
    assert "a, Chapter 1 (4)" in plot["svg"] and "published 0.50, reproduced 0.43" in plot["svg"]


@pytest.mark.parametrize("mark", ["\x1b[2J", "\x07", "\u200f", "\u202e", "\u2066", "<b>"])
def test_deviation_plot_tooltip_of_hostile_name(mark):
    hostile = chapter(("Table 1", "0.50", 0.51))
    hostile.artefacts[0].counted_cells[0] = replace(
        hostile.artefacts[0].counted_cells[0], name=f"{mark}#000000"
    )
    svg = deviation_plot(hostile)["svg"]
    assert mark not in svg and "#000000: published" in svg
