"""Faults of figures in print: each kind is found, and the figures of the library have none."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from everycell.render.figure_faults import figure_faults
from everycell.render.figure_files import save_figure, style
from everycell.render.figures import agreement_panels, bar_panels, box_panels, interval_lines
from everycell.render.flow import AFTER, flow_chart
from everycell.render.marked_text import MarkedText, marked_texts
from everycell.render.palette import BLUE, COLOURS, ORANGE
from everycell.render.text_figures import text_figure
from papers.abolghasemi2026.ch2_figures import interpolation_curves, oracle_gains
from papers.heuss2025.ch2_figures import outlier_reductions
from papers.heuss2025.ch4_figures import checks_figure, draw_bars
from papers.heuss2025.ch5_figures import case_bars, estimate_lines, size_bars
from papers.shared.term_fairness_figures import fairness_over_depth


def product(value=0.5, **columns) -> pd.DataFrame:
    """All combinations of the columns' values, with an interval around a value."""
    frame = pd.MultiIndex.from_product(columns.values(), names=columns).to_frame(index=False)
    values = np.linspace(value, 2 * value, len(frame))
    return frame.assign(value=values, low=values * 0.9, high=values * 1.1)


EXPLAINERS = ["RShapK", "RShapW", "Greedy", "ShaRP", "PWShap", "PWLime", "RLime", "Random", "Own"]
TASKS = ["all effects", "short queries", "no names", "no mismatch", "equal weights"]
PAIRS = ["BM25 + TILDE", "BM25 + TILDEv2"]
SETS = [f"Viewpoints: {name} with the answers" for name in ("Familiarity", "Overall Satisfaction")]
TEXT = "Encoding the passages of a collection with dense.minilm.zero-shot"
CHAIN = pd.DataFrame(
    [(f"b{number}", TEXT, f"b{number - 1}" if number else "") for number in range(8)],
    columns=["box", "text", "after"],
)
WIDE = pd.DataFrame(
    [(f"b{number}", TEXT, AFTER.join(f"b{start}" for start in range(max(0, number - 3), number)))
     for number in range(9)],
    columns=["box", "text", "after"],
)  # fmt: skip
FIGURES = {
    "box_panels": lambda: box_panels(
        product(panel=SETS, group=list(range(10)), row=range(3)), group="group", panel="panel",
        group_label="Query", value_label="Rating (1 to 4)",
    ),
    "bar_panels": lambda: bar_panels(
        product(3.0, panel=SETS, group=["accurate", "noisy"], series=EXPLAINERS[:3]),
        group="group", series="series", panel="panel", value_label="Mean rating (1 to 4)",
    ),
    "agreement_panels": lambda: agreement_panels(
        product(panel=EXPLAINERS[:3], x=[0.1, 0.5], n=[3]).assign(x=[0.1, 0.5] * 3),
        x="x", y="value", count="n", panel="panel", x_label="Released", y_label="Reproduced",
    ),
    "interval_lines": lambda: interval_lines(
        product(panel=SETS, series=EXPLAINERS, x=[1.0, 2.0, 3.0]).assign(value=0.5, low=0, high=1),
        x="x", low="low", high="high", series="series", panel="panel", x_label="Planted effect",
        value_label="Share",
    ),
    "flow_chart, long": lambda: flow_chart(CHAIN),
    "flow_chart, panels": lambda: flow_chart(
        pd.concat([WIDE.assign(panel="One rewriter for both stages"), CHAIN.assign(panel="Two")])
        .assign(group="input")
    ),
    "text_figure": lambda: text_figure(
        product(panel=SETS, part=["system", "user"]).assign(text=TEXT * 4), panel="panel"
    ),
    "marked_texts": lambda: marked_texts([MarkedText("A text", TEXT, {"a": [(0, 9)], "b": []})]),
    "oracle_gains": lambda: oracle_gains(
        product(combination=PAIRS, metric=["MAP", "nDCG"], task=TASKS,
                series=["tuned", "oracle", "noise oracle"])
    ),
    "interpolation_curves": lambda: interpolation_curves(
        product(first=["BM25"], second=["TILDE", "TILDEv2"], metric=["MAP"], task=TASKS,
                series=["curve"], alpha=[0.0, 0.5, 1.0])
    ),
    "outlier_reductions": lambda: outlier_reductions(
        product(-60.0, panel=["candidates", "iterations"], distribution=["uniform", "log-normal"],
                x=[10, 15, 20, 40, 200]).rename(columns={"low": "high", "high": "low"})
    ),
    "draw_bars": lambda: draw_bars(
        product(query=["average", "biased", "nepotism", "qualified"], explainer=EXPLAINERS[:3],
                feature=["req", "uni", "grad", "skills", "exp"]), "explainer", ["query"]
    ),
    "checks_figure": lambda: checks_figure(
        product(data=["MQ2008", "MSLR slice (surrogate data)"], size=[1, 3, 5, 7, 10],
                measure=["Kendall's tau", "Mean exposure difference"],
                check=["preservation", "deletion"], explainer=EXPLAINERS)
    ),
    "size_bars": lambda: size_bars(
        product(9.0, panel=["Statements of an answer", "Citations of an answer"],
                answerer=["all read", "all remembered"], x=range(15))
    ),
    "case_bars": lambda: case_bars(
        product(99.0, answerer=["half remembered", "all remembered"], metric=["cited", "recovered"],
                kind=["random", "relevant, not cited", "cited for something else"])
    ),
    "estimate_lines": lambda: estimate_lines(
        product(open=["0", "0.3"], memory=[0.0, 0.5, 1.0],
                estimate=["planted", "cites the forged document", "stays without its words"])
        .assign(value=50, low=40, high=60)
    ),
    "fairness_over_depth": lambda: fairness_over_depth(
        product(query_set=["CAsT", "GrepBiasIR"], k=range(1, 31), system=EXPLAINERS,
                measure=["NFaiRR", "TExFAIR (with RBDF)", "TExFAIR (without RBDF)"])
    ),
}  # fmt: skip


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_figure_faults_of_drawing_functions(draw):
    assert figure_faults(draw()) == []


