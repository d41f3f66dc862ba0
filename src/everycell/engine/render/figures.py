"""One style for all figures, and files of them whose bytes are the same in every run.

The plots take tidy frames, one row a mark or an observation, and give a `Figure`; panels, groups
and series stand in the order in which they first appear. Colours are those of Okabe and Ito
(2008), told apart with the common kinds of colour blindness; what a colour says is also said by
a hatch or a marker, for print in grey.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from everycell.engine.files import write_atomically

#: Okabe and Ito's colours without black and yellow, which is too pale on white.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++")
MARKERS = ("o", "s", "^", "D", "v", "P")
INK = "#222222"
#: Groups whose documents are drawn: the first two are blue and red, as in abolghasemi2026.
_GROUP_COLOURS = tuple(COLOURS[place] for place in (0, 4, 2, 3, 1, 5))
#: Lines of the first six systems of a figure, of the next six, and so on.
_DASHES = ("-", "--", ":")

STYLE: dict[str, object] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.edgecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#d0d0d0",
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "figure.facecolor": "white",
    "savefig.dpi": 200,
    # A name of the data may hold dollar signs, which start no formula.
    "text.parse_math": False,
    # Text stays text: it can be searched, and read aloud.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    # Without a salt the ids of an SVG are random.
    "svg.hashsalt": "everycell",
}
#: Series of the figures of interpolation -> its name in the legend, colour and dashes.
_ORACLES = {
    "oracle": ("oracle: best weight for each query", COLOURS[1], "-"),
    "noise oracle": (
        "noise oracle: random second scores (our control)",
        COLOURS[2],
        "--",
    ),
}
_CURVE_PANEL = ["first", "second", "metric"]
_METADATA: Mapping[str, dict[str, None]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}


_NOT_IN_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of the project, whatever the reader's own matplotlib settings are.

    Examples
    --------
    >>> with style():
    ...     figure = Figure(figsize=(3, 2), layout="constrained")
    ...     _ = figure.subplots().plot([1, 2])
    """
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def save_figure(figure: Figure, stem: Path) -> list[Path]:
    """Write a figure as ``stem.svg``, ``stem.pdf`` and ``stem.png`` (200 dpi).

    Parameters
    ----------
    figure
        What to write; it is not changed or closed.
    stem
        Path without suffix. A dot in its name is kept.

    Returns
    -------
    list of Path
        The three files. No date and no random id is in them, so the same figure drawn by the
        same matplotlib has the same bytes, in another process too.

    Examples
    --------
    >>> import tempfile
    >>> frame = pd.DataFrame({"group": ["a", "b"], "value": [1.0, 2.0]})
    >>> files = save_figure(bar_panels(frame, group="group"), Path(tempfile.mkdtemp()) / "f")
    >>> [file.name for file in files]
    ['f.svg', 'f.pdf', 'f.png']
    """
    files = []
    with style():
        for kind, metadata in _METADATA.items():
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=metadata)
            if kind == "svg":
                # A name of the data may hold what no XML may.
                buffer = io.BytesIO(_NOT_IN_XML.sub(b"\xef\xbf\xbd", buffer.getvalue()))
            files.append(write_atomically(stem.with_name(f"{stem.name}.{kind}"), buffer.getvalue()))
    return files


def box_panels(
    frame: pd.DataFrame,
    *,
    group: str,
    panel: str | None = None,
    value: str = "value",
    group_label: str = "",
    value_label: str = "",
    whiskers: float | Mapping[str, float] = 1.5,
    columns: int = 3,
) -> Figure:
    """Boxplots of observations by group, a panel for each measure; medians stand out by colour.

    Parameters
    ----------
    frame
        One row an observation: `group`, `value` (a number) and `panel`.
    group, panel, value
        Column names; without `panel` there is one panel.
    group_label, value_label
        Labels of the two axes, with units.
    whiskers
        Reach of the whiskers in multiples of the interquartile range (Tukey), for all panels or
        by panel. What lies beyond is drawn as a circle.
    columns
        Panels in a row, at most.

    Returns
    -------
    Figure
        All panels share the value axis.

    Raises
    ------
    ValueError
        A value is missing, or there is none.

    Examples
    --------
    >>> frame = pd.DataFrame({"query": list("aabb"), "value": [1, 2, 2, 4]})
    >>> len(box_panels(frame, group="query", value_label="rating (1 to 4)").axes)
    1
    """
    _check(frame, [value])
    panels = _groups(frame, panel)
    with style():
        figure, axes = _grid(len(panels), columns, width=3.0, height=2.2)
        for axis, (name, rows) in zip(axes, panels.items(), strict=True):
            groups = _groups(rows, group)
            reach = whiskers if isinstance(whiskers, int | float) else whiskers[name]
            axis.boxplot(
                [observed[value].to_numpy(dtype=float) for observed in groups.values()],
                tick_labels=list(groups),
                whis=reach,
                widths=0.6,
                patch_artist=True,
                boxprops={"facecolor": "#dcebf5", "edgecolor": INK, "linewidth": 0.8},
                whiskerprops={"color": INK, "linewidth": 0.8},
                capprops={"color": INK, "linewidth": 0.8},
                medianprops={"color": COLOURS[4], "linewidth": 2.2},
                flierprops={"marker": "o", "markersize": 3, "markeredgecolor": INK},
            )
            axis.set_title(name)
        _label(figure, axes, group_label, value_label)
    return figure


