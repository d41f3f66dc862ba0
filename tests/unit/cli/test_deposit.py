"""Metadata of a deposit, and what an anonymous one must not contain."""

import json
import zipfile
from types import SimpleNamespace

import pytest
import yaml

from everycell.cli import deposit
from everycell.cli.deposit import citation, zenodo_metadata
from everycell.receipts.receipts import ReceiptError, read_receipt, write_receipt


def paper(**fields):
    facts = {"title": "On bees", "authors": "Ada Ode, Bob de Bee", "year": 2026, "kind": "paper"}
    return SimpleNamespace(**facts | {"licence": "none stated"} | fields)


@pytest.mark.parametrize(
    ("licence", "identifier"),
    [
        ("https://spdx.org/licenses/CC-BY-4.0", "CC-BY-4.0"),
        ("MIT", "MIT"),
        ("none stated", None),
        ("https://host/terms", None),
    ],
)
def test_citation_and_zenodo_licence(licence, identifier):
    papers = {"paper2026": paper(licence=licence)}
    for content in (citation(papers), zenodo_metadata(papers)):
        assert content.get("license") == identifier
        assert content["title"] == "Results of On bees"


def test_citation_of_two_papers():
    papers = {"a2026": paper(), "b2026": paper(title="Wasps", authors="Cy Dee, Ada Ode")}
    content = yaml.safe_load(yaml.safe_dump(citation(papers)))
    names = [author["name"] for author in content["authors"]]
    assert names == ["Ada Ode", "Bob de Bee", "Cy Dee"]
    assert [reference["title"] for reference in content["references"]] == ["On bees", "Wasps"]


@pytest.fixture
def project(tmp_path):
    receipt = {"execution": {"host": "node-17"}, "code": {"commit": "c0ffee" * 6}}
    path = tmp_path / "results/released/paper2026/table_1.receipt.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(receipt))
    return tmp_path


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("by Ada Ode", "Ada Ode"),
        ("as Bee (2024) says", "Bee"),
        ("ran on node-17", "node-17"),
        ("fork@" + "c0ffee" * 6, "c0ffee" * 6),
        ("bees, Odense, node-170", None),
    ],
)
def test_refuse_identities(project, tmp_path, text, word):
    forbidden = deposit._identities(project / "results", project, {"paper2026": paper()})
    archive = tmp_path / "deposit.zip"
    with zipfile.ZipFile(archive, "w") as content:
        content.writestr("README.md", f"# Results\n{text}\n")
    if word is None:
        deposit._refuse_identities(archive, forbidden)
        return
    with pytest.raises(ReceiptError, match="README.md, line 2: ") as error:
        deposit._refuse_identities(archive, forbidden)
    assert repr(word) in str(error.value) or word.split()[-1] in str(error.value)


def test_anonymise_receipt_stays_valid(tmp_path):
    path = tmp_path / "results/released/paper2026/table_1.receipt.json"
    path.parent.mkdir(parents=True)
    table = path.with_name("table_1.csv")
    table.write_text("MAP\n0.5\n")
    facts = {"artefact": "paper2026/table_1", "tier": "released", "parameters": {}, "seed": None}
    write_receipt(
        path,
        **facts,
        inputs={},
        outputs=[table],
        code="0",
        seconds=1,
        root=tmp_path,
        checkout={"commit": "c0ffee", "changed": []},
    )
    (tmp_path / "config.yaml").write_text("repository: https://host/ada/bees\n")
    deposit._anonymise(tmp_path, {"paper2026": paper()})
    receipt = read_receipt(path)
    assert (receipt["execution"]["host"], receipt["code"]["commit"]) == ("anonymous", None)
    assert "ada" not in (tmp_path / "config.yaml").read_text()


def test_identities_key_with_a_name(project):
    with pytest.raises(ReceiptError, match="key bee2026 contains the name Bee"):
        deposit._identities(project / "results", project, {"bee2026": paper()})
