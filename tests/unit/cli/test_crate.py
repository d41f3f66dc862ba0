"""The RO-Crate of a results folder, and the validator of its profiles."""

import copy
import gc
import hashlib
import json
import os
import re
import resource
import shutil
import sys
import time
import zipfile
from base64 import urlsafe_b64encode
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import call
from crate_validator import issues, serve_the_context
from harness import published
from receipt_files import hashed, in_all_forms, rewrite

import everycell
from everycell.base.files import sha256, write_json
from everycell.cli.crate import _Crate, copy_project
from everycell.cli.deposit import _write_metadata, write_deposit
from everycell.receipts.code import hash_of_sources
from everycell.receipts.diff import Notice
from everycell.receipts.provenance import write_jobs, write_lineage
from everycell.receipts.receipts import TABLE_FORMS, ReceiptError, read_receipt, write_receipt
from everycell.records.papers import find_artefact
from everycell.records.registry import load_registry
from everycell.render.page.pages import write_page
from everycell.sources.fetch import OWN_DATA, OWN_FILE_NOTE
from everycell.verdicts.audits import audits_of
from everycell.verdicts.cells import Sources
from everycell.verdicts.results import collect, read_result
from everycell.verdicts.verdicts import report
from everycell.workflow.deviations import Deviations

#: A file of which two contents are accepted, the author's and the mirror's.
RELEASED = "transparent-cis/pilot/qs3.csv"


def code_of(project: Path) -> str:
    """Hash of the code of the only rule."""
    return hash_of_sources([project / "workflow/scripts/toy.py"], project)


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """Make a small project with one result, from facts, released data and a file made between."""
    files = {
        "Snakefile": "rule all:\n",
        "CITATION.cff": "cff-version: 1.2.0\n",
        "LICENSE": "MIT\n",
        "config.yaml": "seed: 7\n",
        "envs/base.lock": "numpy==2\n",
        "workflow/rules/toy.smk": "rule toy:\n",
        "envs/Dockerfile": "FROM scratch\n",
        "envs/.env": "TOKEN=1\n",
        "envs/.venv/site.py": "of a package",
        "workflow/key.pem": "secret",
        "workflow/scripts/.toy.py.swp": "of an editor",
        "workflow/scripts/.toy.py": "of an editor",
        "workflow/scripts/toy.py~": "of an editor",
        "workflow/scripts/__pycache__/toy.pyc": "no source",
        "workflow/scripts/toy.py": "from everycell import toy\n",
        "published/toy/table_1.csv": "row,value\na,1\n",
        "work/toy.run": "q d 1\n",
        "results/README.md": "# Results\n",
        "results/notes.html": "no result",
        "results/released/toy/table_1.csv": "row,value\na,1.01\n",
        "results/released/toy/table_1.svg": "<svg/>",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    write_page(tmp_path / "results/index.html", [], {})
    # The Snakefile has no rules.
    for module in ("everycell.cli.deposit", "everycell.workflow.deviations"):
        monkeypatch.setattr(f"{module}.find_deviations", lambda *folders: Deviations())
    folder = tmp_path / "results" / "released" / "toy"
    write_receipt(
        folder / "table_1.receipt.json",
        artefact="toy/table_1",
        tier="released",
        inputs=hashed(tmp_path / "published/toy/table_1.csv", tmp_path / "work/toy.run")
        | {tmp_path / "resources" / RELEASED: load_registry().entry(RELEASED).mirror.content},
        outputs=[*in_all_forms(folder / "table_1.csv"), folder / "table_1.svg"],
        parameters={"alpha": 0.05, "bm25": {"b": 0.4}, "name": "toy"},
        seed=7,
        code=code_of(tmp_path),
        seconds=1,
        root=tmp_path,
    )
    write_json(folder / "table_1.verdicts.json", {"cells": []})
    record = {"rule": "toy", "input": ["published/toy/table_1.csv"], "params": ["7"], "log": []}
    path = tmp_path / ".snakemake/metadata" / urlsafe_b64encode(b"work/toy.run").decode()
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(record | {"endtime": time.time() + 60}))
    write_lineage(tmp_path / "results", tmp_path)
    return tmp_path


@pytest.fixture
def crate(project) -> Path:
    return write_deposit(project / "results", project / "out.zip", project)