def bar_panels(
    frame: pd.DataFrame,
    *,
    group: str,
    series: str | None = None,
    panel: str | None = None,
    value: str = "value",
    group_label: str = "",
    value_label: str = "",
    decimals: int = 2,
    columns: int = 2,
) -> Figure:
    """Bars by group and series, each with its value in figures above it, in panels.

    Parameters
    ----------
    frame
        One row a bar: `group`, `value` (a number; bars start at 0) and `series`, `panel`.
    group, series, panel, value
        Column names. A series has one colour and hatch in all panels; a group that a series
        lacks has no bar.
    group_label, value_label
        Labels of the two axes, with units.
    decimals
        Digits after the point of the shown values.
    columns
        Panels in a row, at most.

    Returns
    -------
    Figure
        All panels share the value axis.

    Raises
    ------
    ValueError
        A value is missing, there is none, or two bars stand in one place.

    Examples
    --------
    >>> frame = pd.DataFrame({"group": ["a", "a"], "by": ["x", "y"], "value": [3.38, 3.23]})
    >>> figure = bar_panels(frame, group="group", series="by")
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['3.38', '3.23']
    """
    _check(frame, [value])
    keys = [key for key in (panel, group, series) if key is not None]
    twice = frame.duplicated(keys)
    if twice.any():
        raise ValueError(
            f"two bars for {frame.loc[twice, keys].iloc[0].to_dict()}; name a series or a panel."
        )
    panels = _groups(frame, panel)
    names = list(_groups(frame, series))
    look = dict(zip(names, zip(cycle(COLOURS), cycle(HATCHES), strict=False), strict=False))
    with style():
        figure, axes = _grid(len(panels), columns, width=3.6, height=2.6)
        for axis, (title, rows) in zip(axes, panels.items(), strict=True):
            groups = list(_groups(rows, group))
            there = _groups(rows, series)
            width = 0.8 / len(there)
            # The bars that a group has stand around its label, however many they are.
            labels = rows[group].astype(str)
            place = labels.map(groups.index) + width * (
                rows.groupby(labels).cumcount() - (labels.map(labels.value_counts()) - 1) / 2
            )
            for name, bars in there.items():
                colour, hatch = look[name]
                drawn = axis.bar(
                    place[bars.index].to_numpy(dtype=float),
                    bars[value].to_numpy(dtype=float),
                    width * 0.92,
                    label=name,
                    color=colour,
                    hatch=hatch,
                    edgecolor="white",
                    linewidth=0.5,
                )
                axis.bar_label(drawn, fmt=f"{{:.{decimals}f}}", fontsize=7, padding=1)
            axis.set_xticks(range(len(groups)), groups)
            axis.set_title(title)
            if series is not None:
                axis.legend(
                    ncols=min(3, len(there)),
                    loc="upper center",
                    fontsize=7,
                    columnspacing=1.0,
                    handlelength=1.5,
                )
            # Room for the legend above the highest bar.
            axis.set_ylim(top=max(axis.get_ylim()[1], frame[value].max() * 1.25))
        _label(figure, axes, group_label, value_label)
    return figure


