"""Runs through a real Slurm: the same bytes as a local run, whatever happens on the way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from cluster.slurm import PATIENCE, Slurm, missing
from filelock import FileLock
from workflow.project import Project, copy_tree

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    # A skip is a failure in CI (tests/conftest.py).
    pytest.mark.skipif(bool(missing()), reason=f"needs Slurm, which lacks {', '.join(missing())}"),
]

TABLES = ("sakai2023/table_1", "sakai2023/table_2", "lajewska2025/table_4_8")
#: Of these a fault makes the one that shows it: what it compares is what it made.
SCORED, SIMULATED = "sakai2023/table_2", "lajewska2025/table_4_8"
#: The committed profile, asked for more often than on a real cluster, where no accounting is.
ON_SLURM = (
    "snakemake",
    "--workflow-profile",
    "slurm",
    "--slurm-status-command",
    "squeue",
    "--slurm-init-seconds-before-status-checks",
    "3",
    "--seconds-between-status-checks",
    "3",
)
#: A table and its verdicts in one job of Slurm.
IN_ONE_JOB = (
    "--groups",
    "lajewska2025_ch4_simulation=tables",
    "sakai2023_gfrc=tables",
    "verdicts=tables",
)
#: Seconds after which a run is stuck.
LIMIT = 900


@pytest.fixture(scope="module")
def started() -> Iterator[Slurm]:
    """Return a running Slurm with two nodes."""
    # Not below pytest's folders: the path of a Unix socket may have 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="slurm", dir="/tmp"))
    slurm = Slurm(folder)
    try:
        slurm.start()
        yield slurm
    finally:
        slurm.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def slurm(started: Slurm) -> Slurm:
    """Return the same Slurm without jobs, whatever the test before did to it."""
    started.reset()
    return started


def verdicts_of(table: str) -> str:
    return f"results/embedded/{table}.verdicts.json"


def small_copy(folder: Path) -> Project:
    """Copy the project, with a smaller simulation."""
    project = copy_tree(folder)
    project.edit("config.yaml", "[0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4]", "[0.0, 0.4]")
    return project


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the hash of each file that a run on this machine makes."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = base / "local"
    with FileLock(folder.with_suffix(".lock")):
        project = Project(folder) if folder.exists() else small_copy(folder)
        project.build(*map(verdicts_of, TABLES))
    return project.hashes()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return a copy without results."""
    return small_copy(tmp_path / "project")


@pytest.fixture
def start(slurm: Slurm, project: Project) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return what starts snakemake as on the login node; what it prints goes into a file."""
    environment = project.environment
    environment |= slurm.environment(environment["PATH"])
    runs = []

    def start(*tables: str, options: Sequence[str] = ()) -> subprocess.Popen[str]:
        # A stuck snakemake does not always heed SIGTERM, hence -k.
        command = ["timeout", "-k", "5", str(LIMIT), *ON_SLURM, *options, "--"]
        command += map(verdicts_of, tables)
        with (project.folder / "printed.txt").open("a") as output:
            runs.append(
                subprocess.Popen(
                    command,
                    cwd=project.folder,
                    env=environment,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )
        return runs[-1]

    yield start
    for run in runs:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()


def wait_for(
    condition: Callable[[], bool],
    run: subprocess.Popen[str],
    project: Project,
    every: float = 0.02,
) -> None:
    """Wait for something that a run does; that it ended before is an error."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert run.poll() is None and time.monotonic() < end, output(project)
        time.sleep(every)


def wait_for_a_running_job(slurm: Slurm, run: subprocess.Popen[str], project: Project) -> None:
    # Each look is a process of its own.
    wait_for(lambda: bool(slurm.jobs("running")), run, project, every=0.3)


def output(project: Project) -> str:
    return (project.folder / "printed.txt").read_text()


def finish(run: subprocess.Popen[str], project: Project) -> None:
    assert run.wait(LIMIT + 10) == 0, output(project)


@pytest.fixture
def report_fault(
    slurm: Slurm, record_property: Callable[[str, object], None]
) -> Callable[..., list]:
    """Return what notes for the log of the tests what a fault came to, with the ends of all jobs.

    What it returns is state and node of each job of Slurm, in the order of their ends.
    """

    def report_fault(fault: str, compared: int) -> list[tuple[str, str]]:
        jobs = slurm.finished()
        ends = ", ".join(f"{job['JobState']} on {job['NodeList']}" for job in jobs)
        record_property("log", f"{fault}: jobs {ends}; {compared} files, the same bytes")
        return [(job["JobState"], job["NodeList"]) for job in jobs]

    return report_fault


