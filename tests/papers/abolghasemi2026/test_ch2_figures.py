"""Figures of chapter 2 of abolghasemi2026, and errors of invalid input."""

import numpy as np
import pandas as pd
import pytest

from papers.abolghasemi2026.ch2_figures import (
    interpolation_curves,
    oracle_gains,
    short_against_long,
)

CURVES = pd.DataFrame(
    [
        ("BM25", second, task, metric, series, alpha, level + gain)
        for second, level in (("TILDE", 0.5), ("TILDEv2", 0.1))
        for task in ("cite", "co-cite")
        for metric in ("MAP", "nDCG")
        for series, alpha, gain in (
            ("curve", 1.0, 0.1), ("curve", 0.2, 0.2), ("curve", 0.0, 0.0), ("curve", 0.6, 0.2),
            ("oracle", None, 0.4), ("noise oracle", None, 0.3),
        )
    ],
    columns=["first", "second", "task", "metric", "series", "alpha", "value"],
)  # fmt: skip


def lines_of(axis):
    return {line.get_label(): line for line in axis.lines}


def legend_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_interpolation_curves_panels():
    axes = interpolation_curves(CURVES).axes
    assert [axis.get_title() for axis in axes] == ["cite", "co-cite"] + [""] * 6
    assert [axis.get_ylabel().split("\n") for axis in axes[::2]] == [
        ["BM25 + TILDE", "MAP"],
        ["BM25 + TILDE", "nDCG"],
        ["BM25 + TILDEv2", "MAP"],
        ["BM25 + TILDEv2", "nDCG"],
    ]
    ends = [label.get_text() for label in axes[4].get_xticklabels()]
    assert ends == ["0", "0.5", "1"]
    assert axes[0].get_ylim() == axes[4].get_ylim()  # one task and metric


def test_interpolation_curves_first_best_is_ringed():
    figure = interpolation_curves(CURVES)
    lines = lines_of(figure.axes[0])
    assert legend_of(figure) == list(lines)
    curve, best, oracle, noise = lines.values()
    assert curve.get_xdata().tolist() == [0, 0.2, 0.6, 1]
    assert (best.get_xdata(), best.get_ydata()) == ([0.2], [0.7])
    assert set(oracle.get_ydata()) == {0.9} and set(noise.get_ydata()) == {0.8}
    assert "noise oracle" in noise.get_label() and "our control" in noise.get_label()
    assert len({line.get_color() for line in (curve, oracle, noise)}) == 3
    assert oracle.get_linestyle() != noise.get_linestyle()  # without colours too


def test_interpolation_curves_missing_task():
    part = CURVES[(CURVES["task"] == "cite") | (CURVES["second"] == "TILDE")]
    assert len(interpolation_curves(part).axes) == 6


QUERIES = pd.DataFrame(
    [
        (system, queries, measure, value, value - 0.1, value + 0.2)
        for measure, values in (("nDCG", (0.9, 0.5, 0.6, 0.7)), ("MAP", (0.5, 0.3, 0.2, 0.4)))
        for (system, queries), value in zip(
            ((s, q) for s in ("TILDE", "BM25") for q in ("short", "long")), values, strict=True
        )
    ],
    columns=["system", "queries", "measure", "value", "low", "high"],
)


def test_short_against_long_rows():
    figure = short_against_long(QUERIES.set_index("measure", drop=False).rename_axis(None))
    first, second = figure.axes
    assert (first.get_xlabel(), second.get_xlabel()) == ("nDCG", "MAP")
    assert [label.get_text() for label in first.get_yticklabels()] == ["TILDE", "BM25"]
    assert first.get_ylim()[0] > first.get_ylim()[1]  # from top to bottom
    joined = [line for line in first.lines if len(line.get_xdata()) == 2 and line.get_zorder() == 1]
    assert [line.get_xdata().tolist() for line in joined] == [[0.9, 0.5], [0.6, 0.7]]
    assert [line.get_ydata().round().tolist() for line in joined] == [[0, 0], [1, 1]]
    marks = [container.lines[0] for container in first.containers]
    assert [mark.get_xdata().tolist() for mark in marks] == [[0.9, 0.6], [0.5, 0.7]]
    assert len({(mark.get_color(), mark.get_marker()) for mark in marks}) == 2
    assert legend_of(figure) == ["short", "long"]