def entities(crate: Path) -> dict[str, dict]:
    with zipfile.ZipFile(crate) as archive:
        graph = json.loads(archive.read("ro-crate-metadata.json"))["@graph"]
    return {entity["@id"]: entity for entity in graph}


def ids(references) -> set[str]:
    return {part["@id"] for part in (references if isinstance(references, list) else [references])}


@pytest.mark.parametrize(
    ("licence", "identifier"),
    [
        ("https://spdx.org/licenses/CC-BY-4.0", "https://spdx.org/licenses/CC-BY-4.0"),
        ("CC BY 4.0", "#licence"),
        ("none stated", "#licence"),
    ],
)
def test_write_deposit_own_paper(project, licence, identifier):
    """Authors, licence and title are those of the paper, never those of everycell."""
    own_paper = {"title": "On bees", "authors": "Ada Ode", "licence": licence}
    paper = SimpleNamespace(artefacts={}, untested={}, chapters={}, key="toy", **own_paper)
    crate = _Crate(project, "resources", [paper], load_registry())
    graph = {entity.id: entity for entity in crate.crate.get_entities()}
    assert graph["#authors"]["name"] == "Ada Ode"
    assert graph[identifier]["name"] == licence
    assert crate.crate.name == "Results of On bees"
    assert "everycell authors" not in json.dumps([e.as_jsonld() for e in graph.values()])


def test_write_deposit_of_everycell(project):
    (project / "pyproject.toml").write_text('[project]\nname = "everycell-repro"\n')
    result = entities(write_deposit(project / "results", project / "out.zip", project))
    assert result["#authors"]["name"] == "The everycell authors"


@pytest.mark.parametrize("text", ['[project]\nname = "toy"\n', ""], ids=["named", "empty"])
def test_write_deposit_copy_of_everycell(project, text):
    """A project with a copy of everycell is not everycell: it has other authors and licences."""
    (project / "src/everycell").mkdir(parents=True)
    (project / "src/everycell/notes.md").write_text("notes")
    (project / "pyproject.toml").write_text(text)
    result = entities(write_deposit(project / "results", project / "out.zip", project))
    assert result["#authors"]["name"] == "not stated"
    assert result["#licence"]["name"] == "none stated"


@pytest.mark.parametrize("content", ["q d 2\n", None], ids=["edited", "missing"])
def test_write_deposit_changed_own_data(project, content):
    """A deposit has the own data that the registry describes."""
    path = project / OWN_DATA / "toy-data/toy.run"
    path.parent.mkdir(parents=True)
    path.write_text("q d 1\n")
    form = f"{{size: 6, sha256: {sha256(path)}, path: toy-data/toy.run}}"
    (project / "published/toy/registry.yaml").write_text(
        "sets:\n  toy-data: {authors: A, paper: P, licence: none stated, feeds: [toy/table_1]}\n"
        f"files:\n  toy-data/toy.run: {{mirror: {form}, note: '{OWN_FILE_NOTE}'}}\n"
    )
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(ReceiptError, match=r"toy\.run.*registry"):
        write_deposit(project / "results", project / "out.zip", project)
    assert not (project / "out.zip").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", b"[project\n"),
        ("pyproject.toml", b"a = " + b"[" * 100_000),
        ("pyproject.toml", b"[project]\ndependencies = 5\n"),
        ("pyproject.toml", b"project = 5\n"),
        ("pyproject.toml", b"[project]\ndependencies = ['a b c']\n"),
    ],
    ids=["syntax", "deep", "number", "no_table", "requirement"],
)
def test_write_deposit_unreadable_text(project, name, content):
    (project / "pyproject.toml").write_text("")
    (project / name).write_bytes(content)
    paper = SimpleNamespace(
        **{"artefacts": {}, "untested": {}, "chapters": {}, "key": "toy", "kind": "paper"},
        **{"title": "T", "authors": "A", "licence": "L", "year": 2026},
    )
    with pytest.raises(ReceiptError, match=rf"{name}.*so no deposit was written"):
        _write_metadata(project, project, {"toy": paper}, anonymous=False)


@pytest.mark.parametrize(
    "name", ["workflow/passwords.md", "envs/a.yaml", "LICENSE", "Snakefile", "config.yaml"]
)
def test_write_deposit_link_outside(project, tmp_path_factory, name):
    outside = tmp_path_factory.mktemp("outside") / "secret"
    outside.write_text("secret")
    (project / name).unlink(missing_ok=True)
    (project / name).symlink_to(outside)
    with pytest.raises(ReceiptError, match=f"{name} is a link"):
        write_deposit(project / "results", project / "out.zip", project)
    assert not (project / "out.zip").exists()


