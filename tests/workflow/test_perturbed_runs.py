"""`everycell verify --perturb`: values are made again from perturbed data, beside the results."""

import json
import pickle
from types import SimpleNamespace

import pandas as pd
import pytest

from everycell.cli.perturbing import _report_differences
from everycell.records.sensitivity import Sensitivity
from everycell.workflow.perturbed_runs import _sensitivity
from everycell.workflow.planned_jobs import PlannedJob
from everycell.workflow.scratch import JobError, Scratch, UnfinishedError, run_job

NAME = "embedded/sakai2023/table_2"
CELLS = "published/sensitivity.csv"


@pytest.fixture
def with_result(clean):
    """A project with one result and no recorded sensitivity."""
    (clean.folder / CELLS).unlink(missing_ok=True)
    clean.build(f"results/{NAME}.verdicts.json")
    return clean


@pytest.mark.slow
@pytest.mark.fault("receipt")
def test_verify_perturb_writes_and_compares_sensitivity(with_result):
    before = with_result.hashes(), with_result.hashes("published")
    done = with_result.everycell("verify", "--perturb", "sakai2023/table_2", "--update")
    assert done.returncode == 0, done.stdout
    assert f"{NAME}: " in done.stdout
    # The results are what they were, and no receipt of a perturbed run was left.
    path = with_result.folder / CELLS
    cells = pd.read_csv(path, dtype=str, keep_default_na=False)
    moving = cells[cells["moves_with"] != ""]
    assert len(cells) > 40 and 0 < len(moving) <= len(cells)
    assert set(moving["moves_with"]) <= {"annotations", "targets", "annotations; targets"}
    assert with_result.everycell("verify", "--perturb", "sakai2023/table_2").returncode == 0
    # What did not change since it was recorded is not measured again.
    content = path.read_text()
    again = with_result.everycell("verify", "--perturb", "sakai2023/table_2", "--update")
    assert again.returncode == 0 and "1 result left out" in again.stdout
    assert f"{NAME}: " not in again.stdout and path.read_text() == content
    row = moving.index[0]
    cells.loc[row, ["moves_with", "not_with"]] = "", cells.loc[row, "moves_with"]
    cells.to_csv(path, index=False)
    changed = with_result.everycell("verify", "--perturb", "sakai2023/table_2")
    assert changed.returncode == 1
    assert f"sakai2023/table_2 {cells.loc[row, 'key']}: expected " in changed.stdout
    # A row that was edited is measured again.
    repaired = with_result.everycell("verify", "--perturb", "sakai2023/table_2", "--update")
    assert repaired.returncode == 0 and f"{NAME}: " in repaired.stdout
    assert path.read_text() == content
    # Without time, nothing is compared.
    late = with_result.everycell("verify", "--perturb", "sakai2023/table_2", "--minutes", "0")
    assert late.returncode == 0 and f"{NAME} is left out; no time is left." in late.stdout
    path.unlink()
    assert (with_result.hashes(), with_result.hashes("published")) == before
    receipts = (with_result.folder / "results").rglob("*.receipt.json")
    assert not any("perturbed" in json.loads(receipt.read_text()) for receipt in receipts)


@pytest.mark.slow
def test_verify_perturb_without_results(clean):
    done = clean.everycell("verify", "--perturb", "lajewska2025/table_4_8")
    assert done.returncode == 2 and "everycell make" in done.stdout


def test_report_differences_ignores_what_depends_on_the_machine(capsys):
    def cells(value: Sensitivity) -> dict:
        return {("released", "lajewska2025/table_4_8", "a"): value}

    slow = Sensitivity(("ratings",), (), "features: takes over a minute")
    for other in (
        Sensitivity(("ratings",), ("features",)),
        Sensitivity(("features", "ratings")),
        Sensitivity(note="varies from run to run"),
    ):
        assert _report_differences(cells(slow), cells(other)) == 0
        assert _report_differences(cells(other), cells(slow)) == 0
    assert "released/lajewska2025/table_4_8: not compared, for lack of time: features" in (
        capsys.readouterr().err
    )
    for other in (Sensitivity((), ("ratings",)), Sensitivity(("features",), ("ratings",))):
        assert _report_differences(cells(slow), cells(other)) == 1
        assert _report_differences(cells(other), cells(slow)) == 1


def test_run_job_that_is_killed_or_late_refuses_nothing(tmp_path):
    def run(script: str, limit: float = 30.0) -> None:
        path = tmp_path / "job.py"
        path.write_text(script)
        (tmp_path / "scratch").mkdir(exist_ok=True)
        context = pickle.dumps(SimpleNamespace(log=["job.log"], config={}))
        job = PlannedJob("rule", str(path), {}, ("results/a.csv",), context)
        scratch = Scratch.__new__(Scratch)
        scratch.folder = tmp_path / "scratch"
        run_job(job, scratch, ("data.csv",), limit)

    run("open('results/a.csv', 'w').close()")
    with pytest.raises(JobError):
        run("raise SystemExit('the data are wrong')")
    with pytest.raises(UnfinishedError, match="signal 9"):
        run("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(UnfinishedError):
        run("import time; time.sleep(30)", 0.2)


def test_scratch_has_its_own_folder_of_recorded_answers(tmp_path):
    project, folder = tmp_path / "project", tmp_path / "scratch"
    (project / "records").mkdir(parents=True)
    (project / "records" / "a.jsonl").write_text("{}\n")
    (project / "records" / ".a.jsonl.lock").touch()
    folder.mkdir()
    Scratch(folder, project, project / "resources")
    assert [path.name for path in (folder / "records").iterdir()] == ["a.jsonl"]
    (folder / "records" / "new.jsonl").touch()
    assert not (project / "records" / "new.jsonl").exists()


def test_run_job_sends_no_request(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(
        "assert snakemake.config == {'seed': 1, 'language_models': {'records': 'a', 'ask': False}}"
    )
    config = {"seed": 1, "language_models": {"records": "a", "ask": True}}
    context = pickle.dumps(SimpleNamespace(log=["job.log"], config=config))
    scratch = Scratch.__new__(Scratch)
    scratch.folder = tmp_path
    run_job(PlannedJob("rule", str(script), {}, (), context), scratch, (), 30.0)


def test_sensitivity_of_a_refused_perturbation_is_unknown():
    moves = {"ratings": {"a"}, "workers": {"b"}}

    def sensitivity(cell: str, *refused: str) -> Sensitivity:
        return _sensitivity(cell, moves, dict.fromkeys(refused, "refused by the rule"), [], ())

    assert sensitivity("a") == Sensitivity(("ratings",), ("workers",))
    assert sensitivity("c").state == "insensitive"
    unknown = sensitivity("c", "ratings")
    assert unknown == Sensitivity((), ("workers",), "ratings: refused by the rule")
    assert unknown.state == "not perturbed"
    assert sensitivity("a", "ratings") == Sensitivity(("ratings",), ("workers",))
    assert _sensitivity("c", {}, {}, [], ()).note == "reads no data"
    assert _sensitivity("a", moves, {}, [], {"a"}).state == "not perturbed"