def panel(width=4.0, **labels):
    with style():
        figure = Figure(figsize=(width, 3), layout="constrained")
        axes = figure.subplots()
        axes.set(**{"xlabel": "x", "ylabel": "y"} | labels)
    return figure, axes


def small_text():
    figure, axes = panel(width=12.6)
    with style():
        axes.text(0.5, 0.5, "small", fontsize=11)
    return figure


def overlap():
    figure, axes = panel()
    with style():
        axes.text(0.5, 0.5, "first text")
        axes.text(0.52, 0.51, "second text")
    return figure


def cut_off():
    figure, _ = panel()
    with style():
        figure.text(0.95, 0.5, "a long text at the right end")
    return figure


def hidden():
    figure, axes = panel()
    for colour, name in ((BLUE, "lower"), (ORANGE, "upper")):
        axes.plot([0, 1], [0, 1], color=colour, marker="o", label=name)
    return figure


def other_colour():
    figure, axes = panel()
    axes.plot([0, 1], [0, 1], color="red")
    return figure


def two_legends():
    figure = hidden()
    figure.axes[0].lines[0].set_markersize(12)
    with style():
        figure.axes[0].legend()
        figure.legend(loc="outside upper center")
    return figure


@pytest.mark.parametrize(
    ("draw", "fault"),
    [
        (small_text, "'small' has 5.5 points"),
        (overlap, "'first text' overlaps 'second text'"),
        (cut_off, "is cut off"),
        (hidden, "'upper' hides 'lower'"),
        (other_colour, "#ff0000 is not in the palette"),
        (two_legends, "2 legends"),
        (lambda: panel(ylabel="")[0], "the y axis has no label"),
    ],
)
def test_figure_faults_kinds(draw, fault, tmp_path):
    assert any(fault in sentence for sentence in figure_faults(draw()))
    with pytest.warns(UserWarning, match=r"^f: "):
        assert len(save_figure(draw(), tmp_path / "f")) == 3


def test_figure_faults_visible_series():
    """Larger markers below, or dashes above, show a series that another one covers."""
    for looks in (({"markersize": 9}, {}), ({"marker": ""}, {"marker": "", "linestyle": "--"})):
        figure, axes = panel()
        for look, colour in zip(looks, COLOURS, strict=False):
            axes.plot([0, 1], [0, 1], color=colour, label=colour, **{"marker": "o"} | look)
        assert figure_faults(figure) == []


@pytest.mark.parametrize("shading", ["flat", "gouraud"])
def test_figure_faults_mesh(shading):
    figure, axes = panel()
    axes.pcolormesh(np.arange(16.0).reshape(4, 4), shading=shading)
    assert figure_faults(figure) == []


@pytest.mark.parametrize("way", ["scatter", "plot"])
def test_figure_faults_many_points(way, monkeypatch):
    """Colours are still checked, but neither points nor texts are compared with each other."""
    monkeypatch.setattr("numpy.argwhere", None)
    figure, axes = panel()
    points = np.random.default_rng(0).random((2, 200_000))
    for label in ("lower", "upper"):
        options = {"c": "red"} if way == "scatter" else {"color": "red", "marker": "o"}
        getattr(axes, way)(*points, label=label, **options)
    with style():
        for _ in range(2001):
            figure.text(0.5, 0.5, "text")
    assert set(figure_faults(figure)) == {"#ff0000 is not in the palette"}


def test_save_figure_failing_check(tmp_path, monkeypatch):
    def fail(figure):
        raise NotImplementedError

    monkeypatch.setattr("everycell.render.figure_faults.figure_faults", fail)
    with pytest.warns(UserWarning, match="NotImplementedError"):
        assert len(save_figure(panel()[0], tmp_path / "f")) == 3
