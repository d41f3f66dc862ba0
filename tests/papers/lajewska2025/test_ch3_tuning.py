"""lajewska2025, chapter 3: grids on which BM25 is tuned."""

import pandas as pd
import pytest

from papers.lajewska2025.ch3_tuning import MEAN, nearest_recall, read_grid, tuned_points

#: A grid whose recall is 0.1 for the first point, 0.2 for the second, and so on.
GRID = pd.DataFrame(
    [(b, k1) for b in (0.3, 0.4) for k1 in (0.9, 1.0, 1.1)], columns=["b", "k1"]
).assign(recall=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])


@pytest.mark.parametrize(("separator", "name"), [("\t", "recall_1000"), (",", "recall")])
def test_read_grid_both_formats(tmp_path, separator, name):
    path = tmp_path / "grid.csv"
    rows = [["year", "b", "k1", name], ["2020.0", "0.3", "0.7", "0.7716"]]
    path.write_text("\n".join(map(separator.join, rows)))
    assert read_grid(path).to_dict("records") == [{"b": 0.3, "k1": 0.7, "recall": 0.7716}]


@pytest.mark.parametrize(
    ("b", "k1", "recall"),
    [(0.3, 0.9, 0.1), (0.35, 0.95, 0.3), (0.4, 1.08, 0.6), (0.9, 0.5, 0.4), (0.35, 1.1, 0.45)],
)
def test_nearest_recall_between_points(b, k1, recall):
    assert nearest_recall(GRID, b, k1) == pytest.approx(recall)


def test_tuned_points_ties_and_mean():
    first = GRID.sort_values("recall", ascending=False, ignore_index=True)
    second = GRID.assign(recall=0.5).head(2)
    table = tuned_points({"2020": first, "2021": second}, {"named": {"b": 0.3, "k1": 1.0}})
    values = table.set_index(["cast_year", "point", "metric"])["value"]
    # Both points of the second grid are best; the first of them is in the mean.
    assert [values["2021", "best, 1", "k1"], values["2021", "best, 2", "k1"]] == [0.9, 1.0]
    assert values["2020", MEAN].drop("recall").to_dict() == {"b": 0.35, "k1": 1.0}
    assert values["2020", MEAN, "recall"] == pytest.approx((0.2 + 0.5) / 2)
    assert values["2020", "named", "recall"] == pytest.approx(0.2)
    assert values["2020", "best, 1", "recall"] == pytest.approx(0.6)
    assert ("2020", "best, 2") not in values.index.droplevel("metric")
