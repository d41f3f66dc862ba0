"""`everycell verify --perturb`: values are recomputed from perturbed data."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import psutil
import pytest

from everycell.base.errors import DataError
from everycell.cli import perturbing
from everycell.cli.perturbing import _report_differences
from everycell.jobs.job import InputChangedError
from everycell.records.sensitivity import WHOLE, Sensitivity
from everycell.workflow import perturbation_plan, perturbed_runs
from everycell.workflow.cell_sensitivity import (
    ComparedCells,
    Outcome,
    ResultSensitivity,
    Trial,
    _sensitivity,
)
from everycell.workflow.perturbation import PERTURBATIONS
from everycell.workflow.perturbation_plan import Unit
from everycell.workflow.perturbed_runs import _add_outcome, _perturb_unit
from everycell.workflow.planned_jobs import PlannedJob
from everycell.workflow.scratch import (
    JobError,
    Scratch,
    UnfinishedError,
    is_refusal,
    remove_abandoned_folders,
    run_folder,
    run_job,
)

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
    # Unchanged results are not measured again.
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
    assert late.returncode == 1 and f"{NAME} is left out; no time is left." in late.stdout
    assert "Nothing was compared" in late.stdout
    path.unlink()
    assert (with_result.hashes(), with_result.hashes("published")) == before
    receipts = (with_result.folder / "results").rglob("*.receipt.json")
    assert not any("perturbed" in json.loads(receipt.read_text()) for receipt in receipts)


@pytest.mark.slow
def test_verify_perturb_without_results(clean):
    done = clean.everycell("verify", "--perturb", "lajewska2025/table_4_8")
    assert done.returncode == 2 and "everycell make" in done.stdout


def test_report_differences_of_machines(capsys):
    def cells(value: Sensitivity) -> dict:
        return {("released", "lajewska2025/table_4_8", "a"): value}

    slow = Sensitivity(("ratings",), not_perturbed=("features: takes over a minute",))
    for other in (Sensitivity(("ratings",), ("features",)), Sensitivity(("features", "ratings"))):
        assert _report_differences(cells(slow), cells(other)) == 0
        assert _report_differences(cells(other), cells(slow)) == 0
    assert "released/lajewska2025/table_4_8: not compared, for lack of time: features" in (
        capsys.readouterr().err
    )
    refused = Sensitivity(("ratings",), note="ratings: permuted refused (RatingsError)")
    assert _report_differences(cells(slow), cells(refused)) == 0
    for other in (
        Sensitivity((), ("ratings",)),
        Sensitivity(("features",), ("ratings",)),
        Sensitivity(refused=("ratings",), note="ratings: permuted refused (RatingsError)"),
    ):
        assert _report_differences(cells(slow), cells(other)) == 1
        assert _report_differences(cells(other), cells(slow)) == 1


def test_report_differences_nothing_to_compare(capsys):
    def cells(value: Sensitivity) -> dict:
        return {("released", "lajewska2025/table_4_8", "a"): value}

    slow = cells(Sensitivity(not_perturbed=("features: takes over a minute",)))
    varies = cells(Sensitivity(note="varies from run to run"))
    for values in ({}, slow, varies):
        assert _report_differences(values, values) == 1
        assert "Nothing was compared" in capsys.readouterr().err
    same = cells(Sensitivity((), ("ratings",)))
    assert _report_differences(same, same) == 0
    assert "1 value is as recorded" in capsys.readouterr().out


@pytest.fixture
def scratch(tmp_path):
    """A scratch folder of a project with recorded answers."""
    project, folder = tmp_path / "project", tmp_path / "scratch"
    for name in ("records", "answers"):
        (project / name).mkdir(parents=True)
        (project / name / f"{name}.jsonl").write_text("{}\n")
        (project / name / f".{name}.jsonl.lock").touch()
    folder.mkdir()
    return Scratch(folder, project, project / "resources")


def run(scratch: Scratch, script: str, limit: float = 30.0, *, config: dict | None = None) -> None:
    path = scratch.project / "job.py"
    path.write_text(script)
    context = pickle.dumps(SimpleNamespace(log=["job.log"], config=config or {}))
    job = PlannedJob("rule", str(path), {}, ("results/a.csv",), context)
    run_job(job, scratch, ("data.csv",), limit)


def test_run_job_killed_or_late(scratch):
    run(scratch, "open('results/a.csv', 'w').close()")
    with pytest.raises(UnfinishedError, match="signal 9"):
        run(scratch, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(UnfinishedError):
        run(scratch, "import time; time.sleep(30)", 0.2)


@pytest.mark.parametrize(
    ("script", "cause", "refuses"),
    [
        (
            "from everycell.base.errors import DataError\nraise DataError('x')",
            "DataError",
            True,
        ),
        (
            "from everycell.metrics.attribution import citation_quality\n"
            "citation_quality([], relevant=[])",
            "DataError",
            True,
        ),
        ("raise SystemExit('no data')", "SystemExit", False),
        ("{}['rating']", "KeyError", False),
        ("import numpy as np; np.linalg.inv(np.zeros((2, 2)))", "LinAlgError", False),
        ("int('x')", "ValueError", False),
        ("import os; os._exit(3)", "exit status 3", False),
        ("import absent_module", "ModuleNotFoundError", False),
    ],
)
def test_run_job_failed_or_refused(scratch, script, cause, refuses):
    with pytest.raises(JobError) as raised:
        run(scratch, script)
    assert (raised.value.cause, raised.value.is_refusal) == (cause, refuses)


@pytest.mark.parametrize(
    ("file", "line", "refuses"),
    [
        ("ch1.py", "raise ValueError('row 3')", True),
        ("ch1.py", "int('x')", False),
        ("ch1.py", "{}['x']", False),
        ("data.py", "int('x')", True),
        ("data.py", "{}['x']", False),
        ("data.py", "class RatingError(Exception): pass\n    raise RatingError", True),
    ],
)
def test_is_refusal_in_a_chapter(tmp_path, monkeypatch, file, line, refuses):
    path = tmp_path / "workflow" / "papers" / "toy" / file
    path.parent.mkdir(parents=True)
    path.write_text(f"def read():\n    {line}\n")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": f"papers.toy.{path.stem}"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with pytest.raises(Exception) as raised:
        names["read"]()
    assert is_refusal(raised.value) == refuses


def test_is_refusal():
    assert is_refusal(DataError("line 3"))
    assert not is_refusal(InputChangedError("code"))
    assert not is_refusal(KeyError("rating"))


@pytest.mark.parametrize("is_absolute", [False, True])
@pytest.mark.parametrize("name", ["records", "answers"])
def test_run_job_copies_the_configured_recorded_answers(scratch, name, is_absolute):
    configured = str(scratch.project / name) if is_absolute else name
    script = (
        "from pathlib import Path\n"
        "folder = Path(snakemake.config['language_models']['records'])\n"
        "assert snakemake.config['language_models']['ask'] is False\n"
        "assert snakemake.config['seed'] == 1\n"
        f"assert [path.name for path in folder.iterdir()] == ['{name}.jsonl']\n"
        f"(folder / '{name}.jsonl').write_text('changed')\n"
    )
    config = {"seed": 1, "language_models": {"records": configured, "ask": True}}
    run(scratch, script, config=config)
    assert (scratch.project / name / f"{name}.jsonl").read_text() == "{}\n"


def test_sensitivity_of_refused_and_failed_perturbations():
    trials = {
        "ratings": Trial({"a"}, refused={"permuted": "RatingsError", "ordered": "RatingsError"}),
        "workers": Trial({"b"}, failed={"halved": "KeyError"}),
    }
    notes = (
        "ratings: permuted, ordered refused (RatingsError)",
        "workers: halved failed (KeyError)",
    )
    assert _sensitivity("a", trials, [], ()) == Sensitivity(
        ("ratings",), ("workers",), note=notes[1]
    )
    # One refused perturbation does not hide what the others show.
    value = _sensitivity("c", trials, [], ())
    assert value == Sensitivity((), ("ratings", "workers"), note="; ".join(notes))
    assert value.state == "insensitive"
    trials["workers"].moved = None
    assert _sensitivity("c", trials, [], ()).state == "failed"
    trials["workers"] = Trial(refused={"halved": "RatingsError"})
    value = _sensitivity("c", trials, [], ())
    assert (value.not_with, value.refused, value.state) == (("ratings",), ("workers",), "refused")
    trials["workers"] = Trial(skipped="takes over a minute")
    value = _sensitivity("c", trials, ["model: no perturbation of .gguf files"], ())
    assert value.state == "not perturbed"
    assert value.not_perturbed == (
        "model: no perturbation of .gguf files",
        "workers: takes over a minute",
    )
    assert _sensitivity("c", {}, [], ()).note == "reads no data"
    unchanged = _sensitivity("c", {"workers": Trial(skipped=perturbed_runs.UNCHANGED)}, [], ())
    assert (unchanged.state, unchanged.note) == ("not perturbed", "")
    assert unchanged.not_perturbed == ("workers: no perturbation changes the file",)
    assert _sensitivity("a", trials, [], {"a"}).state == "not perturbed"


class FakeTarget(SimpleNamespace):
    """A result without published cells."""


def target_of(name: str) -> FakeTarget:
    record = SimpleNamespace(tiers={"embedded": SimpleNamespace(state="surrogate")})
    artefact = SimpleNamespace(record=record, cells=pd.DataFrame(), id=name)
    return FakeTarget(
        artefact=artefact,
        tier="embedded",
        stem=f"results/embedded/{name}",
        name=f"embedded/{name}",
    )


def test_perturb_unit_cells_that_do_not_move(monkeypatch, tmp_path):
    """Only the last perturbation moves the value; before, some are refused and one crashes."""
    table = pd.DataFrame({"system": ["a", "b"], "value": ["1", "2"]})
    target, tried = target_of("toy/table_1"), []

    class Job(SimpleNamespace):
        outputs = ("results/embedded/toy/table_1.csv",)

    def fake_run_jobs(scratch, jobs, changed, plan, done, errors):
        tried.append(changed)
        number = len(tried)
        if number in (1, 3):
            return JobError("line 3", "RatingsError", is_refusal=True)
        if number == 2:
            return JobError("boom", "KeyError", is_refusal=False)
        value = "9" if number == len(PERTURBATIONS) else "1"
        folder = scratch.folder / "results" / "embedded" / "toy"
        folder.mkdir(parents=True)
        (folder / "table_1.csv").write_text(f"system,value\na,{value}\nb,2\n")
        return None

    monkeypatch.setattr(perturbed_runs, "perturb", lambda *_: True)
    monkeypatch.setattr(perturbed_runs, "_run_jobs", fake_run_jobs)
    monkeypatch.setattr(perturbed_runs, "_work", {"folder": tmp_path, "end": time.monotonic() + 60})
    (tmp_path / "project").mkdir()
    plan = SimpleNamespace(
        project=tmp_path / "project", cache=tmp_path, downstream=lambda *_: [Job()]
    )
    unit = Unit(frozenset({"published/toy/a.csv"}), (target,), ("ratings",))
    outcome = _perturb_unit(plan, unit, {target.name: ComparedCells(target, table)})
    trial = outcome.trials[target.name]
    assert len(tried) == len(PERTURBATIONS)
    assert trial.moved == {WHOLE} and not trial.skipped
    names = list(PERTURBATIONS)
    assert trial.refused == {names[0]: "RatingsError", names[2]: "RatingsError"}
    assert trial.failed == {names[1]: "KeyError"}
    assert "refused (RatingsError): line 3" in outcome.failures[0]
    assert "failed (KeyError): boom" in outcome.failures[1]


def test_cells_moved_cell_that_vanishes():
    table = pd.DataFrame({"system": ["a", "b"], "value": ["1", "2"]})
    cells = ComparedCells(target_of("toy/table_1"), table)
    assert cells.changed_cells(table) == set()
    for other in (table.iloc[:1], table.drop(columns="system"), table.iloc[:0]):
        assert cells.changed_cells(other) == {WHOLE}
    cells.names = {("a",): "a", ("b",): "b"}
    assert cells.changed_cells(table.iloc[:1]) == {"b"}
    assert cells.changed_cells(table.drop(columns="value")) == {"a", "b"}


def test_add_outcome_of_an_error():
    def result_of(task: Future) -> ResultSensitivity:
        measurement = ResultSensitivity(target, SimpleNamespace(), [])
        _add_outcome(measurement, task, Unit(frozenset(), (target,), ("ratings",)))
        return measurement

    target = target_of("toy/table_1")
    late, faulty, crashed = Future(), Future(), Future()
    late.set_result(Outcome(unfinished={target.name: "no time is left"}))
    faulty.set_result(Outcome(unfinished={target.name: "wrong kind"}, is_faulty=True))
    crashed.set_exception(KeyError("worker"))
    results = [result_of(task) for task in (late, faulty, crashed)]
    assert [result.is_faulty for result in results] == [False, True, True]
    assert all(result.unfinished for result in results)


def test_verify_perturb_error_of_a_perturbation(monkeypatch, capsys, tmp_path):
    """A file that cannot be perturbed ends the command with an error, also with --update."""

    def measure(plan, cores, **_):
        target = plan.targets[0]
        yield ResultSensitivity(
            target, SimpleNamespace(), [], unfinished="a.csv: wrong", is_faulty=True
        )

    class FakePlan(SimpleNamespace):
        def __init__(self, project, cache, targets, limit):
            super().__init__(targets=list(targets))

    monkeypatch.setattr(perturbed_runs, "measure_sensitivity", measure)
    monkeypatch.setattr(perturbation_plan, "Plan", FakePlan)
    monkeypatch.setattr(perturbing, "HASHES", tmp_path / "hashes.json")
    monkeypatch.setattr(perturbing.Path, "is_file", lambda path: path.suffix == ".csv")
    for update in (False, True):
        assert perturbing.perturb_and_compare("embedded/sakai2023/table_2", 1, update=update) == 1
        assert "embedded/sakai2023/table_2" in capsys.readouterr().err


@pytest.fixture
def temporary(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_run_folder_abandoned_folders(temporary):
    script = (
        "import os, signal, sys, tempfile\n"
        "from everycell.workflow.scratch import run_folder\n"
        "with run_folder() as folder:\n"
        "    (folder / 'a.csv').touch()\n"
        "    print(folder, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    ) as process:
        other = Path(process.stdout.readline().strip())
        assert other.parent == temporary
        # The folder of a running process stays, and so does a file of somebody else.
        (temporary / "everycell-perturbed-note").touch()
        with run_folder() as folder:
            assert folder.is_dir() and (other / "a.csv").exists()
        assert not folder.exists()
        process.kill()
    remove_abandoned_folders()
    assert [path.name for path in temporary.iterdir()] == ["everycell-perturbed-note"]
    outside = temporary / "outside"
    outside.mkdir()
    (outside / "lock").touch()
    (temporary / "everycell-perturbed-link").symlink_to(outside)
    remove_abandoned_folders()
    assert (outside / "lock").exists()


def _processes_of_session(session: int) -> list[int]:
    processes = []
    for process in psutil.pids():
        with suppress(ProcessLookupError):
            processes += [process] * (os.getsid(process) == session)
    return processes


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_verify_perturb_stopped(with_result, temporary, number):
    command = ("everycell", "verify", "--perturb", "sakai2023/table_2", "--update")
    with with_result.start("env", f"TMPDIR={temporary}", *command) as process:
        while process.poll() is None and not list(temporary.glob("everycell-perturbed-*/tmp*")):
            time.sleep(0.01)
        process.send_signal(number)
        assert process.wait(30) != 0
    end = time.monotonic() + 20
    while time.monotonic() < end and _processes_of_session(process.pid):
        time.sleep(0.1)
    if number == signal.SIGKILL:
        remove_abandoned_folders()
    assert not list(temporary.glob("everycell-perturbed-*"))
