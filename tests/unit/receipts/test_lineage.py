"""Lineage: jobs from Snakemake's records, with the names that logs of the same run have."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest
from receipt_files import hashed, in_all_forms
from typer.testing import CliRunner

from everycell.base.files import fingerprint, write_json
from everycell.cli import app
from everycell.jobs.job import parameter_texts
from everycell.receipts.intermediate import record_path, write_record
from everycell.receipts.lineage_checks import check_lineage, files_without_jobs
from everycell.receipts.provenance import (
    NAME,
    JobRecord,
    job_finder,
    read_lineage,
    snakemake_jobs,
    upstream_jobs,
    write_jobs,
    write_lineage,
)
from everycell.receipts.receipts import ReceiptError, write_receipt
from everycell.records.registry import load_registry

ROOT = Path(__file__).resolve().parents[3]


def record(
    project: Path, output: str, *, rule: str, inputs=(), params=(), log="logs/a.log", **more
) -> None:
    """Write a record as Snakemake does: its file name is the output's path."""
    name = urlsafe_b64encode(output.encode()).decode()
    folder = project / ".snakemake" / "metadata"
    pieces = [name[start : start + 254] for start in range(0, len(name), 254)]
    path = folder.joinpath(*(f"@{piece}" for piece in pieces[:-1]), pieces[-1])
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"rule": rule, "input": list(inputs), "params": list(params), "log": [log]}
    path.write_text(json.dumps(content | {"incomplete": False} | more))


def trained(project: Path, rate: str = "0.1") -> None:
    """Records of a model and of a run that it made."""
    record(project, "work/model", rule="train", inputs=["work/text"], params=["7", rate])
    record(project, "work/run", rule="rank", inputs=["work/model"], log="logs/rank.log")
    record(project, "work/other", rule="idle", log="logs/idle.log")


def parameters_line(parameters: dict) -> str:
    """Last line of the log of a successful job."""
    return json.dumps({"parameters": parameter_texts(parameters)})


def result(project: Path, results: Path) -> None:
    created = results / "released" / "toy" / "table_1.csv"
    created.parent.mkdir(parents=True)
    created.write_text("row,value\na,1\n")
    (project / "work").mkdir(exist_ok=True)
    (project / "work" / "run").write_text("q d 1")
    write_receipt(
        created.with_name("table_1.receipt.json"),
        artefact="toy/table_1",
        tier="released",
        inputs=hashed(project / "work" / "run"),
        outputs=in_all_forms(created),
        parameters={},
        seed=None,
        code="",
        seconds=0,
        root=project,
    )


def test_snakemake_jobs_outputs_and_long_names(tmp_path):
    long = "work/" + "a" * 240 + "/é.run"
    for output in (long, "work/b.run"):
        record(tmp_path, output, rule="rank", inputs=["work/c", "work/b"])
    record(tmp_path, "work/d.run", rule="rank", log="logs/other.log")
    first, second = sorted(snakemake_jobs(tmp_path), key=lambda job: len(job.outputs), reverse=True)
    assert first.outputs == (long, "work/b.run") and first.inputs == ("work/b", "work/c")
    find = job_finder(tmp_path / "results", tmp_path)
    for output in (long, "work/b.run", "work/b.run/part"):
        assert sorted(find(output)) == ["work/b", "work/c"]
    assert find("work/other.run") is None
    assert second.outputs == ("work/d.run",)


def test_snakemake_jobs_names_of_parameters(tmp_path):
    trained(tmp_path)
    log = tmp_path / "logs" / "a.log"

    def parameters() -> dict[str, str]:
        [job] = [job for job in snakemake_jobs(tmp_path) if job.rule == "train"]
        return job.parameters

    assert parameters() == {"#1": "0.1", "#2": "7"}
    log.parent.mkdir()
    log.write_text("a warning\n" + parameters_line({"seed": 7, "rate": 0.1}) + "\n")
    assert parameters() == {"seed": "7", "rate": "0.1"}
    log.write_text(parameters_line({"seed": 7, "rate": 0.2}))
    assert parameters() == {"#1": "0.1", "#2": "7"}
    log.write_text("stopped by an error\n")
    assert parameters() == {"#1": "0.1", "#2": "7"}


