"""Results on disk: a verdict file whose seal is right is trusted, any other one is made again."""

import json
import shutil
from pathlib import Path

import pytest
from unit.toy_papers import RECORD, write_paper

from everycell.receipts.receipts import write_receipt
from everycell.records.papers import load_papers
from everycell.verdicts import results as module
from everycell.verdicts.origins import Sources
from everycell.verdicts.results import (
    files_of,
    find_supplements,
    read_result,
    result_of,
    write_report,
)
from everycell.verdicts.verdicts import report

TIERS = RECORD.replace("{embedded: ", "{released: {state: reproduced, needs: files}, embedded: ")
BETTER = (
    "    supplements: {tests: Tests}\n    claims: [{id: c, claim: Row b is better., source: p. 1, "
    "supported_if: [{cells: {row: b}, supplement: tests, op: '<', value: 0.05}]}]\n"
)


@pytest.fixture
def folder(tmp_path):
    """Results of a toy paper: a table, a supplementary one that its claim reads, and verdicts."""
    write_paper(tmp_path / "published", TIERS + BETTER)
    home = tmp_path / "results/embedded/toy"
    home.mkdir(parents=True)
    cells = (tmp_path / "published/toy/table_1.csv").read_text()
    outputs = [
        home / f"table_1{middle}.{form}"
        for middle in ("", ".tests")
        for form in ("csv", "md", "tex", "html")
    ]
    for path in outputs:
        path.write_text(cells)
    (home / "table_1.tests.csv").write_text("row,value\nb,0.01\n")
    receipt = home / "table_1.receipt.json"
    write_receipt(
        receipt, artefact="toy/table_1", tier="embedded", inputs={}, outputs=outputs,
        parameters={}, seed=None, code="", seconds=1, root=tmp_path,
    )  # fmt: skip
    artefact = toy(tmp_path)
    actual = report(
        artefact,
        "embedded",
        read_result(home / "table_1.csv"),
        files=files_of(receipt),
        find_table=find_supplements(artefact, "embedded", tmp_path / "results", tmp_path),
        sources=Sources(),
    )
    write_report(home / "table_1.verdicts.json", actual, artefact, tmp_path / "results")
    return tmp_path


def toy(folder: Path):
    return load_papers(folder / "published")["toy"].artefacts["table_1"]


def result(folder: Path, audits=None):
    return result_of(toy(folder), "embedded", folder / "results", folder, audits=audits)


@pytest.mark.parametrize("audits", [None, lambda paper, chapter: {}])
def test_a_sealed_report_is_not_made_again(folder, monkeypatch, audits):
    monkeypatch.setattr(module, "report", None)
    actual = result(folder, audits)
    assert actual.faults == () and actual.report.verdicts["equal"] == 4
    assert actual.report.claims[0].on_reproduced == "supported"


CHANGED = {
    "published/toy/ch1.yaml": ("value: 0.05", "value: 0.005"),
    "published/toy/table_1.csv": ("0.30", "0.31"),
    "results/embedded/toy/table_1.csv": ("0.30", "0.31"),
    "results/embedded/toy/table_1.tests.csv": ("0.01", "0.09"),
    "results/embedded/toy/table_1.receipt.json": ("table_1.md", "table_1.xy"),
    "results/embedded/toy/table_1.verdicts.json": ('"equal"', '"different"'),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_report_of_something_else_is_not_trusted(folder, name):
    path = folder / name
    path.write_text(path.read_text().replace(*CHANGED[name], 1))
    actual = result(folder)
    assert len(actual.faults) == 1 and actual.report.state == "not run"


def test_a_report_without_a_seal_or_of_other_code_is_made_again(folder, monkeypatch):
    path = folder / "results/embedded/toy/table_1.verdicts.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"seal": ""}))
    created = []
    monkeypatch.setattr(
        module, "report", lambda *of, **more: created.append(of) or report(*of, **more)
    )
    assert result(folder).faults == () and len(created) == 1


@pytest.mark.parametrize("audits", [None, lambda paper, chapter: {}])
def test_a_sealed_report_of_another_tier_is_not_trusted(folder, audits):
    embedded, released = (folder / "results" / tier for tier in ("embedded", "released"))
    shutil.copytree(embedded, released)
    receipt = released / "toy/table_1.receipt.json"
    outputs = [path for path in receipt.parent.iterdir() if path.suffix != ".json"]
    write_receipt(
        receipt, artefact="toy/table_1", tier="released", inputs={}, outputs=outputs,
        parameters={}, seed=None, code="", seconds=1, root=folder,
    )  # fmt: skip
    actual = result_of(toy(folder), "released", folder / "results", folder, audits=audits)
    assert len(actual.faults) == 1 and actual.report.state == "not run"
