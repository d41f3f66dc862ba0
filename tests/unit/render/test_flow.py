"""Flow charts: order of the boxes, arrows, and errors."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.render.figure_files import save_figure
from everycell.render.flow import AFTER, _arrows, _layout, boxes_before, flow_chart, wrap


def boxes_of(**before: str) -> pd.DataFrame:
    """Boxes by name, each with the names of those before it."""
    rows = [(name, name, after) for name, after in before.items()]
    return pd.DataFrame(rows, columns=["box", "text", "after"])


@st.composite
def charts(draw):
    """Charts in which a box may follow any earlier one."""
    names = [f"b{number}" for number in range(draw(st.integers(1, 9)))]
    after = [
        AFTER.join(draw(st.lists(st.sampled_from(names[:index]), unique=True)) if index else [])
        for index in range(len(names))
    ]
    texts = draw(st.lists(st.text("ab \n", min_size=1, max_size=60), min_size=9, max_size=9))
    return pd.DataFrame({"box": names, "text": texts[: len(names)], "after": after})


@given(charts())
def test_layout_order_without_overlaps(boxes):
    layout = _layout(boxes)
    for start, end in boxes_before(boxes).edges:
        assert layout[start].left + layout[start].width < layout[end].left
    for name, area in layout.items():
        for other, further in layout.items():
            if name != other and area.left == further.left:
                room = (area.height + further.height) / 2
                assert abs(area.middle - further.middle) > room


@given(charts())
def test_arrows_join_their_boxes(boxes):
    graph, layout = boxes_before(boxes), _layout(boxes)
    paths = list(_arrows(graph, layout))
    assert len(paths) == graph.number_of_edges()
    for (start, end), path in zip(graph.edges, paths, strict=True):
        (left, low), (right, high) = path.vertices[[0, -1]]
        assert left == pytest.approx(layout[start].left + layout[start].width)
        assert right == pytest.approx(layout[end].left)
        assert abs(low - layout[start].middle) < layout[start].height / 2
        assert abs(high - layout[end].middle) < layout[end].height / 2


def test_arrows_many_into_one_box():
    names = [f"b{number}" for number in range(9)]
    boxes = boxes_of(**dict.fromkeys(names, ""), end=AFTER.join(names))
    layout = _layout(boxes)
    heights = [path.vertices[-1][1] for path in _arrows(boxes_before(boxes), layout)]
    # In the order of their boxes, from top to bottom, and within the height of the last box.
    assert heights == sorted(heights, reverse=True) and len(set(heights)) == 9
    half = layout["end"].height / 2
    assert all(abs(height - layout["end"].middle) < half for height in heights)


def test_boxes_before_omitted_arrow():
    graph = boxes_before(boxes_of(a="", b="a", c="a; b"))
    assert list(graph.edges) == [("a", "b"), ("b", "c")]


def test_boxes_before_order_of_arrows():
    names = [f"b{number}" for number in range(30)]
    graph = boxes_before(boxes_of(start="", **dict.fromkeys(names, "start")))
    assert list(graph.successors("start")) == names


@pytest.mark.parametrize(
    ("boxes", "message"),
    [
        (boxes_of(a="b"), "one box with each name"),
        (pd.concat([boxes_of(a=""), boxes_of(a="")]), "one box with each name"),
        (boxes_of(a="b", b="a"), "in a circle"),
    ],
)
def test_boxes_before_errors(boxes, message):
    with pytest.raises(DataError, match=message):
        boxes_before(boxes)


def test_wrap_keeps_words():
    text = "splade.splade-tiny.zero-shot-of-a-long-name and a word\nsecond line"
    assert wrap(text).split() == text.split() and wrap(text).endswith("\nsecond line")


def test_flow_chart_groups_and_panels(tmp_path):
    boxes = boxes_of(a="", b="a").assign(panel="first", group=["input", "output"])
    second = boxes_of(a="").assign(panel="second", group="input")
    figure = flow_chart(pd.concat([boxes, second]))
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == ["first", "a", "b", "second", "a"]
    assert [text.get_text() for text in figure.legends[0].texts] == ["input", "output"]
    files = save_figure(figure, tmp_path / "figure")
    again = save_figure(flow_chart(pd.concat([boxes, second])), tmp_path / "again")
    assert [file.read_bytes() for file in files] == [file.read_bytes() for file in again]
