"""Cards of lajewska2025 and sakai2023: complete, and true of the printed cells."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from everycell.artefacts import Artefact, Conclusion, load_papers
from everycell.conclusions import evaluate

PAPERS = load_papers(Path(__file__).parents[2] / "published")
#: Claims that the printed table itself contradicts; each is an erratum of its card.
CONTRADICTED = {
    "lajewska2025/table_4_8 no_effect_in_answerability",
    "lajewska2025/table_4_8 factual_errors_go_unnoticed",
    "lajewska2025/table_4_9 source_by_query_in_answerability",
    "lajewska2025/table_7_5 mode_matters_for_limitations_only",
}


def _artefacts() -> list[Artefact]:
    return [a for key in ("lajewska2025", "sakai2023") for a in PAPERS[key].artefacts.values()]


CLAIMS = [
    pytest.param(artefact, conclusion, id=f"{artefact.id} {conclusion.id}")
    for artefact in _artefacts()
    for conclusion in artefact.card.conclusions
]


@pytest.mark.parametrize(
    ("key", "prefixes"),
    [
        ("lajewska2025", {"table": 48, "figure": 25, "text": 3}),
        ("sakai2023", {"table": 2, "figure": 5}),
    ],
)
def test_every_table_and_figure_has_a_card(key: str, prefixes: dict[str, int]) -> None:
    assert Counter(name.partition("_")[0] for name in PAPERS[key].artefacts) == prefixes


@pytest.mark.parametrize(("artefact", "conclusion"), CLAIMS)
def test_claims_on_the_printed_cells(artefact: Artefact, conclusion: Conclusion) -> None:
    expected = "fails" if f"{artefact.id} {conclusion.id}" in CONTRADICTED else "holds"
    assert evaluate(conclusion, artefact.cells).outcome == expected


def _permuted(cells: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Cells with their values shuffled among the cells of one metric."""
    order = np.random.default_rng(seed)
    shuffled = cells.groupby("metric")["value"].transform(
        lambda column: order.permutation(column.to_numpy())
    )
    return cells.assign(value=shuffled)


@pytest.mark.parametrize(("artefact", "conclusion"), CLAIMS)
def test_claims_fail_on_permuted_values(artefact: Artefact, conclusion: Conclusion) -> None:
    tables = (_permuted(artefact.cells, seed) for seed in range(100))
    assert any(evaluate(conclusion, table).outcome == "fails" for table in tables)


def test_only_votes_and_annotations_are_inputs() -> None:
    inputs = {a.id: len(a.input_cells()) for a in _artefacts() if len(a.input_cells())}
    annotations = len(PAPERS["sakai2023"].artefacts["figure_5"].cells)
    assert inputs == {"lajewska2025/table_C_2": 24, "sakai2023/figure_5": annotations}


def test_fitting_ratings_are_no_more_than_mentions() -> None:
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