def test_snakemake_jobs_incomplete_or_invalid_records(tmp_path):
    record(tmp_path, "work/a", rule="train", incomplete=True)
    (tmp_path / ".snakemake" / "metadata" / "notbase64").write_text("{")
    assert snakemake_jobs(tmp_path) == []


@pytest.mark.parametrize(
    "fields",
    [
        *({"rule": rule} for rule in (["a"], 5, None, {})),
        *({key: value} for key in ("input", "params", "log") for value in ([1], [[1]], [None])),
        {"input": 5},
        {"endtime": [1]},
        {"input_checksums": ["a"]},
    ],
    ids=str,
)
def test_snakemake_jobs_other_types(tmp_path, fields):
    """Such a record is left out, as a file without JSON is."""
    record(tmp_path, "work/a", rule="train")
    record(tmp_path, "work/b", **{"rule": "rank"} | fields)
    assert [job.outputs for job in snakemake_jobs(tmp_path)] == [("work/a",)]


def hashes(project: Path, rule: str = "train") -> dict[str, str]:
    [job] = [job for job in snakemake_jobs(project) if job.rule == rule]
    return job.hashes


def write(path: Path, content: str) -> str:
    """Write a file as of a minute ago; return its hash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    os.utime(path, (time.time() - 60,) * 2)
    return hashlib.sha256(content.encode()).hexdigest()


def test_snakemake_jobs_hashes_of_external_inputs(tmp_path):
    published = write(tmp_path / "published" / "toy.csv", "a,1\n")
    model = write(tmp_path / "named" / "model" / "weights", "7")
    write(tmp_path / "work" / "text", "made here")
    inputs = ["published/toy.csv", "named", "work/text", "results/a.csv", "gone"]
    record(tmp_path, "work/model", rule="train", inputs=inputs, endtime=time.time())
    actual = {"named/model/weights": model, "published/toy.csv": published}
    assert hashes(tmp_path) == actual
    assert list(hashes(tmp_path)) == sorted(actual)


def test_snakemake_jobs_file_changed_later(tmp_path):
    end = time.time() - 120
    write(tmp_path / "published" / "toy.csv", "changed since")
    read = {"rule": "train", "inputs": ["published/toy.csv"], "endtime": end}
    record(tmp_path, "work/model", **read)
    assert hashes(tmp_path) == {}
    sums = {"published/toy.csv": f"sha256:{'a' * 64}"}
    record(tmp_path, "work/model", **read, input_checksums=sums)
    assert hashes(tmp_path) == {"published/toy.csv": "a" * 64}


def test_snakemake_jobs_released_files(tmp_path):
    files = load_registry().files
    one = next(key for key, entry in files.items() if entry.state == "both" and not entry.note)
    two = next(key for key, entry in files.items() if len(entry.contents) == 2)
    archive = next(
        key for key, entry in files.items() if entry.origin and entry.origin.content is None
    )
    keys = (one, two, archive)
    real = [write(tmp_path / "resources" / key, key) for key in keys]
    inputs = [f"resources/{key}" for key in keys]
    record(tmp_path, "work/model", rule="train", inputs=inputs, endtime=time.time())
    assert hashes(tmp_path) == dict(zip(inputs, [files[one].contents[0], *real[1:]], strict=True))


def test_snakemake_jobs_large_file_is_hashed_once(tmp_path, monkeypatch):
    large, small = tmp_path / "named" / "large", tmp_path / "named" / "small"
    write(large, "x" * 100)
    write(small, "y")
    record(tmp_path, "work/model", rule="train", inputs=["named"], endtime=time.time())
    monkeypatch.setattr("everycell.receipts.provenance.LARGE", 100)
    first = hashes(tmp_path)
    read = []
    monkeypatch.setattr(
        "everycell.receipts.provenance.sha256", lambda path: read.append(path.name) or "0" * 64
    )
    assert hashes(tmp_path)["named/large"] == first["named/large"] and read == ["small"]
    write(large, "z" * 101)
    assert hashes(tmp_path)["named/large"] == "0" * 64
    for broken in ("{", "[]", '{"named/large": 1}', '{"named/large": [101]}'):
        (tmp_path / ".snakemake" / "everycell.hashes.json").write_text(broken)
        assert hashes(tmp_path)["named/large"] == "0" * 64


def test_write_lineage_same_bytes(tmp_path):
    results = tmp_path / "results"
    trained(tmp_path)
    result(tmp_path, results)
    write(tmp_path / "published" / "toy.csv", "a,1\n")
    source = {"rule": "prepare", "inputs": ["published/toy.csv"], "log": "logs/text.log"}
    record(tmp_path, "work/text", **source, endtime=time.time())
    first = write_lineage(results, tmp_path).read_bytes()
    assert b'"published/toy.csv": ' in first
    assert write_lineage(results, tmp_path).read_bytes() == first


def test_upstream_jobs_cycle():
    jobs = [
        JobRecord(rule=name, outputs=[name], inputs=[other], parameters={})
        for name, other in (("a", "b"), ("b", "a"), ("c", "d"))
    ]
    assert upstream_jobs(jobs, ["a"]) == jobs[:2]


def test_write_lineage_jobs_behind_receipts(tmp_path):
    trained(tmp_path)
    results = tmp_path / "results"
    result(tmp_path, results)
    write_lineage(results, tmp_path)
    assert {job.rule for job in read_lineage(results)} == {"rank", "train"}


def test_write_lineage_keeps_earlier_jobs(tmp_path):
    trained(tmp_path)
    results = tmp_path / "results"
    result(tmp_path, results)
    write_lineage(results, tmp_path)
    [rank] = [
        path
        for path in (tmp_path / ".snakemake").rglob("*")
        if path.is_file() and json.loads(path.read_text())["rule"] == "rank"
    ]
    rank.unlink()
    trained_anew = {"rule": "train", "inputs": ["work/text"], "params": ["7", "0.2"]}
    record(tmp_path, "work/model", **trained_anew)
    write_lineage(results, tmp_path)
    actual = {job.rule: job for job in read_lineage(results)}
    assert actual.keys() == {"rank", "train"}
    assert actual["train"].parameters == {"#1": "0.2", "#2": "7"}


def test_files_without_jobs(tmp_path):
    trained(tmp_path)
    results = tmp_path / "results"
    result(tmp_path, results)
    assert files_without_jobs(results) == ["work/run"]
    write_lineage(results, tmp_path)
    # The text of the model is a file of work/ that no record explains.
    assert files_without_jobs(results) == ["work/text"]
    record(tmp_path, "work/text", rule="prepare", inputs=["resources/a"], log="logs/text.log")
    write_lineage(results, tmp_path)
    assert files_without_jobs(results) == []


def test_files_without_jobs_folder_of_a_job(tmp_path):
    record(tmp_path, "work/models/a", rule="train", inputs=["resources/a"])
    record(tmp_path, "work/run", rule="rank", inputs=["work/models/a/x"], log="logs/rank.log")
    results = tmp_path / "results"
    result(tmp_path, results)
    write_lineage(results, tmp_path)
    assert {job.rule for job in read_lineage(results)} == {"rank", "train"}
    assert files_without_jobs(results) == []


def test_verify_incomplete_or_broken_lineage(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    trained(tmp_path)
    results = tmp_path / "results"
    result(tmp_path, results)

    def call() -> tuple[int, str]:
        done = CliRunner().invoke(app, ["verify", str(results)])
        return done.exit_code, done.stdout

    code, message = call()
    assert code == 0
    assert "does not record which jobs made 1 intermediate file, such as work/run; " in message
    record(tmp_path, "work/text", rule="prepare", inputs=["resources/a"], log="logs/text.log")
    write_lineage(results, tmp_path)
    code, message = call()
    assert code == 0 and "does not record which jobs" not in message
    (results / NAME).write_text("{")
    code, message = call()
    assert code == 1 and message.startswith(f"{results / NAME} is not a valid list of jobs")


@pytest.mark.slow
def test_rule_of_the_page_keeps_earlier_jobs(tmp_path):
    # Snakemake removes a rule's outputs before its job, but for those that it is to update.
    rule = (ROOT / "src" / "everycell" / "workflow" / "rules" / "page.smk").read_text()
    [declared] = re.findall(r"lineage=(.*),\n", rule)
    snakefile = f"""
        rule page:
            input: "in"
            output: page="index.html", lineage={declared}
            run:
                from pathlib import Path
                kept = Path(output.lineage)
                text = kept.read_text() if kept.exists() else ""
                kept.write_text(text + "made ")
                Path(output.page).write_text("page")
        """
    (tmp_path / "Snakefile").write_text(textwrap.dedent(snakefile))
    for _ in range(2):
        (tmp_path / "in").write_text("")
        command = [sys.executable, "-m", "snakemake", "--cores", "1", "--forceall", "--quiet"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "results" / NAME).read_text() == "made made "


def test_check_lineage_contradictions(tmp_path):
    results = tmp_path / "results"
    result(tmp_path, results)
    key = "transparent-cis/pilot/qs3.csv"
    digest = write(tmp_path / "published" / "toy.csv", "a,1\n")
    job = {"rule": "rank", "outputs": ["work/run"], "inputs": [], "parameters": {}}
    other = job | {"outputs": ["work/other"]}

    def lineage_ids(*jobs: dict, project: Path = tmp_path) -> list[str]:
        write_jobs(results / NAME, list(jobs))
        return check_lineage(results, project)

    true = {"published/toy.csv": digest, "/elsewhere/weights": "0" * 64, "published/gone": "a"}
    assert lineage_ids(job | {"hashes": true}, other | {"hashes": true}) == []
    [fault] = lineage_ids(
        job | {"hashes": true}, other | {"hashes": true | {"published/gone": "b"}}
    )
    assert "rank made work/other from published/gone with sha256 b, but a receipt or " in fault
    [fault] = lineage_ids(job | {"hashes": {"published/toy.csv": "0" * 64}})
    assert (
        "from published/toy.csv, but the file in this project differs; remove work/run and" in fault
    )
    [fault] = lineage_ids(job, job)
    assert "lists two jobs that made work/run" in fault
    # Elsewhere the other accepted content of a released file may lie under its key.
    elsewhere = tmp_path / "elsewhere"
    write(elsewhere / "resources" / key, "other")
    for accepted in load_registry().entry(key).contents:
        released = job | {"hashes": {f"resources/{key}": accepted}}
        assert lineage_ids(released, project=elsewhere) == []
    [fault] = lineage_ids(job | {"hashes": {f"resources/{key}": "0" * 64}}, project=elsewhere)
    assert "but the file in this project differs." in fault
    for put in (Path.mkdir, os.mkfifo):
        position = tmp_path / "published" / put.__name__
        put(position)
        [fault] = lineage_ids(job | {"hashes": {f"published/{position.name}": digest}})
        assert f"from published/{position.name}, but the file in this project differs" in fault


@pytest.mark.parametrize(
    "fault", ["edited", "other input", "other parameter", "no record", "temporary", "nothing left"]
)
@pytest.mark.parametrize("is_copied", [False, True])
def test_check_lineage_intermediate_files(tmp_path, monkeypatch, fault, is_copied):
    """The receipt names `work/run`, whose job read `work/model`, which another job made."""
    trained(tmp_path)
    parameters = parameter_texts({"files": {"input": {}, "output": {}}})
    record(tmp_path, "work/model", rule="train", params=parameters.values())
    monkeypatch.chdir(tmp_path)
    results = Path("results")
    result(Path(), results)
    Path("work/model").mkdir()
    write(Path("work/model/weights"), "1")
    write_record(Path("work/model"), {}, parameters)
    write_record(Path("work/run"), {Path("work/model"): fingerprint(Path("work/model"))})
    write_lineage(results, Path())
    assert check_lineage(results, Path()) == []
    edited, folder = "work/model", Path()
    if fault == "edited":
        write(Path("work/model/weights"), "2")
    elif fault == "other input":
        write_record(Path("work/run"), {Path("work/model"): "0" * 64})
        write_lineage(results, Path())
    elif fault == "other parameter":
        jobs = [job.model_dump(mode="json") for job in read_lineage(results)]
        jobs[0]["parameters"] = jobs[0]["parameters"] | {"seed": "8"}
        assert jobs[0]["outputs"] == ["work/model"]
        write_jobs(results / NAME, jobs)
    elif fault == "no record":
        record_path("work/model").unlink()
    else:
        shutil.rmtree("work/model")
        record_path("work/model").unlink()
        if fault == "nothing left":
            # Without a page, whose job would know the hash that the model had.
            (results / NAME).unlink()
    if is_copied:
        folder = tmp_path / "elsewhere"
        (folder / "results").mkdir(parents=True)
    faults = check_lineage(results.resolve(), folder)
    # A copied folder has no intermediate files to compare.
    is_found = fault == "other input" or fault != "temporary" and not is_copied
    assert bool(faults) == is_found and all(edited in sentence for sentence in faults)
    if is_found and fault in ("no record", "nothing left"):
        # Snakemake makes nothing again that is left; a file that is gone need not be removed.
        [sentence] = faults
        removed = sentence.partition("remove ")[2].partition(" and run")[0].split()
        stem = str(results.resolve() / "released/toy/table_1.*")
        assert removed == ["work/model"] * (fault == "no record") + ["work/run", stem]


@pytest.mark.parametrize("has_lineage", [True, False])
@pytest.mark.parametrize("removed", [["work"], ["work", ".snakemake"]], ids=str)
def test_check_lineage_removed_folder(tmp_path, monkeypatch, has_lineage, removed):
    """The folder `work` may be removed to save space, once the lineage has its hashes."""
    monkeypatch.chdir(tmp_path)
    parameters = parameter_texts({"files": {"input": {}, "output": {}}})
    record(Path(), "work/run", rule="rank", params=parameters.values())
    result(Path(), Path("results"))
    write_record(Path("work/run"), {}, parameters)
    if has_lineage:
        write_lineage(Path("results"), Path())
    for folder in removed:
        shutil.rmtree(folder)
    faults = check_lineage(Path("results"), Path())
    assert len(faults) == (not has_lineage)
    assert all("remove results/released/toy/table_1.* and run" in fault for fault in faults)


def test_read_lineage_edited(tmp_path):
    job = {"rule": "rank", "outputs": ["work/run"], "inputs": [], "parameters": {"seed": "7"}}
    path = tmp_path / NAME
    write_jobs(path, [job])
    assert [job.parameters for job in read_lineage(tmp_path)] == [{"seed": "7"}]
    path.write_text(path.read_text().replace('"7"', '"8"'))
    with pytest.raises(ReceiptError, match=r"lineage\.json .*was edited after it was written"):
        read_lineage(tmp_path)
    write_json(path, {"jobs": [job]})
    with pytest.raises(ReceiptError, match=r"lineage\.json .*content_sha256"):
        read_lineage(tmp_path)


def test_read_lineage_missing_file(tmp_path):
    assert read_lineage(tmp_path) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"jobs": [{"rule": "a"}]}'])
def test_read_lineage_broken_file(tmp_path, text):
    (tmp_path / NAME).write_text(text)
    with pytest.raises(ReceiptError, match=r"lineage\.json is not a valid list of jobs"):
        read_lineage(tmp_path)
