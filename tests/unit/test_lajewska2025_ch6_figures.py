"""The drawing of chapter 6 of lajewska2025: ranks by judge, and how far the judges agree."""

import numpy as np
import pandas as pd
import pytest

from everycell.studies.lajewska2025.ch6.figures import ranks_by_judge

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
