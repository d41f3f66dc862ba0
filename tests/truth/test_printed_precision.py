"""Decimals declared in records agree with the published values, also for counts and labels."""

from collections.abc import Iterator

import pandas as pd
import pytest
from harness import published

from everycell.records.cells import count_decimals, is_number
from everycell.records.papers import Artefact, all_artefacts, find_artefact
from everycell.verdicts.audits import audits_of
from everycell.verdicts.judging import judge
from everycell.verdicts.verdicts import report

PAPERS = published()
WITH_CELLS = [artefact for artefact in all_artefacts(PAPERS) if not artefact.cells.empty]
BY_ID = pytest.mark.parametrize("artefact", WITH_CELLS, ids=lambda artefact: artefact.id)


def numbers(artefact: Artefact) -> pd.DataFrame:
    """Published numbers that are compared as numbers, with declared and shown decimals."""
    cells = artefact.cells.assign(
        decimals=[precision.decimals for precision in artefact.precisions],
        measured=[precision.measured for precision in artefact.precisions],
    )
    cells = cells[cells["value"].map(is_number) & (cells["decimals"] != "text")]
    if "metric" not in cells:
        cells = cells.assign(metric="all")
    return cells.assign(shown=cells["value"].map(count_decimals))


@BY_ID
def test_decimals_declared(artefact: Artefact) -> None:
    everything = numbers(artefact)
    for (metric, decimals), cells in everything.groupby(["metric", "decimals"]):
        if len(declared_decimals(cells)) < 4:  # as the share of a group: 0, 0.5, 1
            cells = everything[everything["decimals"] == decimals]
        assert cells["shown"].max() == decimals, (metric, decimals)


def declared_decimals(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells that say how finely they are printed: a print that drops zeros writes any 0 and 1 so.

    In three of them it may have dropped a digit by chance.
    """
    return cells[~cells["value"].astype(float).isin([0, 1])]


def blocks(artefact: Artefact) -> Iterator[tuple[str, pd.DataFrame]]:
    """Cells of a metric that share a key, where there are enough."""
    cells = declared_decimals(numbers(artefact))
    for column in artefact.key_columns:
        for key, block in cells.groupby([column, "metric"]):
            if len(block) > 3:
                yield f"{column} = {key}", block


@BY_ID
def test_decimals_of_blocks(artefact: Artefact) -> None:
    for name, block in blocks(artefact):
        assert block["shown"].max() == block["decimals"].max(), name


def test_decimals_of_oracle_table() -> None:
    table = find_artefact(PAPERS, "abolghasemi2026/table_2_4")
    declared = numbers(table).groupby(["row", "metric"])["decimals"].unique().map(list)
    assert declared["ranking quality", "MAP"] == [2]
    assert declared["ranking quality", "nDCG"] == [4]
    assert declared["n_queries_optimal_alpha_0", "MAP"] == [0]
    assert declared["IQR_optimal_alpha", "nDCG"] == [1]


@BY_ID
def test_judge_count_off_by_one(artefact: Artefact) -> None:
    cells = numbers(artefact)
    for row in cells[(cells["decimals"] == 0) & ~cells["measured"]].to_dict("records"):
        for step in (-1, 1):
            assert judge(row["value"], float(row["value"]) + step, 0) == "different"


@pytest.mark.parametrize(
    ("name", "step"),
    [("table_B_2", None), ("table_A_1", 1), ("table_4_7", 1), ("table_5_5", 1)],
)
def test_report_inverted_labels_or_counts(name, step) -> None:
    artefact = find_artefact(PAPERS, f"lajewska2025/{name}")
    values_published = artefact.cells["value"].astype(float)
    wrong = 1 - values_published if step is None else values_published + step
    table = artefact.cells[artefact.key_columns].assign(value=wrong)
    audits = audits_of(artefact.paper, artefact.chapter)
    result = report(artefact, "released", table, audits=audits)
    assert result.verdicts["different"] == len(artefact.cells) > 5
