import hashlib
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.figure import Figure

from everycell.render.figure_files import save_figure
from everycell.render.figures import agreement_panels, bar_panels, box_panels, interval_lines
from everycell.render.palette import COLOURS

BARS = pd.DataFrame(
    [(p, g, s, 1 + len(p + g + s) / 7) for p in ("one", "three") for g in "ab" for s in "xy"],
    columns=["panel", "group", "by", "value"],
)
SCRIPT = """
import sys
from pathlib import Path
import pandas as pd
from everycell.render.figure_files import save_figure
from everycell.render.figures import bar_panels
frame = pd.read_csv(sys.argv[1])
save_figure(bar_panels(frame, panel="panel", group="group", series="by"), Path(sys.argv[2]))
"""


def hashes(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.mark.slow
def test_save_figure_same_bytes(tmp_path):
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


def test_save_figure_names_with_markup(tmp_path):
    names = {r"$\frac$": "a $x$ b", "<script>alert(1)</script>": "]]> & \x00\x1b\uffff"}
    frame = pd.DataFrame(
        [(p, g, 1.0) for p in names for g in names.values()], columns=["panel", "group", "value"]
    )
    svg, *_ = save_figure(bar_panels(frame, panel="panel", group="group"), tmp_path / "f")
    tree = ElementTree.parse(svg)  # of our own making
    result = {
        "".join(node.itertext()).strip() for node in tree.iter("{http://www.w3.org/2000/svg}text")
    }
    assert {*names, "a $x$ b", "]]> & \ufffd\ufffd\ufffd"} <= result
    assert not [node for node in tree.iter() if node.tag.endswith("script")]


def test_save_figure_no_dates(tmp_path):
    svg, pdf, png = save_figure(bar_panels(BARS, group="group", series="by", panel="panel"),
                                tmp_path / "table_1.power")  # fmt: skip
    assert svg.name == "table_1.power.svg"
    text = svg.read_text()
    assert ">three</text>" in text
    # Defaults of matplotlib.
    for path, metadata in ((svg, b"dc:date"), (pdf, b"CreationDate"), (png, b"Software")):
        default = tmp_path / f"default{path.suffix}"
        plt.figure().savefig(default)
        assert metadata in default.read_bytes() and metadata not in path.read_bytes()


def test_save_figure_ignores_user_settings(tmp_path):
    save_figure(bar_panels(BARS.iloc[:2], group="group", series="by"), tmp_path / "a" / "f")
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "black", "savefig.dpi": 10}):
        save_figure(bar_panels(BARS.iloc[:2], group="group", series="by"), tmp_path / "b" / "f")
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")


def test_box_panels_medians():
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


def test_bar_panels_values_and_styles():
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


def test_bar_panels_many_series_and_scale():
    frame = pd.DataFrame(
        [(panel, f"{panel}{number}", "a", 3.0) for panel in "pq" for number in range(4)],
        columns=["panel", "by", "group", "value"],
    )
    figure = bar_panels(frame, panel="panel", group="group", series="by", scale=(1, 4))
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(frame["by"])
    for axis in figure.axes:
        bars = [bars[0] for bars in axis.containers]
        assert len({(bar.get_facecolor(), bar.get_hatch()) for bar in bars}) == 4
        assert axis.get_ylim() == (1, 4)
        assert {(bar.get_y(), bar.get_y() + bar.get_height()) for bar in bars} == {(1, 3)}
        assert [text.get_text() for text in axis.texts] == ["3.00"] * 4


def test_agreement_panels_points_and_titles():
    frame = pd.DataFrame(
        {"run": list("aab"), "x": [0.2, 0.4, 1.0], "y": [0.2, 0.5, 1.0], "n": [3, 1, 1000]}
    )
    figure = agreement_panels(frame, x="x", y="y", count="n", panel="run")
    assert [len(axis.collections[0].get_offsets()) for axis in figure.axes] == [2, 1]
    titles = [axis.get_title().split("\n")[1:] for axis in figure.axes]
    assert titles == [
        ["n = 4", "largest difference 0.1"],
        ["n = 1,000", "largest difference 0"],
    ]
    smallest, largest = (axis.collections[0].get_sizes().max() for axis in figure.axes)
    assert smallest < largest


def test_interval_lines_order():
    frame = pd.DataFrame({"x": [2, 0, 1], "value": [0.9, 0.05, 0.5]})
    frame = frame.assign(low=frame["value"] - 0.05, high=frame["value"] + 0.05)
    axis = interval_lines(frame, x="x", low="low", high="high").axes[0]
    assert axis.lines[0].get_xdata().tolist() == [0, 1, 2]
    assert axis.collections[0].get_paths()[0].get_extents().height == pytest.approx(0.95)


def test_interval_lines_common_legend():
    frame = pd.DataFrame({"x": [0, 1, 0, 1], "value": 0.5, "low": 0.4, "high": 0.6,
                          "series": list("aabb"), "panel": list("pqpq")})  # fmt: skip
    figure = interval_lines(frame, x="x", low="low", high="high", series="series", panel="panel")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]
    assert not any(axis.get_legend() for axis in figure.axes)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: bar_panels(BARS, group="group", series="by"), "two bars for .*'a'"),
        (lambda: bar_panels(BARS.iloc[:0], group="group"), "no rows"),
        (lambda: box_panels(BARS.assign(value=float("nan")), group="group"), "'value', row 0"),
        (
            lambda: interval_lines(BARS.assign(low=9.0, high=10.0), x="value", low="low",
                                   high="high"),
            "row 0: value is outside",
        ),
    ],
)  # fmt: skip
def test_panels_invalid_frame(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_save_figure_new_folder(tmp_path):
    files = save_figure(bar_panels(BARS.iloc[:1], group="group"), tmp_path / "x" / "y" / "f")
    assert all(Path(file).stat().st_size > 1000 for file in files)


def test_agreement_panels_difference_of_either_sign():
    frame = pd.DataFrame({"x": [0.2, 0.9], "y": [0.3, 0.4], "n": [1, 1]})
    for x, y in (("x", "y"), ("y", "x")):
        (axis,) = agreement_panels(frame, x=x, y=y, count="n").axes
        assert axis.get_title().endswith("n = 2\nlargest difference 0.5")


def test_save_figure_clips_without_bounds(tmp_path):
    """Bounds that differ in their last bits, as after another layout, change no byte."""
    contents = []
    for shift in (0, 1e-14):
        figure = Figure()
        axes = figure.add_axes((0.2 + shift, 0.2, 0.6, 0.6), xlabel="x", ylabel="y")
        axes.plot([0, 1], [0, 2])
        contents.append(save_figure(figure, tmp_path / f"f{shift}")[0].read_bytes())
    assert contents[0] == contents[1] and b'clip-path="url(#clip1)"' in contents[0]