def put_link(path):
    path.symlink_to("nowhere")


@pytest.mark.parametrize("name", ["LICENSE", "CITATION.cff", ".zenodo.json", "README.md"])
@pytest.mark.parametrize("put", [Path.mkdir, os.mkfifo, put_link])
def test_write_deposit_no_regular_file(project, name, put):
    """A deposit without a file that its authors have is none."""
    (project / name).unlink(missing_ok=True)
    put(project / name)
    with pytest.raises(ReceiptError, match=f"{name} is not a regular file"):
        write_deposit(project / "results", project / "out.zip", project)
    assert not (project / "out.zip").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("CITATION.cff", b"title: [unclosed\n"),
        ("CITATION.cff", b"title: a\ntitle: b\n"),
        ("CITATION.cff", b"- a\n"),
        ("CITATION.cff", b""),
        ("CITATION.cff", b"a: " + b"[" * 99_999),
        ("CITATION.cff", b"a: !!python/object/apply:os.getcwd []\n"),
        ("CITATION.cff", "title: caf\u00e9\n".encode("latin-1")),
        (".zenodo.json", b"{"),
        (".zenodo.json", b"[" * 99_999),
        (".zenodo.json", b'{"title": "a", "title": "b"}'),
        (".zenodo.json", b"[]"),
        ("LICENSE", b"\xff\xfe\0"),
        ("README.md", b"caf\xe9"),
        ("pyproject.toml", b"\xff"),
    ],
)
def test_write_deposit_invalid_text(project, name, content):
    (project / name).write_bytes(content)
    with pytest.raises(ReceiptError, match=name) as error:
        write_deposit(project / "results", project / "out.zip", project)
    assert "\n" not in str(error.value) and "o deposit was written" in str(error.value)
    assert not (project / "out.zip").exists()


def test_write_deposit_hashes(crate, project):
    result = entities(crate)
    with zipfile.ZipFile(crate) as archive:
        names = set(archive.namelist()) - {"ro-crate-metadata.json"}
        for name in names:
            content = archive.read(name)
            assert content == (project / name).read_bytes()
            assert result[name]["sha256"] == hashlib.sha256(content).hexdigest()
    assert names == {
        "Snakefile",
        "CITATION.cff",
        "LICENSE",
        "config.yaml",
        "envs/Dockerfile",
        "envs/base.lock",
        "workflow/rules/toy.smk",
        "workflow/scripts/toy.py",
        "published/toy/table_1.csv",
        "results/README.md",
        "results/index.html",
        "results/lineage.json",
        "results/cells.csv",
        "results/cells.parquet",
        "results/claims.csv",
        "results/excluded_claims.csv",
        "results/badge.svg",
        *(f"results/released/toy/table_1.{form}" for form in (*TABLE_FORMS, "svg")),
        "results/released/toy/table_1.receipt.json",
        "results/released/toy/table_1.verdicts.json",
    }


@pytest.mark.parametrize("name", ["mine.ipynb", "mine.R", "weights.csv"])
def test_copy_project_files_that_code_names(project, name):
    """A notebook or script that the code of a result runs is part of its code."""
    folder = project / "workflow/papers/toy"
    folder.mkdir(parents=True)
    (folder / "run_mine.py").write_text(f"run({name!r})\n")
    for file in (name, "secret.ipynb"):
        (folder / file).write_text("{}")
    receipt = project / "results/released/toy/table_1.receipt.json"
    code = read_receipt(receipt)["code"] | {"script": "toy/run_mine.py"}
    rewrite(receipt, code=code)
    target = project / "copy"
    copy_project(project, target, project / "results", [])
    names = {path.name for path in (target / "workflow/papers/toy").iterdir()}
    assert names == {"run_mine.py", name}


