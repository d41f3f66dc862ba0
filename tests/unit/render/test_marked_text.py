"""Figures of marked texts: each mark is below its letters."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.render.marked_text import (
    MarkedText,
    _bars_of_line,
    _lines,
    marked_rows,
    marked_texts,
)


@given(st.text("ab -\n\t", max_size=400), st.data())
def test_bars_of_line_marked_letters(text, data):
    positions = st.integers(0, len(text))
    spans = data.draw(st.lists(st.tuples(positions, positions).filter(lambda s: s[0] < s[1])))
    marked = MarkedText("toy", text, {"ann": spans})
    lines = list(_lines(text))
    below = {
        start + position
        for start, line in lines
        for first, last in _bars_of_line(marked, start, line).get("ann", [])
        for position in range(first, last)
    }
    visible = {start + position for start, line in lines for position in range(len(line))}
    assert below == {position for span in spans for position in range(*span)} & visible
    # Only blanks at the ends of lines are not shown.
    assert all(text[position].isspace() for position in set(range(len(text))) - visible)


def test_marked_rows_person_without_marks():
    rows = marked_rows([MarkedText("toy", "owls eat mice", {"ann": [(0, 4)], "bob": []})])
    expected = [("toy", "ann", 0, 4, "owls"), ("toy", "bob", 0, 0, "")]
    columns = ["text", "person", "start", "end", "marked"]
    pd.testing.assert_frame_equal(rows, pd.DataFrame(expected, columns=columns))


def test_marked_texts_words_and_bars():
    figure = marked_texts([MarkedText("toy", "owls eat", {"ann": [(5, 8)]}, "a note")])
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.texts] == ["toy", "owls", "eat", "a note"]
    [bar] = axes.patches
    eat = axes.texts[2].get_position()
    assert bar.get_x() == pytest.approx(eat[0]) and bar.get_y() < eat[1]
    assert bar.get_width() == pytest.approx(0.6 * axes.texts[2].get_position()[0])


@pytest.mark.parametrize("span", [(-1, 2), (2, 2), (0, 9)])
def test_marked_texts_span_outside(span):
    with pytest.raises(DataError, match="a part of the 8 letters"):
        marked_texts([MarkedText("toy", "owls eat", {"ann": [span]})])
