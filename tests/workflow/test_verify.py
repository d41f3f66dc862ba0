"""`everycell verify` names what was made with other settings, and everything that was edited."""

import json
import os

import pytest
from receipt_files import rewrite

from everycell.base.files import sha256

RESULT = "released/smith2026/table_1"
RECEIPT = f"results/{RESULT}.receipt.json"
#: Ways to a setting that no file of the project has: options, and the variable of a profile.
WAYS = {
    "option": ["--config", "smith2026={from: 2}"],
    "file": ["--configfile", "outside/mine.yaml"],
    "profile": ["--profile", "outside/plain"],
    "profile_with_file": ["--profile", "outside/naming"],
    "variable": [],
}


@pytest.fixture
def configured(own):
    """A project whose result depends on a setting, and settings outside of it."""
    rule = own.folder / "workflow/papers/smith2026/ch1.smk"
    rule.write_text(
        rule.read_text().replace("relevant_from=1", 'relevant_from=int(SETTINGS.smith2026["from"])')
    )
    config = own.folder / "config.yaml"
    config.write_text(config.read_text() + "smith2026: {from: 1}\n")
    for name, content in (
        ("mine.yaml", "smith2026: {from: 2}\n"),
        ("plain/config.yaml", "config: ['smith2026={from: 2}']\n"),
        ("naming/config.yaml", "configfile: outside/mine.yaml\n"),
    ):
        path = own.folder / "outside" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return own


@pytest.mark.slow
@pytest.mark.fault("receipt")
@pytest.mark.parametrize("way", WAYS)
def test_verify_settings_from_outside(configured, way, monkeypatch):
    if way == "variable":
        monkeypatch.setenv("SNAKEMAKE_PROFILE", "outside/naming")
    done = configured.snakemake(*WAYS[way])
    assert done.returncode == 0, done.stdout
    assert json.loads((configured.folder / RECEIPT).read_text())["parameters"]["relevant_from"] == 2
    checked = configured.everycell("verify")
    sentence = "made with relevant_from = 2, but this project gives relevant_from = 1"
    assert checked.returncode == 1 and f"{RECEIPT}: {sentence}" in checked.stdout
    assert sentence in (configured.folder / "results/index.html").read_text()
    assert configured.everycell("verify", "--configfile", "outside/mine.yaml").returncode == 0
    monkeypatch.delenv("SNAKEMAKE_PROFILE", raising=False)
    assert configured.snakemake().returncode == 0
    assert configured.everycell("verify").returncode == 0
    assert sentence not in (configured.folder / "results/index.html").read_text()


@pytest.mark.fault("receipt")
@pytest.mark.parametrize("field", ["sha256", "script"])
def test_verify_result_of_other_code(own, field):
    """Another module, or another script with the same hash of its code."""
    receipt = json.loads((own.folder / RECEIPT).read_text())
    rewrite(own.folder / RECEIPT, code=receipt["code"] | {field: "other"})
    checked = own.everycell("verify")
    assert checked.returncode == 1 and f"{RECEIPT}: made by code that differs" in checked.stdout


@pytest.mark.slow
@pytest.mark.fault("receipt")
def test_verify_rebuild_settings_from_outside(configured, monkeypatch):
    monkeypatch.setenv("SNAKEMAKE_PROFILE", f"{configured.folder}/outside/plain")
    assert configured.snakemake().returncode == 0
    done = configured.everycell("verify", "--rebuild", RESULT)
    assert done.returncode == 1 and "parameter relevant_from: 2 -> 1" in done.stdout


@pytest.mark.slow
@pytest.mark.fault("receipt")
def test_verify_rebuild_forged_fields(own):
    receipt = own.folder / RECEIPT
    content = json.loads(receipt.read_text())
    rewrite(
        receipt,
        seed=7,
        inputs=[],
        parameters=content["parameters"] | {"measures": {"MAP": "AP"}, "fact": 1},
        code=content["code"] | {"commit": "0" * 40},
        packages=content["packages"] | {"numpy": "1.0"},
        note="reviewed",
    )
    done = own.everycell("verify", "--rebuild", RESULT)
    assert done.returncode == 1
    for field in (
        "seed: 7 -> null",
        "inputs.resources/smith2026-data/qrels.txt: nothing -> ",
        "parameters.measures.MAP: ",
        "parameters.fact: 1 -> nothing",
        "code.commit: ",
        'packages.numpy: "1.0" -> ',
        'note: "reviewed" -> nothing',
    ):
        assert f"  {field}" in done.stdout


@pytest.mark.fault("receipt")
def test_verify_names_everything(own):
    results = own.folder / "results"
    edited = ["index.html", "cells.csv", "claims.csv", "badge.svg", "pages/smith2026_ch1.html"]
    for name in edited:
        path = results / name
        path.write_text(path.read_text().replace("0", "1", 1))
    (results / "cells.parquet").unlink()
    receipt = json.loads((own.folder / RECEIPT).read_text())
    rewrite(own.folder / RECEIPT, code=receipt["code"] | {"sha256": "0" * 64})
    done = own.everycell("verify")
    assert done.returncode == 1
    for name in [*edited, "cells.parquet"]:
        assert f"results/{name} does not match these results" in done.stdout
    assert f"{RECEIPT}: made by code that differs" in done.stdout


