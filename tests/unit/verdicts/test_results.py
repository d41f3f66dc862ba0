"""Results on disk: sealed verdict files, and supplementary tables that a receipt lists."""

import json
import re
import shutil
from pathlib import Path

import pytest
from receipt_files import in_all_forms
from unit.toy_papers import RECORD, write_paper

from everycell.receipts.receipts import ReceiptError, write_receipt
from everycell.records.papers import all_artefacts, load_papers
from everycell.records.tables import split_supplement_name
from everycell.verdicts import results as module
from everycell.verdicts.cells import Sources
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
def test_result_of_sealed_report(folder, monkeypatch, audits):
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
def test_result_of_changed_file(folder, name):
    path = folder / name
    path.write_text(path.read_text().replace(*CHANGED[name], 1))
    actual = result(folder)
    assert len(actual.faults) == 1 and actual.report.state == "not run"


def test_result_of_report_without_a_seal(folder, monkeypatch):
    path = folder / "results/embedded/toy/table_1.verdicts.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"seal": ""}))
    created = []
    monkeypatch.setattr(
        module, "report", lambda *of, **more: created.append(of) or report(*of, **more)
    )
    assert result(folder).faults == () and len(created) == 1


@pytest.mark.parametrize("audits", [None, lambda paper, chapter: {}])
def test_result_of_report_of_another_tier(folder, audits):
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


# Supplementary tables

#: Chapters whose tables are still to be gone through.
NOT_YET = {("heuss2025", "2")}


@pytest.fixture
def root(tmp_path) -> Path:
    home = tmp_path / "results" / "released" / "toy"
    home.mkdir(parents=True)
    for name in ("table_1", "table_2"):
        files = [home / f"{name}.csv", home / f"{name}.tests.csv"]
        for file in files:
            file.write_text(f"pair,value\n{name},1.10\n")
        write_receipt(
            home / f"{name}.receipt.json", artefact=f"toy/{name}", tier="released", inputs={},
            outputs=in_all_forms(*files), parameters={}, seed=None, code="", seconds=0.1,
            root=tmp_path,
        )  # fmt: skip
        (home / f"{name}.unlisted.csv").write_text("pair,value\na,1\n")
    return tmp_path


def find(root: Path, name: str):
    (artefact,) = all_artefacts(load_papers(write_paper(root / "published")))
    return find_supplements(artefact, "released", root / "results", root)(name)


def test_find_supplements(root):
    assert find(root, "tests").to_numpy().tolist() == [["table_1", "1.10"]]
    assert find(root, "table_2.tests").to_numpy().tolist() == [["table_2", "1.10"]]
    assert find(root, "table_2").to_numpy().tolist() == [["table_2", "1.10"]]


@pytest.mark.parametrize("name", ["unlisted", "other", "table_2.unlisted", "table_3.tests"])
def test_find_supplements_unlisted(root, name):
    assert find(root, name) is None


def test_find_supplements_changed(root):
    changed = root / "results" / "released" / "toy" / "table_2.tests.csv"
    changed.write_text("pair,value\ntable_2,2\n")
    with pytest.raises(ReceiptError, match="differs from its hash"):
        find(root, "table_2.tests")


def test_supplements_of_records_are_read(repository):
    """By a verdict, or by a page or a record that names it, for one result of a chapter."""
    artefacts = list(all_artefacts(load_papers(repository / "published")))
    pages = "\n".join(
        path.read_text(encoding="utf-8")
        for folder, ending in (("docs", "md"), ("published", "yaml"))
        for path in sorted((repository / folder).rglob(f"*.{ending}"))
    )
    chapters = {(artefact.paper, artefact.name): artefact.chapter for artefact in artefacts}
    declared, read = set(), set()
    for artefact in artefacts:
        paper, chapter, record = artefact.paper, artefact.chapter, artefact.record
        for suffix in record.supplements:
            declared.add((paper, chapter, suffix))
            if re.search(rf"\b{re.escape(artefact.name)}\.{re.escape(suffix)}\b", pages):
                read.add((paper, chapter, suffix))
        for name in {name for tier in record.tiers for name in record.tables_read(tier)}:
            owner, suffix = split_supplement_name(name)
            read.add((paper, chapters[paper, owner or artefact.name], suffix))
    unread = {row for row in declared - read if row[:2] not in NOT_YET}
    assert not unread