def assert_same(project: Project, local: dict[str, str], *tables: str) -> int:
    """Check all files of some tables, receipt and verdicts too, byte for byte; return their number.

    There are no other files.
    """
    starts = tuple(f"embedded/{table}." for table in tables)
    expected = {name: digest for name, digest in local.items() if name.startswith(starts)}
    assert len(expected) >= 6 * len(tables)
    result = project.hashes()
    assert result.pop("README.md") == local["README.md"]
    assert result == expected
    return len(expected)


def test_slurm_same_bytes_as_local_run(slurm, start, project, local, report_fault):
    # A resource of one part is asked for by its group.
    finish(start(*TABLES, options=["--set-resources", "sakai2023_gfrc:gpu=1"]), project)
    ends = report_fault("none", assert_same(project, local, *TABLES))
    verified = project.everycell("verify")
    assert verified.returncode == 0, verified.stdout
    # Six jobs of Snakemake are two of Slurm, each on one processor.
    assert [state for state, _ in ends] == ["COMPLETED"] * 2
    jobs = slurm.finished()
    requests = [slurm.run("scontrol", "show", "job", job["JobId"]).stdout for job in jobs]
    assert ["gpu:1" in text for text in requests] == [True, False]
    assert [job["ProcCnt"] for job in jobs] == ["1"] * 2


@pytest.mark.fault("cluster")
def test_slurm_scancel(slurm, start, project, local, report_fault):
    """Cancelled between the table and the verdicts of a group."""
    run = start(SCORED, options=IN_ONE_JOB)
    results = project.folder / "results" / "embedded"
    wait_for(lambda: any(results.rglob("*.receipt.json")), run, project)
    slurm.run("scancel", *slurm.jobs("running"))
    assert not list(results.rglob("*.verdicts.json"))
    finish(run, project)
    ends = report_fault("scancel of a running job", assert_same(project, local, SCORED))
    assert [state for state, _ in ends] == ["CANCELLED", "COMPLETED"]


@pytest.mark.fault("cluster")
def test_slurm_restarted_controller_and_drained_node(
    slurm, start, project, local, report_fault, record_property
):
    run = start(SCORED)
    wait_for_a_running_job(slurm, run, project)
    [running] = slurm.jobs("running")
    slurm.stop_controller()
    slurm.start_controller()
    assert [*slurm.jobs("running")] == [running]
    first, other = slurm.nodes
    slurm.run("scontrol", "update", f"NodeName={first}", "State=DRAIN", "Reason=test")
    finish(run, project)
    ends = report_fault(
        "the controller is restarted, a node drained", assert_same(project, local, SCORED)
    )
    record_property("times", 2)
    # The job continues; the other node takes the next one.
    assert ends == [("COMPLETED", first), ("COMPLETED", other)]
    assert slurm.finished()[0]["JobId"] == running


@pytest.mark.fault("cluster")
def test_slurm_job_over_memory(slurm, start, project, local, report_fault):
    # The first attempt asks for less than it takes.
    rules = ("lajewska2025_ch4_simulation", "verdicts")
    little = [f"{rule}:mem_mb=300*attempt" for rule in rules]
    finish(start(SIMULATED, options=[*IN_ONE_JOB, "--set-resources", *little]), project)
    ends = report_fault("a job takes more than its memory", assert_same(project, local, SIMULATED))
    (failed, _), (completed, _) = ends
    # By the version of Slurm.
    assert failed in ("FAILED", "OUT_OF_MEMORY") and completed == "COMPLETED"


def one_receipt_is_missing_where_files_are(project: Project) -> bool:
    """Whether the simulation has begun to write and has not ended."""
    result = list(project.folder.glob(f"results/embedded/{SIMULATED}.*"))
    return bool(result) and not any(path.name.endswith(".receipt.json") for path in result)


@pytest.mark.fault("killed_run")
def test_slurm_killed_snakemake(slurm, start, project, local, report_fault):
    run = start(SIMULATED, options=IN_ONE_JOB)
    wait_for(lambda: one_receipt_is_missing_where_files_are(project), run, project)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    # Its jobs go on without it: docs/clusters.md says to cancel them before the next run.
    slurm.cancel_all()
    assert not (project.folder / f"results/embedded/{SIMULATED}.receipt.json").exists()
    assert project.snakemake("--unlock").returncode == 0
    finish(start(SIMULATED, options=IN_ONE_JOB), project)
    ends = report_fault("SIGKILL of Snakemake and scancel", assert_same(project, local, SIMULATED))
    assert [state for state, _ in ends] == ["CANCELLED", "COMPLETED"]
