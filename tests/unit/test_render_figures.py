import hashlib
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from everycell.engine.render.figures import (
    COLOURS,
    bar_panels,
    box_panels,
    interpolation_curves,
    interval_lines,
    oracle_gains,
    ranks_by_judge,
    save_figure,
    short_against_long,
)

BARS = pd.DataFrame(
    [(p, g, s, 1 + len(p + g + s) / 7) for p in ("one", "three") for g in "ab" for s in "xy"],
    columns=["panel", "group", "by", "value"],
)
SCRIPT = """
import sys
from pathlib import Path
import pandas as pd
from everycell.engine.render.figures import bar_panels, save_figure
frame = pd.read_csv(sys.argv[1])
save_figure(bar_panels(frame, panel="panel", group="group", series="by"), Path(sys.argv[2]))
"""


def hashes(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_files_have_the_same_bytes_in_another_process(tmp_path):
    source = tmp_path / "bars.csv"
    BARS.to_csv(source, index=False)
    for name, seed, date in (("a", "1", "1000"), ("b", "2", "2000000000")):
        subprocess.run(
            [sys.executable, "-c", SCRIPT, source, tmp_path / name / "f"],
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "SOURCE_DATE_EPOCH": date,
                 "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")
    save_figure(bar_panels(BARS, panel="panel", group="group", series="by"), tmp_path / "c" / "f")
    assert hashes(tmp_path / "c") == hashes(tmp_path / "a")
    assert set(hashes(tmp_path / "a")) == {"f.svg", "f.pdf", "f.png"}


def test_names_of_the_data_are_no_formulas_and_no_markup(tmp_path):
    names = {r"$\frac$": "a $x$ b", "<script>alert(1)</script>": "]]> & \x00\x1b\uffff"}
    frame = pd.DataFrame(
        [(p, g, 1.0) for p in names for g in names.values()], columns=["panel", "group", "value"]
    )
    svg, *_ = save_figure(bar_panels(frame, panel="panel", group="group"), tmp_path / "f")
    tree = ElementTree.parse(svg)  # of our own making
    found = {
        "".join(node.itertext()).strip() for node in tree.iter("{http://www.w3.org/2000/svg}text")
    }
    assert {*names, "a $x$ b", "]]> & \ufffd\ufffd\ufffd"} <= found
    assert not [node for node in tree.iter() if node.tag.endswith("script")]


def test_no_dates_and_text_as_text(tmp_path):
    svg, pdf, png = save_figure(bar_panels(BARS, group="group", series="by", panel="panel"),
                                tmp_path / "table_1.power")  # fmt: skip
    assert svg.name == "table_1.power.svg"
    text = svg.read_text()
    assert "dc:date" not in text and ">three</text>" in text
    assert b"CreationDate" not in pdf.read_bytes() and b"Software" not in png.read_bytes()


def test_own_settings_of_the_reader_change_nothing(tmp_path):
    save_figure(bar_panels(BARS.iloc[:2], group="group", series="by"), tmp_path / "a" / "f")
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "black", "savefig.dpi": 10}):
        save_figure(bar_panels(BARS.iloc[:2], group="group", series="by"), tmp_path / "b" / "f")
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")


def test_boxes_show_the_medians_of_each_group_in_colour():
    frame = pd.DataFrame(
        [(p, g, v) for p in "pq" for g, vs in (("b", (1, 2, 9)), ("a", (4, 4, 5))) for v in vs],
        columns=["panel", "group", "value"],
    )
    figure = box_panels(frame, panel="panel", group="group", whiskers={"p": 0.5, "q": 1.5})
    for axis in figure.axes:
        medians = [line for line in axis.lines if line.get_color() == COLOURS[4]]
        assert [set(line.get_ydata()) for line in medians] == [{2}, {4}]
        assert [label.get_text() for label in axis.get_xticklabels()] == ["b", "a"]
    assert [axis.get_title() for axis in figure.axes] == ["p", "q"]


def test_bars_say_their_values_and_keep_the_look_of_a_series():
    frame = BARS[~((BARS["panel"] == "one") & (BARS["by"] == "x"))]
    first, second = bar_panels(frame, panel="panel", group="group", series="by").axes
    looks = [
        {
            bars.get_label(): (bars[0].get_facecolor(), bars[0].get_hatch())
            for bars in axis.containers
        }
        for axis in (first, second)
    ]
    assert looks[0]["y"] == looks[1]["y"] and looks[1]["x"] != looks[1]["y"]
    heights = [f"{bar.get_height():.2f}" for bars in second.containers for bar in bars]
    assert [text.get_text() for text in second.texts] == heights


def test_lines_are_joined_by_x_inside_their_interval():
    frame = pd.DataFrame({"x": [2, 0, 1], "value": [0.9, 0.05, 0.5]})
    frame = frame.assign(low=frame["value"] - 0.05, high=frame["value"] + 0.05)
    axis = interval_lines(frame, x="x", low="low", high="high").axes[0]
    assert axis.lines[0].get_xdata().tolist() == [0, 1, 2]
    assert axis.collections[0].get_paths()[0].get_extents().height == pytest.approx(0.95)


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


