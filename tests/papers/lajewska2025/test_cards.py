"""Records of lajewska2025 and sakai2023: declared inputs, and sums of published numbers."""

import pytest
from harness import published

PAPERS = published()


def test_records_inputs() -> None:
    inputs = {
        a.id: len(a.input_cells())
        for key in ("lajewska2025", "sakai2023")
        for a in PAPERS[key].artefacts.values()
        if len(a.input_cells())
    }
    annotations = len(PAPERS["sakai2023"].artefacts["figure_5"].cells)
    assert inputs == {
        "lajewska2025/table_3_2": 10,
        "lajewska2025/table_5_4": 3,
        "lajewska2025/table_6_7": 8,
        "lajewska2025/table_C_2": 24,
        "sakai2023/figure_5": annotations,
    }


def test_records_fitting_ratings() -> None:
    cells = PAPERS["lajewska2025"].artefacts["text_4_4_4"].cells
    counts = cells.astype({"value": int}).pivot(
        index=["study", "theme"], columns="metric", values="value"
    )
    assert len(counts) == 21
    assert (counts["satisfied_side"] <= counts["mentions"]).all()


@pytest.mark.parametrize("part", ["gender", "age", "education"])
def test_demographics_sum_to_the_workers(part: str) -> None:
    cells = PAPERS["lajewska2025"].artefacts["text_7_3"].cells
    assert cells.loc[cells["part"] == part, "value"].astype(int).sum() == 160