def interval_lines(
    frame: pd.DataFrame,
    *,
    x: str,
    low: str,
    high: str,
    series: str | None = None,
    panel: str | None = None,
    value: str = "value",
    x_label: str = "",
    value_label: str = "",
    reference: float | None = None,
    columns: int = 2,
    legend_above: bool = False,
) -> Figure:
    """Lines with an interval at each point, such as a rejection rate with its binomial one.

    Parameters
    ----------
    frame
        One row a point: numbers `x`, `value`, `low` and `high`, and `series`, `panel`.
    x, low, high, series, panel, value
        Column names; `low` and `high` are the ends of the interval, not its half-widths.
    x_label, value_label
        Labels of the two axes, with units.
    reference
        A value to mark by a dashed line, such as the level of a test.
    columns
        Panels in a row, at most.
    legend_above
        One legend above all panels, for lines that leave no room in them; else one in each.

    Returns
    -------
    Figure
        All panels share the value axis. Points are joined by increasing `x`.

    Raises
    ------
    ValueError
        A number is missing, there is none, or a value lies outside its interval.

    Examples
    --------
    >>> frame = pd.DataFrame({"effect": [0, 0.1], "value": [0.05, 0.6],
    ...                       "low": [0.03, 0.55], "high": [0.07, 0.64]})
    >>> figure = interval_lines(frame, x="effect", low="low", high="high", reference=0.05)
    >>> len(figure.axes[0].lines)
    2
    """
    _check(frame, [x])
    _check_intervals(frame, value, low, high)
    panels = _groups(frame, panel)
    names = list(_groups(frame, series))
    look = dict(zip(names, zip(cycle(COLOURS), cycle(MARKERS), strict=False), strict=False))
    with style():
        figure, axes = _grid(len(panels), columns, width=3.8, height=2.8)
        for axis, (title, rows) in zip(axes, panels.items(), strict=True):
            if reference is not None:
                axis.axhline(reference, color=INK, linestyle="--", linewidth=0.8)
            for name, points in _groups(rows, series).items():
                colour, marker = look[name]
                line = points.sort_values(x)
                axis.plot(
                    line[x], line[value], color=colour, marker=marker, markersize=4, label=name
                )
                axis.fill_between(line[x], line[low], line[high], color=colour, alpha=0.2, lw=0)
            axis.set_title(title)
            if series is not None and not legend_above:
                axis.legend(fontsize=7)
        if legend_above:
            _legend_above(figure)
        _label(figure, axes, x_label, value_label)
    return figure


def interpolation_curves(frame: pd.DataFrame) -> Figure:
    r"""Quality of two systems' weighted sum over the weight, beside its oracle and our control.

    Parameters
    ----------
    frame
        One row a mark: `first` and `second` (short names of the systems), `task`, `metric`,
        `series`, `alpha` and `value`. Rows of the series "curve" are points: `alpha`, from 0 to 1,
        is the weight of the first system, and 1 minus it that of the second. A row of "oracle"
        (the best weight for each query) or of "noise oracle" (the same choice with random scores
        in place of the second system) is a level, and its `alpha` is not read.

    Returns
    -------
    Figure
        Panels: two systems and metric down, tasks across; those of one metric and task share
        the value axis, for the first system is the same in them. A ring marks the greatest value
        of a curve, at the smallest weight among ties (within 1e-12).

    Raises
    ------
    ValueError
        A number is missing, an unknown series, a weight outside 0 to 1, or two marks in one place.

    Notes
    -----
    Source: abolghasemi2026, Figure 2.3; the level of the noise oracle is a control of ours.

    Examples
    --------
    >>> marks = [("curve", 0, 0.3), ("curve", 0.5, 0.5), ("curve", 1, 0.4),
    ...          ("oracle", None, 0.7), ("noise oracle", None, 0.6)]
    >>> frame = pd.DataFrame(marks, columns=["series", "alpha", "value"]).assign(
    ...     first="BM25", second="TILDE", task="cite", metric="MAP")
    >>> figure = interpolation_curves(frame)
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['0\nTILDE\nonly', '0.5', '1\nBM25\nonly']
    """
    _check(frame, ["value"])
    _check_known(frame, "series", ("curve", *_ORACLES))
    points = frame[frame["series"] == "curve"]
    _check(points, ["alpha"])
    weights = points["alpha"].astype(float)
    if not weights.between(0, 1).all():
        raise ValueError(
            f"column 'alpha': found {weights[~weights.between(0, 1)].iloc[0]:g}, and a weight lies "
            "from 0 to 1; correct it."
        )
    alpha = frame["alpha"].where(frame["series"] == "curve", 0)
    _check_single(frame.assign(alpha=alpha), [*_CURVE_PANEL, "task", "series", "alpha"])
    tasks = frame["task"].unique()
    down = frame[_CURVE_PANEL].drop_duplicates()
    panels = dict(list(frame.groupby([*_CURVE_PANEL, "task"], sort=False)))
    with style():
        figure = Figure(
            figsize=(max(4.0, 1.75 * len(tasks) + 0.6), 1.65 * len(down) + 0.9),
            layout="constrained",
        )
        grid = figure.subplots(len(down), len(tasks), squeeze=False)
        alike: dict[tuple[str, str], Axes] = {}
        for row, (first, second, metric) in zip(grid, down.itertuples(index=False), strict=True):
            for axis, task in zip(row, tasks, strict=True):
                if (first, second, metric, task) not in panels:
                    axis.remove()
                    continue
                if (metric, task) in alike:
                    axis.sharey(alike[metric, task])
                alike[metric, task] = axis
                _draw_curve(axis, panels[first, second, metric, task])
                axis.set_xticks(
                    [0, 0.5, 1], [f"0\n{second}\nonly", "0.5", f"1\n{first}\nonly"], fontsize=7
                )
                axis.tick_params(axis="y", labelsize=7)
                if axis in grid[0]:
                    axis.set_title(task)
                if axis is row[0]:
                    axis.set_ylabel(f"{first} + {second}\n{metric}")
        _legend_above(figure)
        figure.supxlabel("weight α of the first system", fontsize=9)
    return figure