@pytest.mark.fault("receipt")
def test_verify_planted_page(own):
    """A file among the pages is an error; one of the site, which nothing checks, is named."""
    results = own.folder / "results"
    names = ["pages/all.html", "pages/smith2026_ch1.js", "pages/smith2026_ch2.html"]
    names += ["pages/a/index.html", "pages/a/b/c.html", "page.html", "released/all.html"]
    for name in names:
        path = results / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("<p>All values are equal.</p></html>")
        done = own.everycell("verify")
        # The folder of a file is named if it is deep.
        assert done.returncode == 1 and f"results/{name[:9]}" in done.stdout, name
        assert "belongs to no receipt" in done.stdout
        path.unlink()
        while path.parent not in (results, results / "pages", results / "released"):
            path = path.parent
            path.rmdir()
    for name in ("site/all.html", "rulegraphs/a/b/c/d.svg"):
        path = results / name
        path.parent.mkdir(parents=True)
        path.write_text("<p>All values are equal.</p></html>")
    done = own.everycell("verify")
    assert done.returncode == 0
    assert "2 files" in done.stdout and "cannot be checked" in done.stdout
    copy = own.folder / "copy"
    (results).rename(copy)
    done = own.everycell("verify", "copy")
    pages = len([path for path in (copy / "pages").rglob("*") if path.is_file()])
    at_top = len([path for path in copy.glob("*.*") if path.name not in ("lineage.json",)])
    assert f"{pages + at_top + 2} files" in done.stdout


@pytest.mark.fault("receipt")
@pytest.mark.parametrize("left", ["cells.csv", "badge.svg"])
def test_verify_page_without_index(own, left):
    results = own.folder / "results"
    for path in results.glob("*.*"):
        if path.name not in (left, "lineage.json"):
            path.unlink()
    done = own.everycell("verify")
    assert done.returncode == 1 and "results/index.html does not match" in done.stdout


@pytest.mark.slow
@pytest.mark.fault("receipt")
def test_verify_rebuild_varying_result(own):
    record = own.folder / "published/smith2026/ch1.yaml"
    declared = "state: surrogate, name: toys, varies: trained in the run, varies_by: 0.2"
    record.write_text(record.read_text().replace("state: reproduced", declared))
    assert own.snakemake().returncode == 0
    table = (own.folder / RECEIPT).with_name("table_1.csv")
    made_again = table.read_text()
    for value, code in (("0.7", 6), ("0.999", 1)):
        table.write_text(made_again.replace("First,MAP,0.7083333333333333", f"First,MAP,{value}"))
        outputs = json.loads((own.folder / RECEIPT).read_text())["outputs"]
        for output in outputs:
            output["sha256"] = sha256(table.parent / output["path"])
        rewrite(own.folder / RECEIPT, outputs=outputs)
        done = own.everycell("verify", "--rebuild", RESULT)
        assert done.returncode == code, done.stdout
        assert f"First / MAP: {value} -> 0.7083333333333333" in done.stdout


@pytest.mark.fault("receipt")
@pytest.mark.parametrize(
    "name", [RECEIPT.replace("receipt", "verdicts"), "results/lineage.json", "results/badge.svg"]
)
def test_verify_no_regular_file(own, name):
    """Another fault is listed too, whatever has the name of a file."""
    path, content = own.folder / name, (own.folder / name).read_bytes()
    table = (own.folder / RECEIPT).with_name("table_1.md")
    table.write_text(table.read_text() + "edited")
    for put in (
        path.mkdir,
        lambda: os.mkfifo(path),
        lambda: path.symlink_to(path.name),
        lambda: path.symlink_to("missing"),
    ):
        path.unlink()
        put()
        done = own.everycell("verify")
        assert done.returncode == 1 and not done.stderr, done.stderr
        assert f"{name} " in done.stdout and "table_1.md differs" in done.stdout, done.stdout
        path.rmdir() if path.is_dir() else path.unlink()
        path.write_bytes(content)
    table.write_text(table.read_text().removesuffix("edited"))
    assert own.everycell("verify").returncode == 0


@pytest.mark.fault("receipt")
def test_verify_page_without_lineage(own):
    (own.folder / "results/lineage.json").unlink()
    done = own.everycell("verify")
    assert done.returncode == 1 and "results/lineage.json is missing" in done.stdout


@pytest.mark.fault("receipt")
def test_verify_broken_lineage(own):
    """It is a fault like others, also if it is the only one."""
    path = own.folder / "results/lineage.json"
    content = path.read_bytes()
    edited = content.replace(b'sha256": "', b'sha256": "0', 1)
    for broken in (edited, content[: len(content) // 2], b"", b"[]", b"\xff", b'{"jobs": NaN}'):
        path.write_bytes(broken)
        done = own.everycell("verify")
        assert done.returncode == 1 and not done.stderr, done.stderr
        assert "results/lineage.json" in done.stdout, done.stdout
    path.write_bytes(content)
    assert own.everycell("verify").returncode == 0
