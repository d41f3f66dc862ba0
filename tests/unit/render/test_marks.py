"""Marks of figures: rows by panel, checks, intervals and one legend."""

import pandas as pd
import pytest
from matplotlib.figure import Figure

from everycell.render.figures import (
    check_intervals,
    check_known,
    check_numbers,
    check_single,
    common_legend,
    draw_marks,
    rows_by,
)


def test_rows_by_first_appearance():
    frame = pd.DataFrame({"task": ["cite", "co-cite", "cite"], "value": [1, 2, 3]})
    rows = {task: rows["value"].tolist() for task, rows in rows_by(frame, "task").items()}
    assert list(rows.items()) == [("cite", [1, 3]), ("co-cite", [2])]


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: check_numbers(pd.DataFrame({"value": [0.5, None]}), ["value"]), "'value', row 1"),
        (
            lambda: check_intervals(pd.DataFrame({"value": [0.5], "low": [0.6], "high": [0.7]})),
            "row 0: value",
        ),
        (
            lambda: check_known(pd.DataFrame({"s": ["curve", "line"]}), "s", ("curve",)),
            "'s'.*'line'",
        ),
        (lambda: check_single(pd.DataFrame({"s": ["BM25", "BM25"]}), ["s"]), "'s': 'BM25'"),
    ],
)
def test_checks_name_the_faulty_row(check, message):
    with pytest.raises(ValueError, match=message):
        check()


def test_draw_marks_horizontal():
    axis = Figure().subplots()
    marks = pd.DataFrame({"value": [0.5], "low": [0.4], "high": [0.7]})
    draw_marks(axis, marks, pd.Series([0]), across=True, label="MAP")
    assert axis.containers[0].lines[0].get_xdata().tolist() == [0.5]


def test_common_legend_of_two_panels():
    figure = Figure()
    for axis in figure.subplots(1, 2):
        axis.plot([1, 2], label="BM25")
    common_legend(figure)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["BM25"]
