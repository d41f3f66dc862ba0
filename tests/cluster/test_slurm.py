"""Runs through a real Slurm: the same bytes as a local run, whatever happens on the way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
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
TARGETS = [f"results/embedded/{name}.verdicts.json" for name in TABLES]
SIMULATED = "results/embedded/lajewska2025/table_4_8"
#: The committed profile, asked for more often than on a real cluster, where no accounting is.
ON_SLURM = (
    "snakemake",
    "--workflow-profile",
    "slurm",
    "--slurm-status-command",
    "squeue",
    "--slurm-init-seconds-before-status-checks",
    "8",
    "--seconds-between-status-checks",
    "8",
)
#: As many jobs as there are tables: each is made and judged in one.
A_JOB_A_TABLE = (
    "--groups",
    "verdicts=tables",
    "sakai2023_gfrc=tables",
    "--group-components",
    "tables=1",
)
#: Seconds after which a run is stuck.
LIMIT = 900


@pytest.fixture
def slurm() -> Iterator[Slurm]:
    """Return a running Slurm with two nodes."""
    # Not below pytest's folders: the path of a Unix socket may have 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="slurm"))
    slurm = Slurm(folder)
    try:
        slurm.start()
        yield slurm
    finally:
        slurm.stop()
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the hash of each file that a run on this machine makes."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = base / "local"
    with FileLock(folder.with_suffix(".lock")):
        project = Project(folder) if folder.exists() else copy_tree(folder)
        project.build(*TARGETS)
    return project.hashes()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return a copy without results."""
    return copy_tree(tmp_path / "project")


@pytest.fixture
def start(slurm: Slurm, project: Project) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return what starts snakemake as on the login node; what it prints goes into a file."""
    environment = project.environment
    environment |= slurm.environment(environment["PATH"])
    runs = []

    def start(*options: str) -> subprocess.Popen[str]:
        # A stuck snakemake does not always heed SIGTERM, hence -k.
        command = ("timeout", "-k", "5", str(LIMIT), *ON_SLURM, *options, "--", *TARGETS)
        with (project.folder / "printed.txt").open("a") as printed:
            runs.append(
                subprocess.Popen(
                    command,
                    cwd=project.folder,
                    env=environment,
                    stdout=printed,
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


def wait_for(condition: Callable[[], bool], run: subprocess.Popen[str], project: Project) -> None:
    """Wait for something that a run does; that it ended before is an error."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert run.poll() is None and time.monotonic() < end, printed(project)
        time.sleep(0.02)


def printed(project: Project) -> str:
    return (project.folder / "printed.txt").read_text()


def finish(run: subprocess.Popen[str], project: Project) -> None:
    assert run.wait(LIMIT + 10) == 0, printed(project)


def assert_same(project: Project, local: dict[str, str]) -> None:
    """Check every table, figure, receipt and verdict, byte for byte."""
    assert len(local) > 20
    assert project.hashes() == local
    verified = project.everycell("verify")
    assert verified.returncode == 0, verified.stdout


def one_receipt_is_missing_where_files_are(project: Project) -> bool:
    """Whether the simulation has begun to write and has not ended."""
    made = list(project.folder.glob(f"{SIMULATED}.*"))
    return bool(made) and not any(path.name.endswith(".receipt.json") for path in made)


def test_a_run_on_slurm_is_the_local_run(slurm, start, project, local):
    # A resource of one part is asked for by its group.
    finish(start("--set-resources", "sakai2023_gfrc:gpu=1"), project)
    assert_same(project, local)
    # Six jobs of Snakemake are two of Slurm, each on one processor.
    jobs = slurm.finished()
    asked = [slurm.run("scontrol", "show", "job", job["JobId"]).stdout for job in jobs]
    assert ["gpu:1" in told for told in asked] == [True, False]
    assert [(job["JobState"], job["ProcCnt"]) for job in jobs] == [("COMPLETED", "1")] * 2
    assert not slurm.jobs("all").keys() - {job["JobId"] for job in jobs}


def test_faults_on_the_way_change_nothing(slurm, start, project, local):
    """A node drained, the controller restarted, jobs cancelled, another one over its memory."""
    # The first attempt of the simulation asks for less than it takes.
    project.edit(
        "workflow/rules/lajewska2025_ch4.smk",
        "mem_mb=memory(1000)",
        "mem_mb=lambda wildcards, attempt: 300 * attempt",
    )
    run = start(*A_JOB_A_TABLE)
    wait_for(lambda: len(slurm.jobs("running")) == 3, run, project)
    slurm.run("scontrol", "update", "NodeName=one", "State=DRAIN", "Reason=test")
    slurm.stop_controller()
    slurm.start_controller()
    # In the middle of a group: its table is there, its verdicts are not.
    tables = project.folder / "results" / "embedded" / "sakai2023"
    wait_for(lambda: any(tables.glob("*.receipt.json")), run, project)
    groups = [job for job, comment in slurm.jobs("running").items() if "simulation" not in comment]
    slurm.run("scancel", *groups)
    finish(run, project)
    assert_same(project, local)
    first, again = (
        {job["JobState"] for job in slurm.finished() if job["NodeList"] == node}
        for node in slurm.nodes
    )
    # The job over its memory is FAILED or OUT_OF_MEMORY, by the version of Slurm.
    assert "CANCELLED" in first and first & {"FAILED", "OUT_OF_MEMORY"} and len(first) == 2
    assert again == {"COMPLETED"}


def test_snakemake_killed_and_started_again(slurm, start, project, local):
    run = start(*A_JOB_A_TABLE)
    wait_for(lambda: one_receipt_is_missing_where_files_are(project), run, project)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    # Its jobs go on without it: docs/clusters.md says to cancel them before the next run.
    slurm.run("scancel", *slurm.jobs("running,pending"))
    slurm.wait_for(lambda: not slurm.jobs("running,pending,completing"), "the end of all jobs")
    assert not (project.folder / f"{SIMULATED}.receipt.json").exists()
    assert project.snakemake("--unlock").returncode == 0
    finish(start(*A_JOB_A_TABLE), project)
    assert_same(project, local)