def test_write_deposit_actions(crate):
    result = entities(crate)
    action = result["#released/toy/table_1"]
    assert ids(action["result"]) == {
        *(f"results/released/toy/table_1.{form}" for form in (*TABLE_FORMS, "svg")),
    }
    url = load_registry().url(RELEASED)
    settings = {f"#released/toy/table_1/{name}" for name in ("alpha", "bm25", "name", "seed")}
    assert ids(action["object"]) == settings | {
        "published/toy/table_1.csv",
        f"#data/{RELEASED}",
        "#work/toy.run",
    }
    # The file differs from that of the URL, which has another hash.
    read, origin = result[f"#data/{RELEASED}"], load_registry().entry(RELEASED).origin
    assert read["sha256"] == load_registry().entry(RELEASED).mirror.content and ids(
        read["isBasedOn"]
    ) == {url}
    assert (result[url]["sha256"], result[url]["contentSize"]) == (origin.sha256, str(origin.size))
    assert result["#released/toy/table_1/bm25"]["value"] == '{"b": 0.4}'
    assert result["#released/toy/table_1/seed"]["value"] == "7"
    assert "numpy" in result[action["instrument"]["@id"]]["softwareRequirements"]


def changed(project: Path, name: str = "table_1", **fields) -> None:
    rewrite(project / f"results/released/toy/{name}.receipt.json", **fields)


def test_write_deposit_file_at_a_url(project):
    origin = load_registry().entry(RELEASED).origin
    changed(project, inputs=[{"path": f"resources/{RELEASED}", "sha256": origin.sha256}])
    write_lineage(project / "results", project)
    result = entities(write_deposit(project / "results", project / "out.zip", project))
    url = load_registry().url(RELEASED)
    assert url in ids(result["#released/toy/table_1"]["object"])
    assert result[url]["sha256"] == origin.sha256 and f"#data/{RELEASED}" not in result


def test_write_deposit_files_of_packages(project):
    files = load_registry().files
    key = next(key for key, entry in files.items() if entry.wheel)
    changed(project, inputs=[{"path": f"resources/{key}", "sha256": files[key].wheel.sha256}])
    write_lineage(project / "results", project)
    for cache in ("resources", str(project / "resources")):
        out = write_deposit(project / "results", project / "out.zip", project, cache)
        result = entities(out)[f"#data/{key}"]
        assert result["usageInfo"].startswith("Licence: ") and result["creditText"]
        assert files[key].wheel.distribution in result["description"]


def test_write_deposit_packages_of_results(project):
    folder = project / "results/released/toy"
    for path in list(folder.glob("table_1.*")):
        text = path.read_bytes().replace(b"table_1", b"table_2")
        path.with_name(path.name.replace("table_1", "table_2")).write_bytes(text)
    changed(project, "table_2", packages={"numpy": "9.9"})
    result = entities(write_deposit(project / "results", project / "out.zip", project))
    needs = {
        name: result[result[f"#released/toy/{name}"]["instrument"]["@id"]]["softwareRequirements"]
        for name in ("table_1", "table_2")
    }
    assert needs["table_2"] == "numpy 9.9" != needs["table_1"]


def test_write_deposit_forged_verdicts_or_broken_lineage(project, repository):
    papers = published()
    artefact = find_artefact(papers, "sakai2023/table_1")
    folder = project / "results/embedded/sakai2023"
    folder.mkdir(parents=True)
    table = folder / "table_1.csv"
    artefact.cells.to_csv(table, index=False)
    write_receipt(
        folder / "table_1.receipt.json",
        artefact=artefact.id,
        tier="embedded",
        inputs={},
        outputs=in_all_forms(table),
        parameters={},
        seed=None,
        code=code_of(project),
        seconds=1,
        root=project,
    )
    verdicts = folder / "table_1.verdicts.json"
    audits = audits_of("sakai2023", "1")
    result = sorted(f"table_1.{form}" for form in TABLE_FORMS)
    judged = report(
        artefact,
        "embedded",
        read_result(table),
        files=result,
        audits=audits,
        sources=Sources(),
    )
    true = judged.model_dump()
    write_json(verdicts, true)
    only = {"sakai2023": papers["sakai2023"]}

    def packed() -> Path:
        return write_deposit(
            project / "results", project / "out.zip", project, papers=only, audits=audits_of
        )

    page = project / "results/index.html"
    write_page(page, collect(only, project / "results", project, audits=audits_of), only)
    assert verdicts.relative_to(project).as_posix() in entities(packed())
    write_json(verdicts, true | {"state": "surrogate"})
    with pytest.raises(ReceiptError, match="verdicts.json does not match its record and table"):
        packed()
    write_json(verdicts, true)
    (project / "results/lineage.json").write_text("forged")
    with pytest.raises(ReceiptError, match="is not a valid list of jobs"):
        packed()
    (project / "results/lineage.json").unlink()
    write_lineage(project / "results", project)
    page.write_text(page.read_text().replace("sakai2023", "sakai2024", 1))
    with pytest.raises(ReceiptError, match=r"index\.html does not match these results"):
        packed()