def _draw_curve(axis: Axes, rows: pd.DataFrame) -> None:
    points = rows[rows["series"] == "curve"].astype({"alpha": float}).sort_values("alpha")
    if not points.empty:
        best = points[points["value"] >= points["value"].max() - 1e-12].iloc[0]
        axis.plot(
            points["alpha"],
            points["value"],
            color=COLOURS[0],
            marker="o",
            markersize=3,
            label="one weight for all queries",
        )
        axis.plot(
            best["alpha"],
            best["value"],
            linestyle="",
            marker="o",
            markersize=8,
            markerfacecolor="none",
            markeredgecolor=INK,
            label="the best of these",
        )
    for name, (label, colour, dashes) in _ORACLES.items():
        for level in rows.loc[rows["series"] == name, "value"]:
            axis.axhline(level, color=colour, linestyle=dashes, label=label)


def short_against_long(frame: pd.DataFrame) -> Figure:
    """Quality of each system on two kinds of queries to the same documents, with intervals.

    Parameters
    ----------
    frame
        One row a mark: `system`, `queries` (one of two names, such as "short: known item" and
        "long: query by example"), `measure`, and the numbers `value`, `low` and `high`, the ends
        of its interval.

    Returns
    -------
    Figure
        A panel a measure, a row a system, from top to bottom. Two marks of a system are joined.

    Raises
    ------
    ValueError
        A number is missing, a value lies outside its interval, two marks in one place, or other
        than two kinds of queries.

    Notes
    -----
    Not in abolghasemi2026: a figure of ours, on the claim of its chapter 2 that weights of terms
    in their context help long queries less than short ones.

    Examples
    --------
    >>> frame = pd.DataFrame({"system": ["BM25", "BM25"], "queries": ["short", "long"],
    ...     "measure": "MAP", "value": [0.5, 0.3], "low": [0.45, 0.25], "high": [0.55, 0.35]})
    >>> [label.get_text() for label in short_against_long(frame).axes[0].get_yticklabels()]
    ['BM25']
    """
    _check_intervals(frame)
    _check_single(frame, ["measure", "system", "queries"])
    kinds = list(frame["queries"].unique())
    if len(kinds) != 2:
        raise ValueError(f"column 'queries': found {kinds}; two kinds of queries are compared.")
    systems = list(frame["system"].unique())
    panels = _groups(frame, "measure")
    with style():
        figure = Figure(
            figsize=(1.2 + 2.9 * len(panels), 0.9 + 0.38 * len(systems)), layout="constrained"
        )
        axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        for axis, (name, rows) in zip(axes, panels.items(), strict=True):
            # A little above and below the row, so that neither interval hides the other.
            shift = rows["queries"].map(kinds.index) * 0.26 - 0.13
            placed = rows.assign(place=rows["system"].map(systems.index) + shift)
            for pair in _groups(placed, "system").values():
                axis.plot(pair["value"], pair["place"], color="#888888", linewidth=1, zorder=1)
            for kind, colour, marker in zip(kinds, COLOURS, MARKERS, strict=False):
                marks = placed[placed["queries"] == kind]
                _draw_marks(
                    axis,
                    marks,
                    marks["place"],
                    across=True,
                    color=colour,
                    marker=marker,
                    label=str(kind),
                )
            axis.grid(visible=True, axis="both")
            axis.set_xlabel(name)
        axes[0].set_yticks(range(len(systems)), systems)
        axes[0].set_ylim(len(systems) - 0.5, -0.5)
        _legend_above(figure)
    return figure