def test_curves_stand_in_panels_of_systems_metric_and_task():
    axes = interpolation_curves(CURVES).axes
    assert [axis.get_title() for axis in axes] == ["cite", "co-cite"] + [""] * 6
    assert [axis.get_ylabel().split("\n") for axis in axes[::2]] == [
        ["BM25 + TILDE", "MAP"],
        ["BM25 + TILDE", "nDCG"],
        ["BM25 + TILDEv2", "MAP"],
        ["BM25 + TILDEv2", "nDCG"],
    ]
    ends = [label.get_text() for label in axes[4].get_xticklabels()]
    assert ends == ["0\nTILDEv2\nonly", "0.5", "1\nBM25\nonly"]
    assert axes[0].get_ylim() == axes[4].get_ylim()  # one task and metric


def test_a_curve_is_joined_by_weight_and_its_first_best_is_ringed():
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


def test_a_task_without_two_of_the_systems_has_no_panel_there():
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


def test_systems_are_rows_with_two_joined_marks():
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


def test_intervals_are_drawn_from_end_to_end():
    first = short_against_long(QUERIES).axes[0]
    bars = first.containers[0].lines[2][0].get_segments()
    assert np.allclose([bar[:, 0] for bar in bars], [[0.8, 1.1], [0.5, 0.8]])


def test_a_system_with_one_kind_of_queries_keeps_its_row():
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


def test_gains_stand_around_their_task_with_the_line_of_no_gain():
    figure = oracle_gains(GAINS)
    assert [axis.get_title() for axis in figure.axes] == ["BM25 + TILDE", "BM25 + TILDEv2", "", ""]
    assert [axis.get_ylabel() for axis in figure.axes] == ["gain in MAP", "", "gain in nDCG", ""]
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
def test_legends_lie_inside_the_figure(draw):
    figure = draw()
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent().transformed(figure.dpi_scale_trans.inverted())
    assert box.x0 >= 0 and box.x1 <= figure.get_figwidth()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: bar_panels(BARS, group="group", series="by"), "two bars for .*'a'"),
        (lambda: bar_panels(BARS.iloc[:0], group="group"), "no rows"),
        (lambda: box_panels(BARS.assign(value=float("nan")), group="group"), "'value', row 0"),
        (
            lambda: interval_lines(BARS.assign(low=9.0, high=10.0), x="value", low="low",
                                   high="high"),
            "row 0: value lies outside",
        ),
        (lambda: interpolation_curves(CURVES.replace("oracle", "best")), "found 'best', and only"),
        (
            lambda: interpolation_curves(CURVES.assign(alpha=CURVES["alpha"] * 2)),
            "found 2, and a weight lies from 0 to 1",
        ),
        (lambda: interpolation_curves(CURVES.assign(alpha=None)), "'alpha', row 0: found None"),
        (lambda: interpolation_curves(pd.concat([CURVES, CURVES[5:6]])), "two marks for .*noise"),
        (lambda: short_against_long(QUERIES.assign(queries="long")), "two marks for"),
        (lambda: short_against_long(QUERIES[::2]), r"found \['short'\]; two kinds"),
        (lambda: short_against_long(QUERIES.assign(low=0.55)), "row 1: value lies outside"),
        (lambda: oracle_gains(GAINS.replace("tuned", "curve")), "found 'curve', and only tuned"),
        (lambda: oracle_gains(pd.concat([GAINS, GAINS[:1]])), "two marks for .*'tuned'"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_an_error(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_a_stem_in_a_new_folder(tmp_path):
    files = save_figure(bar_panels(BARS.iloc[:1], group="group"), tmp_path / "x" / "y" / "f")
    assert all(Path(file).stat().st_size > 1000 for file in files)


RANKS = pd.DataFrame(
    [(judge, system, rank) for judge, order in (("GPT", "xyz"), ("Claude", "yxz"))
     for rank, system in enumerate(order, start=1)],
    columns=["judge", "system", "rank"],
)  # fmt: skip
ORDERS = pd.DataFrame({"judges": ["GPT and Claude"], "value": [0.3], "low": [-0.3], "high": [1.0]})


def test_ranks_have_the_best_on_top_and_names_at_the_last_judge():
    left, right = ranks_by_judge(RANKS, ORDERS).axes
    assert [label.get_text() for label in left.get_xticklabels()] == ["GPT", "Claude"]
    bottom, top = left.get_ylim()
    assert top < 1 < 3 < bottom
    lines = [line.get_ydata().tolist() for line in left.lines]
    assert lines == [[1, 2], [2, 1], [3, 3]]
    assert len({(line.get_color(), line.get_marker()) for line in left.lines}) == 3
    names = {text.get_text(): text.xy for text in left.texts}
    assert names == {"x": (1, 2), "y": (1, 1), "z": (1, 3)}
    assert [label.get_text() for label in right.get_yticklabels()] == ["GPT and Claude"]
    # The whole interval is in view.
    assert right.get_xlim()[0] < -0.3 and right.get_xlim()[1] > 1


@pytest.mark.parametrize(
    ("ranks", "orders", "said"),
    [
        (pd.concat([RANKS, RANKS[:1]]), ORDERS, "two marks for {'judge': 'GPT', 'system': 'x'}"),
        (RANKS.assign(rank=np.nan), ORDERS, "column 'rank', row 0: found nan"),
        (RANKS, ORDERS.assign(high=0.1), "row 0: value lies outside low to high"),
        (RANKS, pd.concat([ORDERS, ORDERS]), "two marks for {'judges': 'GPT and Claude'}"),
    ],
)
def test_ranks_that_cannot_be_drawn_are_named(ranks, orders, said):
    with pytest.raises(ValueError, match=said):
        ranks_by_judge(ranks, orders)
