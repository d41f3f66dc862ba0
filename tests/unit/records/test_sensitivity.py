"""Sensitivity of reproduced values: its sentences, its file and the counts of it."""

import pytest

from everycell.records.cells import RecordError
from everycell.records.sensitivity import (
    NAME,
    Sensitivity,
    read_sensitivity,
    sensitivity_of,
    write_sensitivity,
)

CELLS = {
    ("released", "toy/table_1", "First / MAP"): Sensitivity(("runs",), ("topics",)),
    ("released", "toy/table_1", "First / RR"): Sensitivity((), ("runs", "topics")),
    ("released", "toy/table_2", "n; all, really"): Sensitivity(note="reads no data"),
    ("released", "toy/table_3", "n"): Sensitivity(
        not_with=("topics",),
        refused=("runs",),
        note="runs: permuted refused (RunError); topics: thinned failed (KeyError)",
    ),
    ("released", "toy/table_3", "MAP"): Sensitivity(refused=("topics",), failed=("runs", "qrels")),
}


def test_sensitivity_state():
    assert [cell.state for cell in CELLS.values()] == [
        "moves",
        "insensitive",
        "not perturbed",
        "refused",
        "failed",
    ]


def test_sensitivity_state_refused_perturbations():
    cell = Sensitivity((), ("runs",), note="runs: permuted refused (RunError)")
    assert cell.state == "insensitive"


def test_sensitivity_text():
    texts = [cell.text for cell in CELLS.values()]
    assert texts == [
        "moves when runs change; not when topics change",
        "insensitive: does not move when runs or topics change",
        "",
        "does not move when topics change; its rule refused all changes of runs",
        "its rule refused all changes of topics; its rule failed on changes of runs or qrels",
    ]


def test_sensitivity_state_not_perturbed():
    cell = Sensitivity((), ("runs",), not_perturbed=("models: no perturbation of such files",))
    assert (cell.state, cell.text) == ("not perturbed", "does not move when runs change")


def test_write_sensitivity_roundtrip(tmp_path):
    write_sensitivity(tmp_path / NAME, CELLS)
    assert read_sensitivity(tmp_path / NAME) == CELLS == sensitivity_of(tmp_path)
    assert read_sensitivity(tmp_path / "none.csv") == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tier,key\n",
        "tier,artefact,key,moves_with,not_with,note\n",
        "tier,artefact,key,moves_with,not_with,refused,failed,not_perturbed,note\na\n",
    ],
)
def test_read_sensitivity_other_columns(tmp_path, text):
    path = tmp_path / NAME
    path.write_text(text)
    with pytest.raises(RecordError, match=r"sensitivity\.csv.*moves_with"):
        read_sensitivity(path)