def oracle_gains(frame: pd.DataFrame) -> Figure:
    """What a sum of two systems gains over the first one: tuned, by its oracle, and by noise.

    Parameters
    ----------
    frame
        One row a mark: `combination`, `task`, `metric`, `series` ("tuned", "oracle" or "noise
        oracle"), and the numbers `value`, `low` and `high`: the gain in the metric, and the ends
        of its interval.

    Returns
    -------
    Figure
        Panels: metrics down, combinations across, tasks along the axis; the panels of a metric
        share the value axis. A line marks no gain.

    Raises
    ------
    ValueError
        A number is missing, a value lies outside its interval, an unknown series, or two marks in
        one place.

    Notes
    -----
    Not in abolghasemi2026: a control of ours for its Table 2.4. What the noise oracle gains comes
    from choosing a weight for each query with its relevance judgements, not from the system.

    Examples
    --------
    >>> frame = pd.DataFrame({"series": ["tuned", "oracle", "noise oracle"],
    ...     "value": [0.02, 0.06, 0.05], "low": [0.01, 0.05, 0.04], "high": [0.03, 0.07, 0.06]})
    >>> figure = oracle_gains(frame.assign(combination="BM25 + TILDE", task="cite", metric="MAP"))
    >>> figure.axes[0].get_ylabel()
    'gain in MAP'
    """
    _check_intervals(frame)
    looks = {"tuned": "one weight, tuned on other queries"}
    looks |= {name: label for name, (label, _, _) in _ORACLES.items()}
    _check_known(frame, "series", tuple(looks))
    _check_single(frame, ["metric", "combination", "task", "series"])
    metrics, across = frame["metric"].unique(), frame["combination"].unique()
    tasks = list(frame["task"].unique())
    with style():
        figure = Figure(
            figsize=(0.8 + max(3.2, 0.8 * len(tasks)) * len(across), 0.9 + 2.1 * len(metrics)),
            layout="constrained",
        )
        grid = figure.subplots(len(metrics), len(across), squeeze=False, sharex=True, sharey="row")
        for row, metric in zip(grid, metrics, strict=True):
            for axis, combination in zip(row, across, strict=True):
                rows = frame[(frame["metric"] == metric) & (frame["combination"] == combination)]
                axis.axhline(0, color=INK, linewidth=0.8)
                for (name, label), shift, colour, marker in zip(
                    looks.items(), (-0.22, 0, 0.22), COLOURS, MARKERS, strict=False
                ):
                    marks = rows[rows["series"] == name]
                    _draw_marks(
                        axis,
                        marks,
                        marks["task"].map(tasks.index) + shift,
                        across=False,
                        color=colour,
                        marker=marker,
                        label=label,
                    )
                axis.set_xticks(range(len(tasks)), tasks)
                axis.set_xlim(-0.5, len(tasks) - 0.5)
                if axis in grid[0]:
                    axis.set_title(combination)
            row[0].set_ylabel(f"gain in {metric}")
        _legend_above(figure)
    return figure


def _draw_marks(
    axis: Axes, marks: pd.DataFrame, place: pd.Series, *, across: bool, **look: str
) -> None:
    """Draw values with their intervals, in rows or (not `across`) in columns."""
    value = marks["value"].to_numpy(dtype=float)
    ends = np.abs(marks[["low", "high"]].to_numpy(dtype=float).T - value)
    places = place.to_numpy(dtype=float)
    axis.errorbar(
        *((value, places) if across else (places, value)),
        **{"xerr" if across else "yerr": ends},
        linestyle="",
        markersize=5,
        elinewidth=1.2,
        capsize=2.5,
        **look,
    )


