"""Attributions as a table and as a plot."""

import numpy as np
import pandas as pd

from everycell.explain.attributed_lists import MAX_PLOTTED, attributed_list, attribution_plot
from everycell.explain.explainers import ExplainedList
from everycell.explain.forests import forest_of


def test_attribution_plot_largest_of_either_sign():
    """The bars are the largest absolute values, in the order of the table."""
    values = np.linspace(1.0, -1.1, MAX_PLOTTED + 6)
    table = pd.DataFrame(
        {"feature": [f"f{number}" for number in range(len(values))], "attribution": values}
    ).assign(error=0.25)
    axes = attribution_plot(table, "weight").axes[0]
    small = np.argsort(np.abs(values))[:6]
    expected = [name for row, name in enumerate(table["feature"]) if row not in small]
    assert [label.get_text() for label in axes.get_yticklabels()] == expected
    assert expected[0] == "f0" and expected[-1] == f"f{len(values) - 1}"
    # Error bars of two standard errors on either side.
    (bars,) = axes.collections
    low, high = bars.get_segments()[0][:, 0]
    assert (low, high) == (0.5, 1.5)


def test_attributed_list_unused_feature():
    """A stump reads BM25 only: the list gains 2 by it, and the length has no row."""
    leaves = {"left_child": {"leaf_value": -1.0}, "right_child": {"leaf_value": 1.0}}
    split = {"split_feature": 0, "threshold": 0.5, "decision_type": "<=", "missing_type": "None"}
    stump = forest_of([split | {"default_left": True} | leaves], ["BM25", "length"])
    ranking = ExplainedList(stump, np.array([[0.1, 3.0], [0.9, 1.0]]), np.array([[0.2, 2.0]]))
    table = attributed_list(ranking, explainer="shapley", rng=np.random.default_rng(0))
    assert table.values.tolist() == [["BM25", 2.0, 0.0]]
