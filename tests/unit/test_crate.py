"""The RO-Crate of a results folder: what it holds, and what the validator of the profiles says."""

import hashlib
import json
import zipfile
from pathlib import Path

import pytest
import requests
import rocrate
from rocrate_validator import models, services
from rocrate_validator.utils.http import HttpRequester
from typer.testing import CliRunner

from everycell.cli import app
from everycell.crate import write_crate
from everycell.receipts import ReceiptError, write_json, write_receipt
from everycell.sources import load_registry

RELEASED = "transparent-cis/input_data.csv"


@pytest.fixture
def project(tmp_path) -> Path:
    """Make a small project with one result, from facts, released data and a file made between."""
    files = {
        "Snakefile": "rule all:\n",
        "CITATION.cff": "cff-version: 1.2.0\n",
        "LICENSE": "MIT\n",
        "config.yaml": "seed: 7\n",
        "envs/base.lock": "numpy==2\n",
        "workflow/rules/toy.smk": "rule toy:\n",
        "workflow/scripts/__pycache__/toy.pyc": "no source",
        "published/toy/table_1.csv": "row,value\na,1\n",
        f"resources/{RELEASED}": "a,b\n",
        "work/toy.run": "q d 1\n",
        "results/index.html": "<html></html>",
        "results/released/toy/table_1.csv": "row,value\na,1.01\n",
        "results/released/toy/table_1.svg": "<svg/>",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    folder = tmp_path / "results" / "released" / "toy"
    write_receipt(
        folder / "table_1.receipt.json",
        artefact="toy/table_1",
        tier="released",
        inputs=[
            tmp_path / name
            for name in ("published/toy/table_1.csv", f"resources/{RELEASED}", "work/toy.run")
        ],
        outputs=[folder / "table_1.csv", folder / "table_1.svg"],
        parameters={"alpha": 0.05, "bm25": {"b": 0.4}, "name": "toy"},
        seed=7,
        code="0" * 64,
        seconds=1,
        root=tmp_path,
    )
    write_json(folder / "table_1.verdicts.json", {"cells": []})
    return tmp_path


@pytest.fixture
def crate(project) -> Path:
    return write_crate(project / "results", project / "out.zip", project)


def entities(crate: Path) -> dict[str, dict]:
    with zipfile.ZipFile(crate) as archive:
        graph = json.loads(archive.read("ro-crate-metadata.json"))["@graph"]
    return {entity["@id"]: entity for entity in graph}


def ids(found) -> set[str]:
    return {part["@id"] for part in (found if isinstance(found, list) else [found])}


def test_every_file_is_described_with_its_hash(crate, project):
    found = entities(crate)
    with zipfile.ZipFile(crate) as archive:
        names = set(archive.namelist()) - {"ro-crate-metadata.json"}
        for name in names:
            content = archive.read(name)
            assert content == (project / name).read_bytes()
            assert found[name]["sha256"] == hashlib.sha256(content).hexdigest()
    assert names == {
        "Snakefile",
        "CITATION.cff",
        "LICENSE",
        "config.yaml",
        "envs/base.lock",
        "workflow/rules/toy.smk",
        "published/toy/table_1.csv",
        "results/index.html",
        "results/released/toy/table_1.csv",
        "results/released/toy/table_1.svg",
        "results/released/toy/table_1.receipt.json",
        "results/released/toy/table_1.verdicts.json",
    }


def test_a_result_has_an_action_with_what_its_receipt_says(crate):
    found = entities(crate)
    action = found["#released/toy/table_1"]
    assert ids(action["result"]) == {
        "results/released/toy/table_1.csv",
        "results/released/toy/table_1.svg",
    }
    url = load_registry().url(RELEASED)
    settings = {f"#released/toy/table_1/{name}" for name in ("alpha", "bm25", "name", "seed")}
    assert ids(action["object"]) == settings | {
        "published/toy/table_1.csv",
        url,
        "#work/toy.run",
    }
    assert found["#released/toy/table_1/bm25"]["value"] == '{"b": 0.4}'
    assert found["#released/toy/table_1/seed"]["value"] == "7"
    assert "numpy" in found[action["instrument"]["@id"]]["softwareRequirements"]


def test_released_data_is_named_with_its_licence_and_never_copied(crate):
    url = load_registry().url(RELEASED)
    assert entities(crate)[url]["usageInfo"] == "Licence: none stated"
    with zipfile.ZipFile(crate) as archive:
        assert not [name for name in archive.namelist() if "input_data" in name or "work/" in name]


def test_the_run_as_a_whole_has_all_results(crate):
    run = entities(crate)["#run"]
    assert ids(run["instrument"]) == {"Snakefile"} and len(ids(run["result"])) == 4
    assert "config.yaml" in ids(run["object"])


def test_no_crate_is_made_of_what_does_not_hold(project):
    table = project / "results/released/toy/table_1.csv"
    table.write_text("row,value\na,2\n")
    out = project / "out.zip"
    with pytest.raises(ReceiptError, match="1 files are not what their receipts say"):
        write_crate(project / "results", out, project)
    with pytest.raises(ReceiptError, match="holds no receipt"):
        write_crate(project / "published", out, project)
    assert not list(project.glob("*out.zip*"))


def test_the_command_writes_a_crate_and_replaces_none_unasked(project, monkeypatch):
    monkeypatch.chdir(project)

    def call(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["crate", "results", *arguments])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stdout + done.stderr

    assert call("new.zip") == (0, "new.zip: 0.0 MiB\n")
    assert "#run" in entities(project / "new.zip")
    code, said = call("new.zip")
    assert code == 1 and "is there already" in said
    assert call("new.zip", "--force")[0] == 0
    code, said = call("new.tar")
    assert code == 1 and "ends with .zip" in said


#: Where the context of RO-Crate 1.1 differs from that of 1.3, which comes with the package.
CONTEXT_1_1 = {
    "ComputationalWorkflow": "https://bioschemas.org/ComputationalWorkflow",
    "FormalParameter": "https://bioschemas.org/FormalParameter",
    "input": "https://bioschemas.org/ComputationalWorkflow#input",
    "output": "https://bioschemas.org/ComputationalWorkflow#output",
    "conformsTo": "http://purl.org/dc/terms/conformsTo",
    "File": "http://schema.org/MediaObject",
}


@pytest.fixture
def offline(monkeypatch):
    """Serve the context of RO-Crate, and nothing else, in place of the network."""
    packaged = Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld"
    terms = json.loads(packaged.read_text(encoding="utf-8"))["@context"] | CONTEXT_1_1
    del terms["sha256"]

    def get(requester, url, **options):
        answer = requests.Response()
        answer.status_code = 404
        if url == "https://w3id.org/ro/crate/1.1/context":
            answer.status_code = 200
            answer.headers["Content-Type"] = "application/ld+json"
            answer._content = json.dumps({"@context": terms}).encode()
        return answer

    for method in ("get", "head"):
        monkeypatch.setattr(HttpRequester, method, get, raising=False)


def issues(crate: Path) -> list[str]:
    settings = models.ValidationSettings(
        rocrate_uri=str(crate),
        profile_identifier="workflow-run-crate",
        requirement_severity=models.Severity.REQUIRED,
    )
    return [str(issue.message) for issue in services.validate(settings).get_issues()]


def test_the_validator_of_the_profiles_finds_nothing(crate, offline):
    assert issues(crate) == []


@pytest.mark.parametrize("lost", ["#run", "#config", "mainEntity", "license"])
def test_the_validator_would_find_what_lacks(crate, offline, lost, tmp_path):
    broken = tmp_path / "broken.zip"
    with zipfile.ZipFile(crate) as whole, zipfile.ZipFile(broken, "w") as part:
        for name in whole.namelist():
            content = whole.read(name)
            if name == "ro-crate-metadata.json":
                described = json.loads(content)
                graph = [entity for entity in described["@graph"] if entity["@id"] != lost]
                for entity in graph:
                    if entity["@id"] == "./":
                        entity.pop(lost, None)
                content = json.dumps(described | {"@graph": graph}).encode()
            part.writestr(name, content)
    assert issues(broken) != []