def _legend_above(figure: Figure, *, handlelength: float = 2.0) -> None:
    """Name each look once for all panels, in as many columns as there is room for.

    The length of a handle is in letters.
    """
    named = {}
    for axis in figure.axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    # Inches, of the handle and of a letter.
    longest = 0.28 + 0.11 * handlelength + 0.058 * max(map(len, named))
    figure.legend(
        named.values(),
        named.keys(),
        loc="outside upper center",
        ncols=max(1, int(figure.get_figwidth() // longest)),
        fontsize=8,
        handlelength=handlelength,
    )


def _check_intervals(
    frame: pd.DataFrame, value: str = "value", low: str = "low", high: str = "high"
) -> None:
    _check(frame, [value, low, high])
    outside = (frame[value] < frame[low]) | (frame[value] > frame[high])
    if outside.any():
        raise ValueError(f"row {int(outside.argmax())}: {value} lies outside {low} to {high}.")


def _check_known(frame: pd.DataFrame, column: str, known: tuple[str, ...]) -> None:
    strange = frame.loc[~frame[column].isin(known), column]
    if not strange.empty:
        raise ValueError(
            f"column {column!r}: found {strange.iloc[0]!r}, and only {', '.join(known)} can be "
            "drawn; correct it."
        )


def _check_single(frame: pd.DataFrame, keys: list[str]) -> None:
    twice = frame.duplicated(keys)
    if twice.any():
        raise ValueError(
            f"two marks for {frame.loc[twice, keys].iloc[0].to_dict()}; draw each only once."
        )


def _check(frame: pd.DataFrame, numbers: list[str]) -> None:
    if frame.empty:
        raise ValueError("there is nothing to draw: the table has no rows.")
    for name in numbers:
        bad = ~np.isfinite(frame[name].to_numpy(dtype=float))
        if bad.any():
            raise ValueError(
                f"column {name!r}, row {int(bad.argmax())}: found {frame[name].iloc[bad.argmax()]}"
                ", and only finite numbers can be drawn; leave the row out."
            )


def _groups(frame: pd.DataFrame, key: str | None) -> dict[str, pd.DataFrame]:
    if key is None:
        return {"": frame}
    return {str(name): rows for name, rows in frame.groupby(key, sort=False)}


def _grid(panels: int, columns: int, *, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Make a figure with a grid of panels; width and height of a panel are in inches."""
    across = min(columns, panels)
    down = math.ceil(panels / across)
    figure = Figure(figsize=(width * across, height * down), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False, sharey=True).ravel()
    for unused in axes[panels:]:
        unused.remove()
    return figure, list(axes[:panels])


def _label(figure: Figure, axes: list[Axes], below: str, left: str) -> None:
    if len(axes) == 1:
        axes[0].set(xlabel=below, ylabel=left)
    else:
        figure.supxlabel(below, fontsize=9)
        figure.supylabel(left, fontsize=9)


def documents_in_lists(
    documents: pd.DataFrame, values: pd.DataFrame, groups: Mapping[str, str]
) -> Figure:
    """Ranked lists as coloured documents, side by side, with what measures say of each below.

    Parameters
    ----------
    documents
        One row a document: `list`, `rank` (1 is the best) and `group`, a key of `groups`.
    values
        One row a bar: `list`, `measure` and `value` from 0 (least fair) to 1.
    groups
        Group -> what the box of its documents says. There may be up to six.

    Returns
    -------
    Figure
        A column a list; a colour and a hatch a group, in the order of `groups`.

    Raises
    ------
    ValueError
        A number is missing, a value outside 0 to 1, an unknown group, two documents at one rank
        or two bars in one place, or other lists in the one frame than in the other.

    Notes
    -----
    Source: abolghasemi2026, Figure 4.1; the bars are ours.

    Examples
    --------
    >>> documents = pd.DataFrame({"list": "left", "rank": [1, 2], "group": ["F", "M"]})
    >>> values = pd.DataFrame({"list": ["left"], "measure": ["TExFAIR"], "value": [0.883]})
    >>> figure = documents_in_lists(documents, values, {"F": "she", "M": "he"})
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['1', 'she', '2', 'he']
    """
    _check(documents, ["rank"])
    _check(values, ["value"])
    _check_known(documents, "group", tuple(groups))
    _check_single(documents, ["list", "rank"])
    _check_single(values, ["list", "measure"])
    outside = ~values["value"].between(0, 1)
    if outside.any():
        raise ValueError(
            f"column 'value': found {values.loc[outside, 'value'].iloc[0]:g}, and a fairness lies "
            "from 0 to 1; correct it."
        )
    lists, bars = _groups(documents, "list"), _groups(values, "list")
    if set(lists) != set(bars):
        raise ValueError(
            f"the documents are of the lists {list(lists)} and the values of {list(bars)}; give "
            "both for each list."
        )
    looks = dict(zip(groups, zip(_GROUP_COLOURS, HATCHES, strict=True), strict=False))
    measures, last = list(values["measure"].unique()), int(documents["rank"].max())
    with style():
        figure = Figure(
            figsize=(0.8 + 3.4 * len(lists), 0.9 + 0.42 * last + 0.42 * len(measures)),
            layout="constrained",
        )
        grid = figure.subplots(
            2, len(lists), squeeze=False, height_ratios=[last + 0.5, len(measures)]
        )
        for above, below, (name, rows) in zip(*grid, lists.items(), strict=True):
            for rank, group in rows[["rank", "group"]].itertuples(index=False):
                colour, hatch = looks[group]
                above.barh(rank, 1, color=colour, edgecolor="white", hatch=hatch, height=0.84)
                above.text(-0.03, rank, f"{rank:g}", ha="right", va="center", color=INK)
                # On a plate, since a hatch runs through letters.
                above.text(
                    0.5,
                    rank,
                    groups[group],
                    ha="center",
                    va="center",
                    color=INK,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 2.5},
                )
            above.set(title=name, xlim=(-0.08, 1), ylim=(last + 0.55, 0.45))
            above.axis("off")
            places = [measures.index(measure) for measure in bars[name]["measure"]]
            drawn = below.barh(places, bars[name]["value"], color="#888888", height=0.6)
            below.bar_label(drawn, fmt="%.3f", padding=3)
            below.set(xlim=(0, 1.18), ylim=(len(measures) - 0.45, -0.55))
            below.set_xticks([0, 0.5, 1], ["0\nleast fair", "0.5\n", "1\nfair"], fontsize=8)
            below.set_yticks(range(len(measures)), measures, fontsize=8)
            below.tick_params(axis="y", length=0, labelleft=below is grid[1][0])
            below.grid(visible=True, axis="x")
            below.grid(visible=False, axis="y")
    return figure


def fairness_over_depth(frame: pd.DataFrame, *, cutoff: int | None = None) -> Figure:
    """Mean fairness of each system over the cut-off, a row of panels for each query set.

    Parameters
    ----------
    frame
        One row a point: `query_set`, `system`, `measure`, and the numbers `k` (a rank) and
        `value`. A system may lack points, where a measure says nothing of it.
    cutoff
        A cut-off to mark by a dashed line, such as that of the tables.

    Returns
    -------
    Figure
        Panels: query sets down, measures across; all panels of a row share the value axis, and
        all panels the cut-offs. Each system has a colour, a marker and, from the seventh on,
        dashes; its markers stand at some cut-offs alone.

    Raises
    ------
    ValueError
        A number is missing, or two points in one place.

    Notes
    -----
    Source: abolghasemi2026, Figure 4.2.

    Examples
    --------
    >>> frame = pd.DataFrame({"query_set": "QS1", "system": ["BM25", "BM25"], "measure": "NFaiRR",
    ...                       "k": [2, 1], "value": [0.7, 0.8]})
    >>> fairness_over_depth(frame).axes[0].lines[0].get_xdata().tolist()
    [1, 2]
    """
    _check(frame, ["k", "value"])
    _check_single(frame, ["query_set", "system", "measure", "k"])
    sets, measures = frame["query_set"].unique(), frame["measure"].unique()
    systems = list(frame["system"].unique())
    step = max(1, int(frame["k"].max()) // 5)
    with style():
        figure = Figure(
            figsize=(0.5 + 2.7 * len(measures), 1.1 + 2.5 * len(sets)), layout="constrained"
        )
        grid = figure.subplots(len(sets), len(measures), squeeze=False, sharex=True, sharey="row")
        for row, query_set in zip(grid, sets, strict=True):
            for axis, measure in zip(row, measures, strict=True):
                points = frame[(frame["query_set"] == query_set) & (frame["measure"] == measure)]
                if cutoff is not None:
                    axis.axvline(cutoff, color=INK, linestyle=":", linewidth=0.8)
                for system, line in _groups(points, "system").items():
                    place = systems.index(system)
                    line = line.sort_values("k")
                    axis.plot(
                        line["k"],
                        line["value"],
                        color=COLOURS[place % len(COLOURS)],
                        linestyle=_DASHES[place // len(COLOURS) % len(_DASHES)],
                        marker=MARKERS[(place + place // len(COLOURS)) % len(MARKERS)],
                        markersize=3.5,
                        # Those of lines that lie upon each other stand beside each other.
                        markevery=(place % step, step),
                        label=system,
                    )
                if axis in grid[0]:
                    axis.set_title(measure)
            row[0].set_ylabel(f"{query_set}\nmean fairness")
        # Long enough for dashes to show beside the marker.
        _legend_above(figure, handlelength=3.5)
        figure.supxlabel("cut-off k", fontsize=9)
    return figure


def document_against_list_fairness(frame: pd.DataFrame) -> Figure:
    """Two measures of each system, with the values that were planted.

    Parameters
    ----------
    frame
        One row a mark: `system`, `measure` (two names), and the numbers `value` and `planted`.

    Returns
    -------
    Figure
        A row a system, from top to bottom, whose name may have several lines; the two measures of
        a system are joined, and a ring stands where the planted value is.

    Raises
    ------
    ValueError
        A number is missing, two marks in one place, or other than two measures.

    Notes
    -----
    Not in abolghasemi2026: a figure of ours, on the claim of its chapter 4 that documents may be
    biased while their list is balanced.

    Examples
    --------
    >>> frame = pd.DataFrame({"system": "alternating", "measure": ["NFaiRR", "TExFAIR"],
    ...                       "value": [0.0, 0.89], "planted": [0.0, 0.89]})
    >>> axis = document_against_list_fairness(frame).axes[0]
    >>> [label.get_text() for label in axis.get_yticklabels()]
    ['alternating']
    """
    _check(frame, ["value", "planted"])
    _check_single(frame, ["system", "measure"])
    measures = list(frame["measure"].unique())
    if len(measures) != 2:
        raise ValueError(f"column 'measure': found {measures}; two measures are compared.")
    systems = list(frame["system"].unique())
    with style():
        figure = Figure(figsize=(7.2, 1.0 + 0.38 * len(systems)), layout="constrained")
        axis = figure.subplots()
        for place, rows in enumerate(_groups(frame, "system").values()):
            axis.plot(rows["value"], [place] * len(rows), color="#888888", linewidth=1, zorder=1)
        for measure, colour, marker in zip(measures, COLOURS, MARKERS, strict=False):
            rows = frame[frame["measure"] == measure]
            places = rows["system"].map(systems.index)
            # The one shows below the other where both are the same.
            size = 7 - 3 * measures.index(measure)
            axis.plot(
                rows["value"],
                places,
                color=colour,
                marker=marker,
                markersize=size,
                linestyle="",
                label=measure,
            )
        axis.plot(
            frame["planted"],
            frame["system"].map(systems.index),
            linestyle="",
            marker="o",
            markersize=11,
            markerfacecolor="none",
            markeredgecolor=INK,
            markeredgewidth=0.8,
            label="planted",
        )
        axis.grid(visible=True, axis="both")
        axis.set_yticks(range(len(systems)), systems, fontsize=7.5)
        axis.set_ylim(len(systems) - 0.4, -0.6)
        axis.set_xlabel("fairness (0: least fair, 1: fair)")
        _legend_above(figure)
    return figure


def ranks_by_judge(ranks: pd.DataFrame, agreement: pd.DataFrame) -> Figure:
    """Rank of each system by each judge, and how far the orders of pairs of judges agree.

    Parameters
    ----------
    ranks
        One row a mark: `judge`, `system` and the number `rank` (1 the best).
    agreement
        One row a pair of judges: `judges` (its name), and the numbers `value` (a rank
        correlation), `low` and `high`.

    Returns
    -------
    Figure
        On the left a column a judge, in which the best system stands on top; the marks of a system
        are joined and named at the last judge. On the right the agreement with its intervals.

    Raises
    ------
    ValueError
        A number is missing, two marks in one place, or a value outside its interval.

    Notes
    -----
    Not in lajewska2025: a figure of ours, beside its Table 6.7.

    Examples
    --------
    >>> ranks = pd.DataFrame({"judge": list("aabb"), "system": list("xyxy"), "rank": [1, 2, 2, 1]})
    >>> pairs = pd.DataFrame({"judges": ["a and b"], "value": -1, "low": -1, "high": 0.5})
    >>> left, right = ranks_by_judge(ranks, pairs).axes
    >>> [text.get_text() for text in left.texts]
    ['x', 'y']
    """
    _check(ranks, ["rank"])
    _check_single(ranks, ["judge", "system"])
    _check_intervals(agreement)
    _check_single(agreement, ["judges"])
    judges = list(ranks["judge"].unique())
    systems = _groups(ranks, "system")
    pairs = list(agreement["judges"])
    with style():
        figure = Figure(figsize=(8.4, 1.0 + 0.3 * len(systems)), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        for number, (system, marks) in enumerate(systems.items()):
            places = marks["judge"].map(judges.index)
            left.plot(
                places,
                marks["rank"],
                color=COLOURS[number % len(COLOURS)],
                linestyle=_DASHES[number // len(COLOURS) % len(_DASHES)],
                marker=MARKERS[(number + number // len(COLOURS)) % len(MARKERS)],
                markersize=6,
            )
            left.annotate(
                system,
                (places.iloc[-1], marks["rank"].iloc[-1]),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
            )
        left.set_xticks(range(len(judges)), judges)
        left.set(xlim=(-0.15, len(judges) - 0.9), ylim=(len(systems) + 0.5, 0.5))
        left.set_yticks(range(1, len(systems) + 1))
        left.set_ylabel("rank of the mean score (1: highest)")
        _draw_marks(
            right,
            agreement,
            pd.Series(range(len(pairs))),
            across=True,
            color=COLOURS[0],
            marker=MARKERS[0],
        )
        right.set_yticks(range(len(pairs)), pairs, fontsize=8)
        right.set(
            xlim=(min(-0.02, agreement["low"].min() - 0.05), 1.05),
            ylim=(len(pairs) - 0.5, -0.5),
            xlabel="Kendall's tau of the order,\n95 % interval over topics",
        )
        right.grid(visible=True, axis="x")
        right.grid(visible=False, axis="y")
    return figure
