"""Figures of text: what they show, and that it fits."""

import re

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg

from everycell.render.figure_files import STYLE, save_figure, style
from everycell.render.text_figures import _wrap, text_figure

MONOSPACE = {"family": ["monospace"]}
PROMPT = pd.DataFrame(
    {
        "prompt": ["first", "first", "second"],
        "role": ["system", "user", "user"],
        "text": ["Answer from the documents.\n\n$documents", "Question: $question", "x " * 90],
    }
)


def texts_of(figure) -> list[str]:
    """Texts of a figure, from top to bottom in each of its parts."""
    return [text.get_text() for text in figure.texts]


def test_text_figure_parts():
    figure = text_figure(PROMPT, panel="prompt", heading="role", monospace=True)
    first_lines = ["Answer from the documents.", "", "$documents"]
    assert texts_of(figure)[:7] == ["first", "system", *first_lines, "user", "Question: $question"]
    assert texts_of(figure)[7:9] == ["second", "user"]
    assert " ".join(texts_of(figure)[9:]).split() == ["x"] * 90


@pytest.mark.parametrize("columns", [1, 2])
def test_text_figure_inside_the_page(columns):
    figure = text_figure(PROMPT, panel="prompt", heading="role", columns=columns)
    figure.set_dpi(STYLE["savefig.dpi"])
    renderer = FigureCanvasAgg(figure).get_renderer()
    texts = [text for text in figure.texts if text.get_text().strip()]
    with style():
        boxes = [text.get_window_extent(renderer) for text in texts]
    page = figure.bbox
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 for box in boxes)
    assert all(page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)
    assert not any(
        one.overlaps(other) for index, one in enumerate(boxes) for other in boxes[:index]
    )


def test_text_figure_headings_in_one_line():
    """Headings are wrapped only if they are longer than a share of the panel."""
    parts = pd.DataFrame({"part": ["relevant document", "a document"], "text": ["x", "y"]})
    assert texts_of(text_figure(parts)) == ["relevant document", "x", "a document", "y"]
    narrow = texts_of(text_figure(parts, width=2))
    assert narrow[:2] == ["relevant", "document"]


def test_text_figure_same_bytes(tmp_path):
    stems = [tmp_path / "a", tmp_path / "b"]
    for stem in stems:
        save_figure(text_figure(PROMPT, panel="prompt", heading="role"), stem)
    for kind in ("svg", "pdf", "png"):
        assert stems[0].with_suffix(f".{kind}").read_bytes() == (
            stems[1].with_suffix(f".{kind}").read_bytes()
        )
    # Slots are text in the file, not formulas.
    assert "$documents" in re.sub("<[^>]*>", "", stems[0].with_suffix(".svg").read_text())


def test_text_figure_without_rows():
    with pytest.raises(ValueError, match="no rows"):
        text_figure(PROMPT[:0], heading="role")


def test_wrap_long_word():
    # A monospace letter of 8 pt is 0.602 em wide: 14 letters in an inch.
    assert list(_wrap("a " + "b" * 30, 1.0, MONOSPACE)) == ["a", "b" * 14, "b" * 14, "bb"]


@given(st.text("ab \n", max_size=60))
@settings(max_examples=30)
def test_wrap_keeps_the_text(text):
    lines = list(_wrap(text, 0.5, MONOSPACE))
    assert re.sub(r"\s", "", "".join(lines)) == re.sub(r"\s", "", text)
    assert max(map(len, lines)) <= 7