def test_write_deposit_outdated_lineage(project):
    results, out = project / "results", project / "out.zip"
    lineage = results / "lineage.json"
    assert "results/lineage.json" in entities(write_deposit(results, out, project))
    true = json.loads(lineage.read_text())
    forged = copy.deepcopy(true)
    forged["jobs"][0]["parameters"] = {"#1": "8"}
    write_jobs(lineage, forged["jobs"])
    with pytest.raises(ReceiptError, match=r"lineage\.json does not match Snakemake's records"):
        write_deposit(results, out, project)
    forged = copy.deepcopy(true)
    forged["jobs"][0]["hashes"] = {"published/toy/table_1.csv": "0" * 64}
    write_jobs(lineage, forged["jobs"])
    with pytest.raises(ReceiptError, match="but a receipt or another job has"):
        write_deposit(results, out, project)


def test_write_deposit_other_code(project):
    script = project / "workflow/scripts/toy.py"
    script.write_text("from everycell import other\n")
    changed(project, code={"version": everycell.__version__, "commit": "a" * 40, "sha256": "0"})
    message = r"1 of 1 results .*toy/table_1: commit a{12}"
    with pytest.raises(ReceiptError, match=message):
        write_deposit(project / "results", project / "out.zip", project)
    # Another commit with the same code is the same code.
    code = {"version": everycell.__version__, "commit": "a" * 40, "sha256": code_of(project)}
    changed(project, code=code)
    write_deposit(project / "results", project / "out.zip", project)


def test_write_deposit_released_data(crate):
    url = load_registry().url(RELEASED)
    assert entities(crate)[url]["usageInfo"] == "Licence: none stated"
    with zipfile.ZipFile(crate) as archive:
        assert not [name for name in archive.namelist() if "input_data" in name or "work/" in name]


def test_write_deposit_run(crate):
    run = entities(crate)["#run"]
    assert ids(run["instrument"]) == {"Snakefile"} and len(ids(run["result"])) == 7
    assert "config.yaml" in ids(run["object"])


def test_write_deposit_invalid_results(project):
    table = project / "results/released/toy/table_1.csv"
    table.write_text("row,value\na,2\n")
    out = project / "out.zip"
    with pytest.raises(ReceiptError, match="failed verification, .* differs from its hash"):
        write_deposit(project / "results", out, project)
    with pytest.raises(ReceiptError, match="contains no receipts"):
        write_deposit(project / "published", out, project)
    assert not list(project.glob("*out.zip*"))


@pytest.mark.parametrize("is_certain", [True, False])
def test_write_deposit_settings_from_outside(project, monkeypatch, is_certain):
    """Results that the deposited settings do not give, whether or not a page names them."""
    (project / "results/index.html").unlink()
    notice = Notice(["results/a.receipt.json"], "made with alpha = 0.2", "run again", is_certain)
    deviations = SimpleNamespace(notices=[notice])
    monkeypatch.setattr("everycell.cli.deposit.find_deviations", lambda *folders: deviations)
    with pytest.raises(ReceiptError, match=r"alpha = 0\.2") if is_certain else nullcontext():
        write_deposit(project / "results", project / "out.zip", project)
    assert (project / "out.zip").exists() != is_certain


@pytest.mark.parametrize("name", [".out.zip.draft.zip", "out.zip"])
def test_write_deposit_planted_link(project, name):
    """A link that somebody put where the archive is written is replaced, not followed."""
    (project / "precious").write_text("text")
    (project / name).symlink_to(project / "precious")
    out = write_deposit(project / "results", project / "out.zip", project)
    assert (project / "precious").read_text() == "text" and zipfile.is_zipfile(out)