def test_short_against_long_intervals():
    first = short_against_long(QUERIES).axes[0]
    bars = first.containers[0].lines[2][0].get_segments()
    assert np.allclose([bar[:, 0] for bar in bars], [[0.8, 1.1], [0.5, 0.8]])


def test_short_against_long_single_kind():
    part = QUERIES.drop(index=[1, 5])
    axis = short_against_long(part).axes[0]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["TILDE", "BM25"]
    assert [len(container.lines[0].get_xdata()) for container in axis.containers] == [2, 1]


GAINS = pd.DataFrame(
    [
        (two, task, metric, series, gain, gain - 0.01, gain + 0.01)
        for metric in ("MAP", "nDCG")
        for two in ("BM25 + TILDE", "BM25 + TILDEv2")
        for task in ("cite", "co-cite")
        for series, gain in (("tuned", -0.01), ("oracle", 0.2), ("noise oracle", 0.1))
    ],
    columns=["combination", "task", "metric", "series", "value", "low", "high"],
)


def test_oracle_gains_by_task():
    figure = oracle_gains(GAINS)
    assert [axis.get_title() for axis in figure.axes] == ["BM25 + TILDE", "BM25 + TILDEv2", "", ""]
    assert [axis.get_ylabel() for axis in figure.axes] == ["Gain in MAP", "", "Gain in nDCG", ""]
    for axis in figure.axes:
        assert set(axis.lines[0].get_ydata()) == {0}
        tuned, oracle, noise = (container.lines[0] for container in axis.containers)
        assert set(tuned.get_ydata()) == {-0.01} and set(noise.get_ydata()) == {0.1}
        assert oracle.get_xdata().tolist() == [0, 1]
        assert (tuned.get_xdata() < oracle.get_xdata()).all()
    assert [label.get_text() for label in figure.axes[3].get_xticklabels()] == ["cite", "co-cite"]
    assert len(legend_of(figure)) == 3


@pytest.mark.parametrize(
    "draw",
    [
        lambda: interpolation_curves(CURVES),
        lambda: short_against_long(QUERIES),
        lambda: oracle_gains(GAINS),
        lambda: interpolation_curves(CURVES[:6]),
        lambda: oracle_gains(GAINS[:6]),
    ],
)
def test_figures_legends_inside(draw):
    figure = draw()
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent().transformed(figure.dpi_scale_trans.inverted())
    assert box.x0 >= 0 and box.x1 <= figure.get_figwidth()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: interpolation_curves(CURVES.replace("oracle", "best")), "got 'best', expected"),
        (
            lambda: interpolation_curves(CURVES.assign(alpha=CURVES["alpha"] * 2)),
            "got 2, expected a weight from 0 to 1",
        ),
        (lambda: interpolation_curves(CURVES.assign(alpha=None)), "'alpha', row 0: got None"),
        (lambda: interpolation_curves(pd.concat([CURVES, CURVES[5:6]])), "two marks for .*noise"),
        (lambda: short_against_long(QUERIES.assign(queries="long")), "two marks for"),
        (lambda: short_against_long(QUERIES[::2]), r"two kinds of queries, got \['short'\]"),
        (lambda: short_against_long(QUERIES.assign(low=0.55)), "row 1: value is outside"),
        (lambda: oracle_gains(GAINS.replace("tuned", "curve")), "got 'curve', expected one"),
        (lambda: oracle_gains(pd.concat([GAINS, GAINS[:1]])), "two marks for .*'tuned'"),
    ],
)  # fmt: skip
def test_figures_invalid_marks(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
