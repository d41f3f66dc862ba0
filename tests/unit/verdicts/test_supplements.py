"""Tables that claims read beside a result: trusted as far as a receipt vouches for them."""

import re
from pathlib import Path

import pytest
from receipt_files import in_all_forms
from unit.toy_papers import write_paper

from everycell.receipts.receipts import ReceiptError, write_receipt
from everycell.records.cells import SEEDS
from everycell.records.papers import all_artefacts, load_papers
from everycell.records.tables import split_supplement_name
from everycell.verdicts.results import find_supplements

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


def test_a_table_beside_the_result_or_beside_another(root):
    assert find(root, "tests").to_numpy().tolist() == [["table_1", "1.10"]]
    assert find(root, "table_2.tests").to_numpy().tolist() == [["table_2", "1.10"]]
    assert find(root, "table_2").to_numpy().tolist() == [["table_2", "1.10"]]


@pytest.mark.parametrize("name", ["unlisted", "other", "table_2.unlisted", "table_3.tests"])
def test_what_no_receipt_lists_is_not_there(root, name):
    assert find(root, name) is None


def test_what_changed_beside_another_is_not_trusted(root):
    changed = root / "results" / "released" / "toy" / "table_2.tests.csv"
    changed.write_text("pair,value\ntable_2,2\n")
    with pytest.raises(ReceiptError, match="differs from its hash"):
        find(root, "table_2.tests")


def test_each_table_beside_a_result_is_read(repository):
    """By a claim, a tolerance, or a page or a record that names it, for one result of a chapter."""
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
        if any(tolerance.from_spread for tolerance in record.tolerances):
            read.add((paper, chapter, SEEDS))
        rules = [rule for tier in record.tiers.values() for rule in tier.decisive_if]
        for predicate in (part for item in (*record.claims, *rules) for part in item.supported_if):
            owner, suffix = split_supplement_name(predicate.supplement or "")
            read.add((paper, chapters[paper, owner or artefact.name], suffix))
    unread = {row for row in declared - read if row[:2] not in NOT_YET}
    assert not unread