@pytest.mark.fault("receipt")
@pytest.mark.parametrize("suffix", [".csv", ".md", ".receipt.json", ".verdicts.json", ".*"])
@pytest.mark.parametrize("is_removed", [False, True])
def test_write_deposit_during_a_run(project, monkeypatch, suffix, is_removed):
    """Results that a run removes or writes after they were verified."""
    out = project / "out.zip"
    write_deposit(project / "results", out, project)
    out.unlink()

    def copy_later(*arguments):
        for path in (project / "results/released/toy").glob(f"table_1{suffix}"):
            path.unlink() if is_removed else path.write_text(path.read_text() + "\n")
        copy_project(*arguments)

    monkeypatch.setattr("everycell.cli.deposit.copy_project", copy_later)
    with pytest.raises(ReceiptError, match=r"table_1\.\w.* changed after it was verified"):
        write_deposit(project / "results", out, project)
    assert not out.exists()


@pytest.mark.fault("receipt")
@pytest.mark.parametrize(
    "name",
    [
        *("Snakefile", "config.yaml", "LICENSE", "envs/base.lock", "workflow/rules/toy.smk"),
        *("workflow/scripts/toy.py", "published/toy/table_1.csv", "results/lineage.json"),
        *("results/released/toy/table_1.verdicts.json", "results/index.html", "published/new.csv"),
    ],
)
def test_write_deposit_edited_meanwhile(project, monkeypatch, name):
    """Code, records and settings that do not belong to the verified results."""
    out = project / "out.zip"

    def copy_later(*arguments):
        with (project / name).open("a") as file:
            file.write("\n")
        copy_project(*arguments)

    monkeypatch.setattr("everycell.cli.deposit.copy_project", copy_later)
    with pytest.raises(ReceiptError, match=f"{re.escape(name)} changed after it was verified"):
        write_deposit(project / "results", out, project)
    assert not out.exists()


@pytest.mark.fault("full_disk")
def test_write_deposit_full_disk(project, tmp_path_factory, monkeypatch):
    """Closing the unfinished archive must not show an error of its own."""
    later = []
    monkeypatch.setattr(sys, "unraisablehook", later.append)
    out = tmp_path_factory.mktemp("out") / "a.zip"
    finish, limits = _Crate.finish, resource.getrlimit(resource.RLIMIT_FSIZE)

    def finish_on_full_disk(crate):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        return finish(crate)

    monkeypatch.setattr(_Crate, "finish", finish_on_full_disk)
    try:
        with pytest.raises(OSError, match="a.zip"):
            write_deposit(project / "results", out, project)
        gc.collect()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not later and not [*out.parent.iterdir()]


def test_crate_replaces_only_with_force(project, monkeypatch, repository):
    monkeypatch.chdir(project)
    # One paper's page is drawn in no time.
    shutil.copytree(repository / "published" / "sakai2023", project / "published" / "sakai2023")

    def crate(*arguments: str) -> tuple[int, str]:
        code, out, err = call("deposit", "results", *arguments)
        return code, out + err

    code, message = crate("new.zip")
    assert code == 2 and "`everycell page` in the project that made them" in message
    assert call("page")[0] == 0
    code, message = crate("new.zip")
    assert code == 0 and re.fullmatch(r"new\.zip: 0\.\d MiB\n", message)
    assert "#run" in entities(project / "new.zip")
    code, message = crate("new.zip")
    assert code == 2 and "already exists" in message
    assert crate("new.zip", "--force")[0] == 0
    code, message = crate("new.tar")
    assert code == 2 and "ending in .zip" in message
    code, message = crate("none/new.zip")
    assert (code, message) == (
        2,
        "everycell: none is not a folder; create it, or choose another one.\n",
    )


@pytest.fixture
def offline(monkeypatch):
    """Keep the validator from the network."""
    serve_the_context(monkeypatch)


@pytest.mark.slow
def test_write_deposit_passes_the_validator(crate, offline):
    assert issues(crate) == []


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["#run", "#config", "mainEntity", "license"])
def test_validator_refuses_an_incomplete_crate(crate, offline, lost, tmp_path):
    broken = tmp_path / "broken.zip"
    with zipfile.ZipFile(crate) as full, zipfile.ZipFile(broken, "w") as part:
        for name in full.namelist():
            content = full.read(name)
            if name == "ro-crate-metadata.json":
                described = json.loads(content)
                graph = [entity for entity in described["@graph"] if entity["@id"] != lost]
                for entity in graph:
                    if entity["@id"] == "./":
                        entity.pop(lost, None)
                content = json.dumps(described | {"@graph": graph}).encode()
            part.writestr(name, content)
    assert issues(broken) != []
